#include "inference/translate_text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <thread>

#include "base/error.h"
#include "base/utf8.h"
#include "tests/base/pipe.h"
#include "tests/inference/copying_model.h"

namespace dragoman {
namespace {

using std::string_literals::operator""s;
using testing::ElementsAre;

/// A service for a test, and the request of its lines.
struct Copier {
  explicit Copier(TranslationRequest asked = {.config = {.beam_size = 2}},
                  std::int64_t positions = 1'000'000, ServiceConfig config = {})
      : engine(positions),
        service({&engine}, tokenizer_pair(), config),
        request(std::move(asked)) {}

  std::vector<Translation> translate(const std::vector<std::string>& lines,
                                     std::stop_token stop = {}) {
    return translate_lines(service, lines, request, std::move(stop));
  }
  TranslationFacts translate(LineReader& input, TranslationSink& output, std::stop_token stop = {},
                             ReadLine read_line = {}) {
    return translate_stream(
        service, input, output,
        {.request = service.prepare(request), .read_line = std::move(read_line)}, std::move(stop));
  }

  CopyingEngine engine;
  TranslationService service;
  TranslationRequest request;
};

class Collected : public TranslationSink {
 public:
  void write(const Translation& translation) override {
    EXPECT_EQ(translation.line, static_cast<std::int64_t>(lines.size()));
    lines.push_back(translation.n_best.at(0).text);
  }
  void flush() override { ++flushes; }

