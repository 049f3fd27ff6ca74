#include "inference/line_preparer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"
#include "base/random.h"
#include "base/utf8.h"
#include "inference/assemble_translation.h"
#include "tests/inference/prepared_requests.h"

namespace dragoman {
namespace {

using testing::IsEmpty;

TEST(LineOrder, LinesLeaveInOrderAndNoneBeforeItsTime) {
  RandomStream random(5);
  for (int trial = 0; trial < 200; ++trial) {
    LineOrder order;
    std::vector<std::size_t> left;       // sentences of each line
    std::vector<std::size_t> sentences;  // the line of each
    for (std::uint64_t line = random.below(8); line > 0; --line) {
      left.push_back(random.below(4));
      order.add(left.back());
      sentences.insert(sentences.end(), left.back(), left.size() - 1);
    }
    random.shuffle(sentences);
    std::size_t next = 0;
    const auto take_all = [&] {
      while (order.ready()) {
        EXPECT_EQ(left.at(next), 0u);
        EXPECT_EQ(order.take(), next++);
        EXPECT_EQ(order.left(), left.size() - next);
      }
      EXPECT_TRUE(next == left.size() || left[next] > 0);
    };
    take_all();
    for (const std::size_t line : sentences) {
      --left[line];
      order.finish(line);
      take_all();
    }
    EXPECT_EQ(order.left(), 0u);
  }
}

TEST(LinePreparer, ATermThatHasTheEndOfASentenceIsFound) {
  PreparedLine line(7, request({}, {.terms = terms("five. Three", "six")}));
  const auto sentences = preparer().prepare({"One two five. Three Four five. Two one."}, line);
  ASSERT_EQ(sentences.size(), 2u);
  EXPECT_EQ(sentences[0].tokens, with_end("One two five. Three Four five."));
  ASSERT_EQ(line.parts[0].required.size(), 1u);
  EXPECT_EQ(line.parts[0].required[0].text, "six");
}

TEST(LinePreparer, AWordOfMillionsOfLettersIsCutAtAStatedNumberOfPieces) {
  const std::string word(3'000'000, 'q');
  PreparedLine line(7, request({.split_length = 100}));
  const auto sentences = preparer().prepare({"One " + word + " two."}, line);
  EXPECT_EQ(line.facts.long_words, 1);
  EXPECT_TRUE(line.text.starts_with("One qqq")) << line.text.substr(0, 20);
  EXPECT_TRUE(line.text.ends_with("q two.")) << "the text after it stays";
  EXPECT_LE(line.facts.source_tokens, kMostPiecesOfWord + 100);
  EXPECT_GE(line.facts.source_tokens, kMostPiecesOfWord - 100);

  PreparedLine words(8, request({.split_length = 100}));
  std::string many;
  for (int i = 0; i < 3000; ++i) many += "one two ";
  preparer().prepare({many}, words);
  EXPECT_EQ(words.facts.long_words, 0);
  EXPECT_EQ(words.text, many);

  std::string unspaced;
  for (int i = 0; i < 6000; ++i) unspaced += "\u4e2d";
  PreparedLine chinese(9, request({.split_length = 100}));
  preparer().prepare({unspaced}, chinese);
  EXPECT_EQ(chinese.text, unspaced) << "each character may be a word";
}

TEST(LinePreparer, ANulIsABlank) {
  PreparedLine line(7, request({}));
  const auto sentences = preparer().prepare({std::string("One two.\0Three.", 15)}, line);
  ASSERT_EQ(sentences.size(), 2u);
  EXPECT_EQ(sentences[1].tokens, with_end("Three."));
}

TEST(LinePreparer, ALineIsItsSentences) {
  PreparedLine line(7, request({}));
  const auto sentences = preparer().prepare({"  One two five.  Three Four five. "}, line);
  ASSERT_EQ(sentences.size(), 2u);
  EXPECT_EQ(sentences[0].tokens, with_end("One two five."));
  EXPECT_EQ(sentences[1].tokens, with_end("Three Four five."));
  for (const SourceSentence& sentence : sentences) {
    EXPECT_EQ(sentence.line, 7);
    EXPECT_EQ(sentence.settings, line.request->settings);
    EXPECT_FALSE(sentence.needs_attention);
  }
  EXPECT_EQ(sentences[1].part, 1);
  EXPECT_EQ(line.facts.split, 1);
  EXPECT_EQ(line.facts.source_tokens,
            static_cast<std::int64_t>(sentences[0].tokens.size() + sentences[1].tokens.size()) - 2);
}

TEST(LinePreparer, SourcesOfAModelMayHaveNoEnd) {
  TokenizerPair tokenizers = tokenizer_pair();
  tokenizers.source_eos = false;
  const LinePreparer without_ends(tokenizers, 1000, {.several_sentences = 0.0});
  PreparedLine line(0, request({}, {.terms = terms("two", "six")}));
  const auto sentences = without_ends.prepare({"one two five."}, line);
  ASSERT_EQ(sentences.size(), 1u);
  EXPECT_EQ(sentences[0].tokens, tokenizer().encode("one two five."));
  EXPECT_FALSE(sentences[0].has_end);
  EXPECT_EQ(sentences[0].pieces(), line.facts.source_tokens);
  const auto again =
      RequiredTextSearch(tokenizers).keep_or_search_again(line, 0, {hypothesis("one two five.")});
  ASSERT_TRUE(again) << "with its term as a phrase";
  EXPECT_EQ(again->tokens, sentences[0].tokens);
  EXPECT_FALSE(again->has_end);

  PreparedLine ended(1, request({}));
  const auto with_ends = preparer().prepare({"one two five."}, ended);
  EXPECT_TRUE(with_ends[0].has_end);
  EXPECT_EQ(with_ends[0].pieces(), sentences[0].pieces());
}

TEST(LinePreparer, SplittingBelongsToTheRequest) {
  PreparedLine whole(0, request({.split_sentences = SplitSentences::Never})),
      halves(1, request({.split_length = 8}));
  const std::string text = "One two five. Three Four five.";
  EXPECT_EQ(preparer().prepare({text}, whole).size(), 1u);
  for (const SourceSentence& sentence : preparer().prepare({text}, halves))
    EXPECT_LE(sentence.tokens.size(), 9u);
}

TEST(LinePreparer, ABlankLineHasNoSentence) {
  for (const std::string text : {"", " \t\u3000"}) {
    PreparedLine line(0, request({}));
    EXPECT_THAT(preparer().prepare({text}, line), IsEmpty());
    EXPECT_EQ(line.facts.empty, 1);
  }
}

TEST(LinePreparer, InvalidBytesAreReplaced) {
  PreparedLine line(0, request({}));
  EXPECT_EQ(preparer().prepare({"one \xff two"}, line).size(), 1u);
  EXPECT_EQ(find_invalid_utf8(line.text), std::string::npos);
  EXPECT_EQ(line.facts.repaired, 1);
}

TEST(LinePreparer, APrefixIsThatOfItsSentences) {
  PreparedLine line(0, request({}));
  const auto sentences =
      preparer().prepare({.text = "One two. Three Four.", .prefix = "Six. Five "}, line);
  ASSERT_EQ(sentences.size(), 2u);
  EXPECT_EQ(sentences[0].required.prefix.tokens, with_end("Six."));
  EXPECT_EQ(sentences[1].required.prefix.tokens, tokenizer().encode("Five"));
  EXPECT_TRUE(sentences[1].required.prefix.ends_word);
}

TEST(LinePreparer, AttentionIsAskedForIfItIsNeeded) {
  const auto needs = [](std::shared_ptr<const PreparedRequest> asked, Terms own = {}) {
    PreparedLine line(0, std::move(asked));
    return preparer().prepare({.text = "one", .terms = std::move(own)}, line)[0].needs_attention;
  };
  EXPECT_FALSE(needs(request({})));
  EXPECT_TRUE(needs(request({}, {}, true)));
  EXPECT_TRUE(needs(request({.coverage_penalty = 0.1})));
  EXPECT_TRUE(needs(request({}, {.protects = true})));
  EXPECT_TRUE(needs(request({}), terms("one", "two")));
}

/// A preparer of a model that has seen the characters of its words, and X.
LinePreparer preparer_that_has_seen(const char* characters) {
  SeenCharacters seen;
  seen.source.add_all(characters);
  return {tokenizer_pair(), 1000, {.several_sentences = 0.0, .characters = std::move(seen)}};
}

TEST(LinePreparer, UnseenTextIsReadInAnotherFormOrCopied) {
  const LinePreparer knowing = preparer_that_has_seen("onetwhrFfuivsx. X");
  const std::string text = "one tw\u00F2 \u041C\u043E. Four \u2713 five.";
  PreparedLine line(0, request({}));
  const auto sentences = knowing.prepare({text}, line);
  ASSERT_EQ(sentences.size(), 2u);
  EXPECT_EQ(sentences[0].tokens, with_end("one two X."));
  EXPECT_EQ(sentences[1].tokens, with_end("Four five."));
  EXPECT_TRUE(sentences[0].needs_attention);
  EXPECT_EQ(line.facts.unknown, 1);
  EXPECT_EQ(line.text, text);

  PreparedLine copied(1, request({}, {}, true));
  EXPECT_THAT(knowing.prepare({"\u041C\u043E \U0001F355!"}, copied), IsEmpty());
  ASSERT_EQ(copied.parts.size(), 1u);
  EXPECT_TRUE(copied.parts[0].unseen.is_all) << "nothing to translate";
  EXPECT_EQ(copied.parts[0].before.text, copied.text);
  EXPECT_EQ(copied.facts.unknown, 1);
  EXPECT_EQ(copied.facts.empty, 0);

  PreparedLine seen(1, request({}));
  const auto same = knowing.prepare({"one two."}, seen);
  EXPECT_EQ(same[0].tokens, with_end("one two."));
  EXPECT_FALSE(same[0].needs_attention);
  EXPECT_EQ(seen.facts.unknown, 0);
}

TEST(LinePreparer, UnseenTextIsTranslatedIfItIsAskedForAndIfNothingIsKnown) {
  const std::string text = "one \u041C two.";
  const LinePreparer knowing = preparer_that_has_seen("onetw. X");
  PreparedLine translated(0, request({.unknown_words = UnknownWords::Translate})),
      old(1, request({})), drawn(2, request({.sampling = true}));
  EXPECT_EQ(knowing.prepare({text}, translated)[0].tokens, with_end(text));
  EXPECT_EQ(preparer().prepare({text}, old)[0].tokens, with_end(text));
  EXPECT_EQ(knowing.prepare({text}, drawn)[0].tokens, with_end(text));
  EXPECT_EQ(translated.facts.unknown + old.facts.unknown + drawn.facts.unknown, 0);
}

TEST(LinePreparer, NothingOfAKeptStretchIsCopied) {
  const LinePreparer knowing = preparer_that_has_seen("onetw. X");
  const std::string text = "{one} two {6} two {6}";
  PreparedLine line(0, request({}));
  const std::vector<ByteRange> kept{{0, 5}, {10, 13}, {18, 21}};
  EXPECT_EQ(knowing.prepare({.text = text, .kept = kept}, line)[0].tokens, with_end(text));
  EXPECT_TRUE(line.parts[0].unseen.copies.empty());
  EXPECT_EQ(line.parts[0].before.text + line.parts[0].after.text, "");
}

TEST(LinePreparer, StretchesStayKeptIfAWordIsCut) {
  const LinePreparer knowing = preparer_that_has_seen("onetwq. X");
  const std::string word(20'000, 'q'), text = "{one} " + word + " two {6}";
  PreparedLine line(0, request({}));
  const std::size_t after_word = 6 + word.size();
  const std::vector<ByteRange> kept{{0, 5}, {6, after_word}, {after_word + 5, text.size()}};
  knowing.prepare({.text = text, .kept = kept}, line);
  ASSERT_EQ(line.facts.long_words, 1);
  std::vector<std::string_view> words, kept_texts;
  for (const ByteRange& range : words_between_spaces(line.text))
    words.push_back(range.of(line.text));
  for (const ByteRange& range : line.kept) kept_texts.push_back(range.of(line.text));
  EXPECT_THAT(kept_texts, testing::ElementsAre("{one}", words.at(1), "{6}"));
  for (const PreparedPart& part : line.parts) {
    EXPECT_TRUE(part.unseen.copies.empty());
    EXPECT_EQ(part.before.text + part.after.text, "");
  }
}

TEST(LinePreparer, TermsAndProtectedTextsAreReadAsTheyAre) {
  const LinePreparer knowing = preparer_that_has_seen("onetw. X");
  PreparedLine line(0, request({}, {.terms = terms("\u041C", "six"), .protects = true}));
  EXPECT_EQ(knowing.prepare({"one \u041C two 7."}, line)[0].tokens, with_end("one \u041C two 7."));
  EXPECT_TRUE(line.parts[0].unseen.copies.empty());
}

TEST(LinePreparer, CopiedAndProtectedTextsStandInTheWordsToo) {
  const LinePreparer knowing = preparer_that_has_seen("onetw. X");
  PreparedLine line(0, request({}, {.protects = true}, /*reports_attention=*/true));
  const auto sentences = knowing.prepare({"10\u2074 one \u041C\u043E two 1\u202F000."}, line);
  ASSERT_EQ(sentences.size(), 1U);
  Hypothesis& found = line.parts[0].hypotheses.emplace_back(hypothesis("104 one X two 1 000."));
  for (std::size_t t = 0; t < found.tokens.size(); ++t)
    for (std::size_t s = 0; s < sentences[0].tokens.size(); ++s)
      found.attention.push_back(s == t ? 1 : 0);
  const TranslatedText text = assemble_translation(line, tokenizer()).n_best[0];
  EXPECT_EQ(text.text, line.text);
  std::vector<std::string> words;
  for (const TranslatedWord& word : text.words) words.push_back(word.text);
  EXPECT_THAT(words, testing::ElementsAre("10\u2074", "one", "\u041C\u043E", "two", "1\u202F000."));
}

TEST(LinePreparer, UnseenTextIsNotCopiedIfTheLineHasAPrefixOrMustAvoidIt) {
  const std::string text = "one \u041C two.";
  const LinePreparer knowing = preparer_that_has_seen("onetw. X");
  PreparedLine begun(0, request({}));
  const auto sentences = knowing.prepare({.text = text, .prefix = "six"}, begun);
  EXPECT_EQ(sentences[0].tokens, with_end(text));
  EXPECT_EQ(begun.facts.unknown, 0);
  PreparedLine avoiding(1, request({}, {.avoided = {"\u041C"}}));
  EXPECT_EQ(knowing.prepare({text}, avoiding)[0].tokens, with_end(text));
  EXPECT_EQ(avoiding.facts.unknown, 0);
}

/// Tokenizers of the same words, with tags.
const TokenizerPair& tokenizers_with_tags() {
  static const TokenizerPair trained = [] {
    TokenizerConfig config;
    config.vocab_size = 300;
    config.type = TokenizerType::Bpe;
    config.user_symbols = {"<2de>", ">>X<<", "<bt>"};
    const std::vector<std::string> lines(100, "one two three Four five. six,");
    return both_sides(train_on(lines, config));
  }();
  return trained;
}

/// A preparer of a model with these tags, which has seen the letters of "one two", and X.
const LinePreparer& preparer_with_tags() {
  static const LinePreparer all = [] {
    SeenCharacters seen;
    seen.source.add_all("onetw. X");
    return LinePreparer(tokenizers_with_tags(), 1000,
                        {.several_sentences = 0.0, .characters = std::move(seen)});
  }();
  return all;
}

std::vector<TokenId> with_tag_and_end(const std::string& text) {
  std::vector<TokenId> tokens = tokenizers_with_tags().source->encode(text);
  tokens.push_back(tokenizers_with_tags().source->eos_id());
  return tokens;
}

TEST(LinePreparer, ATagIsNotTextThatCouldBeUnseen) {
  PreparedLine seen(0, request({}));
  EXPECT_EQ(preparer_with_tags().prepare({"<2de> one two."}, seen)[0].tokens,
            with_tag_and_end("<2de> one two."));
  EXPECT_EQ(seen.facts.unknown, 0);

  PreparedLine copied(1, request({}));
  const auto sentences = preparer_with_tags().prepare({"<2de> one \u041C two."}, copied);
  EXPECT_EQ(sentences[0].tokens, with_tag_and_end("<2de> one X two."));
  EXPECT_EQ(copied.facts.unknown, 1);

  PreparedLine with_stand_in(2, request({}));
  EXPECT_EQ(preparer_with_tags().prepare({">>X<< one \u041C two."}, with_stand_in)[0].tokens,
            with_tag_and_end(">>X<< one X two."))
      << "the X of the tag is not in the text";
}

TEST(LinePreparer, ATagBeforeTextThatIsUnseenIsNotCopiedWithIt) {
  PreparedLine line(0, request({}));
  EXPECT_THAT(preparer_with_tags().prepare({"<2de> \u041C\u043E"}, line), IsEmpty());
  const Translation translation = assemble_translation(line, *tokenizers_with_tags().target);
  EXPECT_EQ(translation.n_best[0].text, "\u041C\u043E");
  EXPECT_THAT(translation.unknown, testing::ElementsAre("\u041C\u043E"));
  EXPECT_EQ(translation.facts.copied, 1);
}

TEST(LinePreparer, ATagIsNotProtected) {
  PreparedLine line(0, request({}, {.terms = terms("bt", "six"), .protects = true}));
  preparer_with_tags().prepare({"<bt> one 7. two <bt> 8"}, line);
  ASSERT_EQ(line.parts.size(), 2U);
  const auto texts_of = [&line](std::size_t part) {
    std::vector<std::string> texts;
    for (const RequiredText& text : line.parts[part].required) texts.push_back(text.text);
    return texts;
  };
  EXPECT_THAT(texts_of(0), testing::ElementsAre("7"));
  EXPECT_THAT(texts_of(1), testing::ElementsAre("six", "8")) << "in the text it is one";
}

TEST(UnseenLines, UnseenLinesHaveCharactersThatTheModelHasNotSeenAfterTheirTag) {
  CharacterSet seen;
  seen.add_all("onetw1");
  const auto unseen = [&seen](const std::vector<std::string>& lines) {
    return unseen_lines(*tokenizers_with_tags().source, seen, lines);
  };
  EXPECT_EQ(unseen({"<2de> one two", "", "one  two \uFF11", "<2de>"}).count, 1)
      << "a tag alone is text";
  const UnseenLines found = unseen({"<2de> one", "one <x> two", "tw\u00F2", "\u2713 one"});
  EXPECT_EQ(found.count, 3);
  EXPECT_EQ(found.first, 2);
}

/// The translation of a line with a tag. Word i of `text` attends to word `sources[i]` of the text
/// that is read, and more to word 0, which is the tag.
std::string translated_with_tag(const std::string& source, const std::string& text,
                                const std::vector<std::size_t>& sources) {
  const Tokenizer& with_tags = *tokenizers_with_tags().source;
  const auto words_of = [&with_tags](const std::vector<TokenId>& tokens) {
    std::vector<std::size_t> words;
    for (const TokenId token : tokens) {
      const bool begins = words.empty() || with_tags.piece(token).starts_with(kSpaceMark);
      words.push_back(words.empty() ? 0 : words.back() + (begins ? 1U : 0U));
    }
    return words;
  };
  PreparedLine line(0, request({}));
  const auto sentences = preparer_with_tags().prepare({source}, line);
  Hypothesis& found = line.parts[0].hypotheses.emplace_back(hypothesis(""));
  found.tokens = with_tags.encode(text);
  for (const std::size_t word : words_of(found.tokens))
    for (const std::size_t other : words_of(sentences[0].tokens))
      found.attention.push_back(other == 0                  ? 0.6F
                                : sources.at(word) == other ? 0.5F
                                                            : 0.01F * static_cast<float>(other));
  return assemble_translation(line, with_tags).n_best[0].text;
}

TEST(LinePreparer, CopiesFindTheirPlacesAsIfThereWereNoTag) {
  EXPECT_EQ(translated_with_tag("<2de> \u00A7 one two", "two one", {0, 1}), "\u00A7 two one")
      << "the tag is not a word that it follows";
  EXPECT_EQ(translated_with_tag("<2de> one \u041C two", "three six two", {1, 2, 3}),
            "three \u041C two");
  EXPECT_EQ(translated_with_tag("<2de> \u041C two", "six three", {0, 2}), "\u041C six three")
      << "what looks at the tag does not look at the first word";
}

TEST(LinePreparer, PiecesKnowTheirWords) {
  PreparedLine line(0, request({}, {}, true));
  preparer().prepare({"one two. three"}, line);
  EXPECT_EQ(line.words, 3u);
  ASSERT_EQ(line.parts.size(), 2u);
  EXPECT_THAT(line.parts[1].words, testing::Each(2u));
  EXPECT_EQ(line.parts[0].words.front(), 0u);
  EXPECT_EQ(line.parts[0].words.back(), 1u);
}

/// The translation of a text by a model that copies each sentence, in brackets: "[one two.]".
struct Bracketed {
  std::string text;
  std::int64_t copied;
};

Bracketed bracketed(LineInput input, const DecodeConfig& search = {}, Demands demands = {},
                    CopiedFractions fractions = {}) {
  const LinePreparer with_fractions(
      tokenizer_pair(), 1000, {.several_sentences = 0.0, .copied_fractions = std::move(fractions)});
  PreparedLine line(0, request(search, std::move(demands)));
  for (const SourceSentence& sentence : with_fractions.prepare(std::move(input), line)) {
    PreparedPart& part = line.parts[static_cast<std::size_t>(sentence.part)];
    part.hypotheses = {hypothesis(join_text('[', part.text.text, ']'))};
  }
  const Translation translation = assemble_translation(line, tokenizer());
  EXPECT_EQ(translation.facts.empty, 0);
  return {translation.n_best.front().text, translation.facts.copied};
}

std::string text_of(const Bracketed& bracketed) { return bracketed.text; }

TEST(LinePreparer, TextWithNothingToTranslateIsCopied) {
  for (const std::string text : {"42", "...", "\u2800", "\u0301", "https://example.org/a",
                                 "✔\uFE0F", "10⁴  –  ５. 6! 7?", "x86_64 \t {name}"}) {
    const auto [copy, copied] = bracketed({" " + text + "\t"});
    EXPECT_EQ(copy, text);
    EXPECT_EQ(copied, 1);
  }
  EXPECT_EQ(bracketed({"one 42"}).copied, 0);
}

TEST(LinePreparer, ASentenceWithNothingToTranslateIsCopiedInItsLine) {
  const auto [text, copied] = bracketed({"one two.  42! three."});
  EXPECT_EQ(text, "[one two.]  42! [three.]");
  EXPECT_EQ(copied, 0) << "the line has more";
}

TEST(LinePreparer, SignsAtTheEndsStayThere) {
  EXPECT_EQ(text_of(bracketed({"♪ one two ♪"})), "♪ [one two] ♪");
  EXPECT_EQ(text_of(bracketed({"✓one two.❤\uFE0F"})), "✓[one two.]❤\uFE0F");
  EXPECT_EQ(text_of(bracketed({"• one five. • two"})), "• [one five.] • [two]");
  EXPECT_EQ(text_of(bracketed({"-5 two"})), "[-5 two]");
}

TEST(LinePreparer, TextWithNothingToTranslateIsTranslatedIfSomebodyAsksForIt) {
  const DecodeConfig all{.translate_all = true};
  EXPECT_EQ(bracketed({"42"}, all).copied, 0);
  EXPECT_EQ(bracketed({"♪ one"}, all).copied, 0);
  EXPECT_EQ(text_of(bracketed({"one"}, all)), "[one]");
  const Demands with_term{.terms = terms("42", "six")};
  EXPECT_EQ(bracketed({"42"}, {}, with_term).copied, 0);
  EXPECT_EQ(bracketed({"43"}, {}, with_term).copied, 1);
  EXPECT_EQ(bracketed({.text = "42", .terms = terms("42", "six")}).copied, 0);
  EXPECT_EQ(bracketed({.text = "42", .prefix = "six"}).copied, 0);
  EXPECT_EQ(bracketed({.text = "42", .prefix = " "}).copied, 1);
  EXPECT_EQ(bracketed({"42"}, {}, {.avoided = {"4"}}).copied, 0);
}

TEST(LinePreparer, AKindThatTheModelHasLearnedToTranslateIsTranslated) {
  const CopiedFractions numbers_to_words = {{"number", 0.1}, {"signs", 0.9}};
  EXPECT_EQ(bracketed({"42"}, {}, {}, numbers_to_words).copied, 0);
  EXPECT_EQ(bracketed({"..."}, {}, {}, numbers_to_words).copied, 1);
}

TEST(LinePreparer, NumbersAloneFollowTheNumberFormat) {
  const Demands demands{.protects = true, .numbers = NumberConversion("en-de")};
  EXPECT_EQ(text_of(bracketed({"$6,263.5 ; 1,000"}, {}, demands)), "$6.263,5 ; 1.000");
  EXPECT_EQ(text_of(bracketed({"v1.5_a"}, {}, demands)), "v1.5_a") << "no number alone";
}

TEST(LinePreparer, TheWordsOfACopyStandForThemselves) {
  PreparedLine line(0, request({}, {}, /*reports_attention=*/true));
  const auto sentences = preparer().prepare({"42! ✓ one two❤ ♪"}, line);
  ASSERT_EQ(sentences.size(), 1U);
  PreparedPart& part = line.parts[static_cast<std::size_t>(sentences[0].part)];
  Hypothesis& found = part.hypotheses.emplace_back(hypothesis("six"));
  found.attention.assign(found.tokens.size() * sentences[0].tokens.size(), 0.0F);
  found.attention[0] = 1;
  const Translation translation = assemble_translation(line, tokenizer());
  EXPECT_EQ(translation.n_best[0].text, "42! ✓ six❤ ♪");
  std::vector<std::pair<std::string, std::size_t>> words;
  for (const TranslatedWord& word : translation.n_best[0].words)
    words.emplace_back(word.text,
                       std::ranges::max_element(word.attention) - word.attention.begin());
  EXPECT_THAT(words, testing::ElementsAre(testing::Pair("42!", 0), testing::Pair("✓", 1),
                                          testing::Pair("six❤", 2), testing::Pair("♪", 4)));
}

}  // namespace
}  // namespace dragoman
