#include "inference/translator.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <thread>

#include "base/error.h"
#include "base/utf8.h"
#include "tests/inference/pipe.h"
#include "tests/inference/table_engine.h"
#include "tokenizer/train_tokenizer.h"

namespace dragoman {
namespace {

using std::string_literals::operator""s;
using testing::ElementsAre;

const Tokenizer& tokenizer() {
  static const Tokenizer trained = [] {
    std::vector<std::string> lines;
    RandomStream random(1);
    const std::vector<std::string> words = {"one", "two", "three", "Four", "five.", "six,"};
    for (int i = 0; i < 200; ++i) {
      lines.emplace_back();
      for (int w = 0; w < 6; ++w) lines.back() += random.choice(words) + " ";
    }
    TokenizerConfig config;
    config.vocab_size = 300;
    config.type = TokenizerType::Bpe;
    return Tokenizer(train_tokenizer({lines.begin(), lines.end()}, config).model_bytes, "test");
  }();
  return trained;
}

/// A model that translates each sentence into itself.
Distribution copying() {
  return [](const std::vector<TokenId>& source, const std::vector<TokenId>& prefix) {
    std::vector<float> scores(static_cast<std::size_t>(tokenizer().size()), -20);
    if (prefix.size() < source.size()) scores[static_cast<std::size_t>(source[prefix.size()])] = 0;
    return scores;
  };
}

struct CopyingTranslator {
  explicit CopyingTranslator(DecodeConfig config = {.beam_size = 2})
      : engine(tokenizer().size(), copying()),
        translator(engine, tokenizer(), tokenizer(), config) {}
  TableEngine engine;
  Translator translator;
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

/// Through a pipe, as a file would come.
std::pair<std::vector<std::string>, TranslationFacts> stream(Translator& translator,
                                                             const std::string& text) {
  Pipe pipe;
  std::jthread sending([&] {
    LineWriter writer(pipe.in(), "test");
    if (!text.empty()) writer.write_line(text.substr(0, text.size() - 1));
    writer.flush();
    pipe.close_end(1);
  });
  LineReader reader(pipe.out(), "input");
  Collected collected;
  const TranslationFacts facts = translator.translate(reader, collected);
  EXPECT_GT(collected.flushes, 0);
  return {collected.lines, facts};
}

TEST(Translator, LineIOutIsLineIIn) {
  CopyingTranslator copier;
  const std::vector<std::string> lines = {"one two", "", "three Four five.", " \t\u3000", "six"};
  EXPECT_EQ(best_texts(copier.translator.translate(lines)),
            (std::vector<std::string>{"one two", "", "three Four five.", "", "six"}));
  EXPECT_EQ(copier.engine.admitted, 3) << "the model is not asked about blank lines";
}

TEST(Translator, AnyBytesComeThroughAsOneLineEach) {
  CopyingTranslator copier;
  const auto [lines, facts] =
      stream(copier.translator, "one\r\n\n\xff two \xe2\x82\n\xEF\xBB\xBF\nüñ 語😀\n"s + "a\0b\n"s);
  ASSERT_EQ(lines.size(), 6u);
  EXPECT_EQ(lines[0], "one");
  EXPECT_EQ(lines[1], "");
  EXPECT_THAT(lines[2], testing::HasSubstr("two"));
  EXPECT_EQ(lines[4], "üñ 語😀");
  EXPECT_EQ(facts.lines, 6);
  EXPECT_EQ(facts.repaired, 1);
  EXPECT_EQ(facts.cut, 0);
}

TEST(Translator, RandomBytesKeepTheContract) {
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
    CopyingTranslator copier({.beam_size = 1, .split_length = 8});
    const auto [lines, facts] = stream(copier.translator, text);
    EXPECT_EQ(static_cast<std::int64_t>(lines.size()), line_feeds);
    EXPECT_EQ(facts.lines, line_feeds);
    for (const std::string& line : lines) {
      EXPECT_EQ(line.find_first_of("\n\r\0"s), std::string::npos);
      EXPECT_EQ(find_invalid_utf8(line), std::string::npos);
    }
  }
}

TEST(Translator, AVeryLongLineIsTranslatedWhole) {
  std::string line;
  for (int i = 0; i < 10'000; ++i) line += i % 7 == 6 ? "five. " : i % 3 == 2 ? "six, " : "Four ";
  line.pop_back();
  CopyingTranslator copier({.beam_size = 1, .split_length = 40});
  const auto [lines, facts] = stream(copier.translator, "one\n" + line + "\ntwo\n");
  EXPECT_THAT(lines, ElementsAre("one", line, "two"));
  EXPECT_EQ(facts.split, 1);
  EXPECT_EQ(facts.cut, 0);
  EXPECT_EQ(facts.target_tokens, facts.source_tokens);
}

TEST(Translator, LinesBeyondTheModelsPositionsAreSplit) {
  CopyingTranslator copier({.beam_size = 1, .split_length = 1000});
  copier.engine.positions = 9;
  const std::vector<std::string> line = {"one two three Four one two three Four one two three"};
  EXPECT_EQ(best_texts(copier.translator.translate(line)), line);
}

TEST(Translator, AnswersWhileTheInputStaysOpen) {
  CopyingTranslator copier;
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
    copier.translator.translate(reader, sink, stop);
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

TEST(Translator, StreamAndListGiveTheSame) {
  RandomStream random(8);
  std::vector<std::string> lines;
  std::string text;
  for (int i = 0; i < 300; ++i) {
    lines.emplace_back();
    for (std::uint64_t w = random.below(4); w > 0; --w) lines.back() += "one two five. ";
    text += lines.back() + "\n";
  }
  CopyingTranslator copier({.beam_size = 2, .split_length = 10});
  EXPECT_EQ(stream(copier.translator, text).first, best_texts(copier.translator.translate(lines)));
}

TEST(Translator, NBestOfASplitLineAreJoinedRankByRank) {
  TableEngine engine(tokenizer().size(), random_distribution(tokenizer().size(), 3, 3, 4));
  const DecodeConfig config{.beam_size = 3, .n_best = 3, .max_length = 8, .split_length = 8};
  Translator translator(engine, tokenizer(), tokenizer(), config);
  const std::vector<std::string> lines = {"one two three Four five. One two three Four five.", ""};
  const std::vector<Translation> found = translator.translate(lines);
  ASSERT_EQ(found[0].n_best.size(), 3u);
  EXPECT_GE(found[0].n_best[0].score, found[0].n_best[1].score);
  EXPECT_GE(found[0].n_best[1].score, found[0].n_best[2].score);
  EXPECT_EQ(found[1].n_best, std::vector<TranslatedText>{{}});
}

TEST(Translator, AStopRequestLeavesTheFinishedLinesOnly) {
  CopyingTranslator copier;
  std::stop_source stop;
  stop.request_stop();
  EXPECT_TRUE(
      copier.translator.translate(std::vector<std::string>{"one"}, stop.get_token()).empty());
}

TEST(DecodeConfig, WrongValuesNameTheirFlag) {
  const auto message = [](const DecodeConfig& config) -> std::string {
    try {
      config.validate();
    } catch (const UsageError& error) {
      return error.what();
    }
    return "";
  };
  EXPECT_EQ(message({}), "");
  EXPECT_THAT(message({.beam_size = 0}), testing::HasSubstr("--beam-size 0"));
  EXPECT_THAT(message({.n_best = 6}), testing::HasSubstr("--n-best 6"));
  EXPECT_EQ(message({.n_best = 6, .sampling = true}), "");
  EXPECT_THAT(message({.length_penalty = std::nan("")}), testing::HasSubstr("--length-penalty"));
  EXPECT_THAT(message({.min_length = 9, .max_length = 8}), testing::HasSubstr("--min-length 9"));
  EXPECT_THAT(message({.max_length_ratio = 0}), testing::HasSubstr("--max-length-ratio"));
  EXPECT_THAT(message({.split_length = 0}), testing::HasSubstr("--split-length"));
  EXPECT_THAT(message({.sampling_topk = 3}), testing::HasSubstr("--sampling-topk: needs"));
  EXPECT_THAT(message({.sampling_topp = 0.5}), testing::HasSubstr("--sampling-topp: needs"));
  EXPECT_THAT(message({.temperature = 0.5}), testing::HasSubstr("--temperature: needs"));
  EXPECT_THAT(message({.sampling = true, .temperature = 0}), testing::HasSubstr("--temperature"));
}

}  // namespace
}  // namespace dragoman