  std::vector<std::string> lines;
  int flushes = 0;
};

/// Translates the text through a pipe, as a file would come.
std::pair<std::vector<std::string>, TranslationFacts> stream(Copier& copier,
                                                             const std::string& text,
                                                             ReadLine read_line = {}) {
  Pipe pipe;
  std::jthread sending([&] {
    LineWriter writer(pipe.in(), "test");
    if (!text.empty()) writer.write_line(text.substr(0, text.size() - 1));
    writer.flush();
    pipe.close_end(1);
  });
  LineReader reader(pipe.out(), "input");
  Collected collected;
  const TranslationFacts facts = copier.translate(reader, collected, {}, std::move(read_line));
  EXPECT_GT(collected.flushes, 0);
  return {collected.lines, facts};
}

/// Gives each line its prefix.
ReadLine with_prefixes(std::vector<std::string> prefixes) {
  return [prefixes = std::move(prefixes)](std::string line, std::int64_t number) {
    return LineInput{.text = std::move(line),
                     .prefix = prefixes.at(static_cast<std::size_t>(number))};
  };
}

TEST(TranslateText, LineIOutIsLineIIn) {
  Copier copier;
  const std::vector<std::string> lines = {"one two", "", "three Four five.", " \t\u3000", "six"};
  EXPECT_EQ(best_texts(copier.translate(lines)),
            (std::vector<std::string>{"one two", "", "three Four five.", "", "six"}));
  EXPECT_EQ(copier.engine.admitted, 3) << "the model is not asked about blank lines";
}

TEST(TranslateText, NoMoreLinesAreReadThanMayWait) {
  Copier copier({.config = {.beam_size = 1}}, 1'000'000, {.limits = {.rows = 64, .waiting = 4}});
  std::string text;
  for (int i = 0; i < 500; ++i) text += "one two\n";
  EXPECT_EQ(stream(copier, text).first.size(), 500u);
}

TEST(TranslateText, AnyBytesComeThroughAsOneLineEach) {
  Copier copier;
  const auto [lines, facts] =
      stream(copier, "one\r\n\n\xff two \xe2\x82\n\xEF\xBB\xBF\nüñ 語😀\n"s + "a\0b\n"s);
  ASSERT_EQ(lines.size(), 6u);
  EXPECT_EQ(lines[0], "one");
  EXPECT_EQ(lines[1], "");
  EXPECT_THAT(lines[2], testing::HasSubstr("two"));
  EXPECT_EQ(lines[4], "üñ 語😀");
  EXPECT_EQ(facts.lines, 6);
  EXPECT_EQ(facts.repaired, 1);
  EXPECT_EQ(facts.cut, 0);
}

TEST(TranslateText, TheSummaryCountsWhatWasWritten) {
  class StoppingAtTheThird : public Collected {
   public:
    void write(const Translation& translation) override {
      Collected::write(translation);
      if (lines.size() == 3) stop.request_stop();
    }
    std::stop_source stop;
  } sink;
  Pipe pipe;
  for (int i = 0; i < 300; ++i) pipe.send("one two\n\n");
  pipe.close_end(1);
  LineReader reader(pipe.out(), "input");
  Copier copier;
  const TranslationFacts facts = copier.translate(reader, sink, sink.stop.get_token());
  EXPECT_LT(sink.lines.size(), 600u);
  EXPECT_EQ(facts.lines, static_cast<std::int64_t>(sink.lines.size()));
  EXPECT_EQ(facts.empty, facts.lines / 2);
}

TEST(TranslateText, APrefixThatEndsInASpaceHasAWholeLastWord) {
  const std::string text = "Fourfive.";
  const auto pieces = tokenizer().pieces(text);
  ASSERT_FALSE(pieces.at(1).starts_with("\u2581")) << "the model would lengthen the word";
  for (const DecodeConfig& search : {DecodeConfig{.beam_size = 1}, DecodeConfig{.beam_size = 3},
                                     DecodeConfig{.sampling = true}}) {
    DecodeConfig config = search;
    config.max_length = 12;
    Copier copier({.config = config});
    const auto begun = [&](const std::string& prefix) {
      return stream(copier, text + "\n", with_prefixes({prefix})).first.at(0);
    };
    const std::vector<TokenId> tokens = tokenizer().encode(text);
    const std::string first = tokenizer().decode(std::span(tokens).first(1));
    EXPECT_EQ(begun(first), text);
    const std::string apart = begun(first + " ");
    EXPECT_TRUE(apart.starts_with(first));
    EXPECT_TRUE(apart.size() == first.size() || std::isalnum(apart[first.size()]) == 0) << apart;
  }
}

TEST(TranslateText, APrefixStandsAsItWasGiven) {
  const std::string prefix = "Four  \u4f60 \uff13 m\u00b2";
  ASSERT_NE(tokenizer().decode(tokenizer().encode(prefix)), prefix) << "the tokenizer changes it";
  Copier copier({.config = {.max_length = 30}});
  EXPECT_THAT(stream(copier, "one two. one\n", with_prefixes({"One. " + prefix})).first,
              testing::ElementsAre(testing::StartsWith("One. " + prefix)));
}

TEST(TranslateText, ThePrefixIsTheTranslationOfABlankLine) {
  Copier copier;
  const auto [lines, facts] = stream(copier, "\n \t\n", with_prefixes({" Ein ", ""}));
  EXPECT_THAT(lines, testing::ElementsAre("Ein", ""));
  EXPECT_EQ(facts.empty, 2);
}

TEST(TranslateText, RandomBytesKeepTheContract) {
  RandomStream random(4);
  for (int trial = 0; trial < 20; ++trial) {
    std::string text;
    std::int64_t line_feeds = 0;
    const std::uint64_t size = random.below(300);
    for (std::uint64_t i = 0; i < size; ++i)
      text += random.chance(0.1)   ? '\n'
              : random.chance(0.5) ? "one two. "[random.below(9)]
                                   : static_cast<char>(random.below(256));
    text += '\n';
    for (const char c : text) line_feeds += c == '\n';
    Copier copier({.config = {.beam_size = 1, .split_length = 8}});
    const auto [lines, facts] = stream(copier, text);
    EXPECT_EQ(static_cast<std::int64_t>(lines.size()), line_feeds);
    EXPECT_EQ(facts.lines, line_feeds);
    for (const std::string& line : lines) {
      EXPECT_EQ(line.find_first_of("\n\r\0"s), std::string::npos);
      EXPECT_EQ(find_invalid_utf8(line), std::string::npos);
    }
  }
}

TEST(TranslateText, AVeryLongLineIsTranslatedWhole) {
  std::string line;
  for (int i = 0; i < 10'000; ++i) line += i % 7 == 6 ? "five. " : i % 3 == 2 ? "six, " : "Four ";
  line.pop_back();
  Copier copier({.config = {.beam_size = 1, .split_length = 40}});
  const auto [lines, facts] = stream(copier, "one\n" + line + "\ntwo\n");
  EXPECT_THAT(lines, ElementsAre("one", line, "two"));
  EXPECT_EQ(facts.split, 1);
  EXPECT_EQ(facts.cut, 0);
  EXPECT_EQ(facts.target_tokens, facts.source_tokens);
}

TEST(TranslateText, LinesBeyondTheModelsPositionsAreSplit) {
  Copier copier({.config = {.beam_size = 1, .split_length = 1000}}, 9);
  const std::vector<std::string> line = {"one two three Four one two three Four one two three"};
  EXPECT_EQ(best_texts(copier.translate(line)), line);
}

TEST(TranslateText, SentencesAreTranslatedOneByOneIfTheModelWasTrainedOnSingleOnes) {
  const std::vector<std::string> lines = {"One two five.  Three Four five. Six", "one two"};
  const auto admitted = [&](SplitSentences choice, std::optional<double> several_sentences) {
    Copier copier({.config = {.beam_size = 1, .split_sentences = choice}}, 1'000'000,
                  {.record = {.several_sentences = several_sentences}});
    const auto texts = best_texts(copier.translate(lines));
    const bool split = copier.engine.admitted > 2;
    EXPECT_EQ(texts[0], split ? lines[0] : "One two five. Three Four five. Six");
    EXPECT_EQ(texts[1], lines[1]);
    return copier.engine.admitted;
  };
  EXPECT_EQ(admitted(SplitSentences::Auto, 0.01), 4);
  EXPECT_EQ(admitted(SplitSentences::Auto, 0.5), 2);
  EXPECT_EQ(admitted(SplitSentences::Auto, std::nullopt), 4) << "of a model that does not say";
  EXPECT_EQ(admitted(SplitSentences::Always, 0.5), 4);
  EXPECT_EQ(admitted(SplitSentences::Never, 0.01), 2);
}

TEST(TranslateText, ATagInFrontOfALineStandsInFrontOfEachOfItsSentences) {
  TokenizerConfig config;
  config.vocab_size = 300;
  config.user_symbols = {"<bt>", "@@"};
  const std::vector<std::string> text(100, "One two five. Three Four five.");
  const TokenizerPair pair = both_sides(train_on(text, config));
  const Tokenizer& with_tag = *pair.source;
  TableEngine engine(with_tag.size(), [&](const auto& source, const auto& prefix) {
    std::vector<float> scores(static_cast<std::size_t>(with_tag.size()), -20);
    if (prefix.size() < source.size()) scores[static_cast<std::size_t>(source[prefix.size()])] = 0;
    return scores;
  });
  TranslationService service({&engine}, pair);
  const std::vector<std::string> lines = {"<bt> One two five. Three Four five.", "<bt>Two. Four.",
                                          "@@ One two five. Three Four five."};
  const auto translations = translate_lines(
      service, lines,
      {.config = {.beam_size = 1}, .reports_words = true, .reports_attention = true});
  EXPECT_EQ(translations[0].n_best[0].text, "<bt> One two five. <bt> Three Four five.");
  EXPECT_EQ(translations[0].n_best[0].words.at(5).attention.size(), 7u);
  EXPECT_EQ(translations[1].n_best[0].text, lines[1]) << "not a tag, but a part of a word";
  EXPECT_EQ(translations[2].n_best[0].text, lines[2]) << "not a tag, but a symbol";
}

TEST(TranslateText, WordsOfALineOfSentencesAreAlignedToTheWholeLine) {
  Copier copier({.config = {.beam_size = 1}, .reports_words = true, .reports_attention = true});
  const std::vector<std::string> lines = {"One two five. Three Four five."};
  const Translation translation = copier.translate(lines)[0];
  const auto& words = translation.n_best[0].words;
  ASSERT_EQ(words.size(), 6u);
  double sum = 0;
  for (std::size_t w = 0; w < words.size(); ++w) {
    sum += words[w].sum;
    ASSERT_EQ(words[w].attention.size(), 6u);
    EXPECT_EQ(std::ranges::max_element(words[w].attention) - words[w].attention.begin(),
              static_cast<std::ptrdiff_t>(w));
    for (std::size_t source = 0; source < 6; ++source)
      EXPECT_EQ(words[w].attention[source] > 0, (source < 3) == (w < 3)) << w << " " << source;
  }
  EXPECT_GE(sum, translation.n_best[0].sum) << "</s> of each sentence is in the line's sum, too";
}

TEST(TranslateText, APrefixOfSeveralSentencesIsWhatTheirTranslationsBeginWith) {
  Copier copier({.config = {.beam_size = 1}});
  const std::vector<std::string> lines =
      stream(copier, "One two five. Three Four five. Six\nOne two\n",
             with_prefixes({"Six two. Four", "Two six. One."}))
          .first;
  ASSERT_EQ(lines.size(), 2u);
  EXPECT_THAT(lines[0], testing::StartsWith("Six two. Four"));
  EXPECT_THAT(lines[0], testing::EndsWith(" Six"));
  EXPECT_THAT(lines[1], testing::StartsWith("Two six. One."));
}

TEST(TranslateText, AnswersComeWhileTheInputStaysOpen) {
  Copier copier;
  Pipe input, output;
  class Writing : public TranslationSink {
   public:
    explicit Writing(int descriptor) : writer_(descriptor, "out") {}
    void write(const Translation& t) override { writer_.write_line(t.n_best[0].text); }
    void flush() override { writer_.flush(); }

   private:
    LineWriter writer_;
  } sink(output.in());
  std::jthread translating([&](const std::stop_token& stop) {
    LineReader reader(input.out(), "in");
    copier.translate(reader, sink, stop);
    output.close_end(1);
  });
  LineReader answers(output.out(), "out");
  for (const std::string line : {"one", "two three", "", "six"}) {
    input.send(line + "\nunfinished");
    ASSERT_TRUE(answers.receive(std::chrono::seconds(5)));
    EXPECT_EQ(answers.next_line(), line);
    input.send("\n");
    ASSERT_TRUE(answers.receive(std::chrono::seconds(5)));
    EXPECT_EQ(answers.next_line(), "unfinished");
  }
  translating.request_stop();  // with the input still open
  translating.join();
  answers.receive(std::chrono::seconds(5));
  EXPECT_TRUE(answers.at_end());
}

TEST(TranslateText, StreamAndListGiveTheSame) {
  RandomStream random(8);
  std::vector<std::string> lines;
  std::string text;
  for (int i = 0; i < 300; ++i) {
    lines.emplace_back();
    for (std::uint64_t w = random.below(4); w > 0; --w) lines.back() += "one two five. ";
    text += lines.back() + "\n";
  }
  Copier copier({.config = {.beam_size = 2, .split_length = 10}});
  EXPECT_EQ(stream(copier, text).first, best_texts(copier.translate(lines)));
}

TEST(TranslateText, TheNBestOfASplitLineAreJoinedRankByRank) {
  TableEngine engine(tokenizer().size(), random_distribution(tokenizer().size(), 3, 3, 4));
  const DecodeConfig config{.beam_size = 3, .n_best = 3, .max_length = 8, .split_length = 8};
  TranslationService service({&engine}, tokenizer_pair());
  const std::vector<std::string> lines = {"one two three Four five. One two three Four five.", ""};
  const std::vector<Translation> found = translate_lines(service, lines, {.config = config});
  ASSERT_EQ(found[0].n_best.size(), 3u);
  EXPECT_GE(found[0].n_best[0].score, found[0].n_best[1].score);
  EXPECT_GE(found[0].n_best[1].score, found[0].n_best[2].score);
  EXPECT_EQ(found[1].n_best, std::vector<TranslatedText>{{}});
}

TEST(TranslateText, AStopRequestLeavesTheFinishedLinesOnly) {
  Copier copier;
  std::stop_source stop;
  stop.request_stop();
  EXPECT_TRUE(copier.translate(std::vector<std::string>{"one"}, stop.get_token()).empty());
}

}  // namespace
}  // namespace dragoman
