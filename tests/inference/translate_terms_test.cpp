// Translations with terms by a model that copies, and so attends to the source word by word.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "inference/translate_text.h"
#include "tests/inference/search/table_engine.h"
#include "tests/model/file/scratch_file.h"
#include "tests/tokenizer/sample_text.h"

namespace dragoman {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

const std::vector<std::string> kWords = {"one", "two", "three", "four", "five", "six", "."};

/// Each of kWords is a piece, and there are letters.
Tokenizer trained_tokenizer(std::vector<std::string> symbols) {
  std::vector<std::string> lines;
  RandomStream random(1);
  for (int i = 0; i < 300; ++i) {
    lines.emplace_back();
    for (int w = 0; w < 6; ++w) lines.back() += random.choice(kWords) + " ";
    lines.back() += "abcdefghijklmnopqrstuvwxyzFS(\"";
  }
  TokenizerConfig config;
  config.vocab_size = 360;
  config.type = TokenizerType::Bpe;
  config.user_symbols = std::move(symbols);
  return train_on(lines, config);
}

const TokenizerPair& tokenizer_pair() {
  static const TokenizerPair trained = both_sides(trained_tokenizer({}));
  return trained;
}

const Tokenizer& tokenizer() { return *tokenizer_pair().source; }

/// Copies word by word. Another word costs `other`, and an early end costs 30.
Distribution copying(float other) {
  return [=](const std::vector<TokenId>& source, const std::vector<TokenId>& prefix) {
    std::vector<float> scores(static_cast<std::size_t>(tokenizer().size()), other);
    scores[kEos] = -30;
    scores[static_cast<std::size_t>(prefix.size() < source.size() ? source[prefix.size()] : kEos)] =
        -0.01F;
    return scores;
  };
}

Terms terms(const std::string& text) {
  const ScratchFile file("terms.tsv", text);
  return Terms(file.path());
}

std::shared_ptr<const Demands> shared(Demands demands) {
  return std::make_shared<const Demands>(std::move(demands));
}

Translation translated(const std::string& line, Demands demands, float other = -9,
                       DecodeConfig config = {.beam_size = 3}) {
  EXPECT_EQ(tokenizer().eos_id(), kEos);
  TableEngine engine(tokenizer().size(), copying(other));
  TranslationService service({&engine}, tokenizer_pair());
  const std::vector<std::string> lines = {line};
  return translate_lines(service, lines, {.config = config, .demands = shared(std::move(demands))})
      .at(0);
}

TEST(TranslateTerms, ATermStandsWhereItsSourceIsLookedAt) {
  for (const float other : {-4.0F, -9.0F, -14.0F}) {
    const Translation translation =
        translated("one two three four .", {.terms = terms("three\tsix\n")}, other);
    EXPECT_EQ(translation.n_best.at(0).text, "one two six four .") << other;
    EXPECT_THAT(translation.unmet, IsEmpty());
  }
}

TEST(TranslateTerms, ANewWordDoesNotSpoilTheWordsAfterIt) {
  // After a word that it does not expect, the model says it again, or otherwise continues.
  const Distribution repeating = [](const std::vector<TokenId>& source,
                                    const std::vector<TokenId>& prefix) {
    auto scores = copying(-12)(source, prefix);
    if (!prefix.empty() && prefix.back() != source[prefix.size() - 1]) {
      scores[static_cast<std::size_t>(prefix.back())] = -0.1F;
      for (std::size_t i = prefix.size(); i < source.size(); ++i)
        scores[static_cast<std::size_t>(source[i])] = -1.5F;
    }
    return scores;
  };
  TableEngine engine(tokenizer().size(), repeating);
  TranslationService service({&engine}, tokenizer_pair());
  const std::vector<std::string> lines = {"one two three four ."};
  const auto translation = translate_lines(service, lines,
                                           {.config = {.beam_size = 3, .n_best = 3},
                                            .demands = shared({.terms = terms("two\tsix\n")})})
                               .at(0);
  EXPECT_EQ(translation.n_best.at(0).text, "one six three four .");
  EXPECT_THAT(translation.unmet, IsEmpty());
  EXPECT_EQ(translation.n_best.size(), 3U) << "the others are those of the first search";
}

TEST(TranslateTerms, SeveralTermsStandInOrder) {
  const Translation translation =
      translated("one two three four .", {.terms = terms("four\tfive\ntwo\tsix\n")});
  EXPECT_EQ(translation.n_best.at(0).text, "one six three five .");
}

TEST(TranslateTerms, ATranslationThatHasItsTermsIsLeftAlone) {
  const std::string line = "one two three two .";
  const Translation plain = translated(line, {});
  const Translation with = translated(line, {.terms = terms("three\tthree\ntwo\ttwo\n")});
  EXPECT_EQ(with.n_best, plain.n_best);
  EXPECT_THAT(with.unmet, IsEmpty());
}

TEST(TranslateTerms, ATermThatSpoilsTheRestIsLeftOutAndReportedUnlessForced) {
  // A model that is lost after anything but a copy.
  const Distribution strict = [](const std::vector<TokenId>& source,
                                 const std::vector<TokenId>& prefix) {
    const bool is_copy = std::equal(
        prefix.begin(), prefix.end(), source.begin(),
        source.begin() + static_cast<std::ptrdiff_t>(std::min(prefix.size(), source.size())));
    if (is_copy) return copying(-9)(source, prefix);
    auto scores = copying(-9)(source, prefix);
    for (float& score : scores) score -= 12;
    return scores;
  };
  const std::vector<std::string> line = {"one two three four ."};
  for (const PhrasePolicy policy : {PhrasePolicy::Fluent, PhrasePolicy::Always}) {
    TableEngine engine(tokenizer().size(), strict);
    TranslationService service({&engine}, tokenizer_pair());
    const Translation translation =
        translate_lines(
            service, line,
            {.config = {.beam_size = 3},
             .demands = shared({.terms = terms("one\tsix\n"), .phrase_policy = policy})})
            .at(0);
    if (policy == PhrasePolicy::Always) {
      EXPECT_THAT(translation.n_best.at(0).text, HasSubstr("six"));
      EXPECT_THAT(translation.unmet, IsEmpty());
    } else {
      EXPECT_EQ(translation.n_best.at(0).text, line[0]);
      EXPECT_THAT(translation.unmet, ElementsAre("six"));
    }
  }
}

TEST(TranslateTerms, ATermAfterWhichTheModelEndsIsLeftOutAndReportedUnlessForced) {
  const Distribution ending = [](const std::vector<TokenId>& source,
                                 const std::vector<TokenId>& prefix) {
    auto scores = copying(-9)(source, prefix);
    if (!prefix.empty() && prefix.front() != source.front()) {
      std::ranges::fill(scores, -9.0F);
      scores[kEos] = -0.5F;
    }
    return scores;
  };
  const std::string line = "one two three four .";
  for (const PhrasePolicy policy : {PhrasePolicy::Fluent, PhrasePolicy::Always}) {
    TableEngine engine(tokenizer().size(), ending);
    TranslationService service({&engine}, tokenizer_pair());
    const Translation translation =
        translate_lines(
            service, std::vector<std::string>{line},
            {.config = {.beam_size = 3},
             .demands = shared({.terms = terms("one\tsix\n"), .phrase_policy = policy})})
            .at(0);
    EXPECT_EQ(translation.n_best.at(0).text,
              policy == PhrasePolicy::Always ? "six two three four ." : line);
    EXPECT_EQ(translation.unmet.size(), policy == PhrasePolicy::Always ? 0U : 1U);
  }
}

/// Copies, but replaces a word that has a term after it by the term.
std::vector<TokenId> with_terms_taken(const std::vector<TokenId>& source,
                                      const Tokenizer& tokenizer) {
  std::vector<TokenId> copy;
  for (const TokenId token : source) {
    if (token == tokenizer.id(kTermBegins))
      copy.pop_back();
    else if (token != tokenizer.id(kTermEnds))
      copy.push_back(token);
  }
  return copy;
}

TEST(TranslateTerms, AModelThatKnowsTermsIsShownThemInTheSource) {
  const TokenizerPair pair =
      both_sides(trained_tokenizer({std::string(kTermBegins), std::string(kTermEnds)}));
  const Tokenizer& marking = *pair.source;
  const Distribution obeying = [&](const std::vector<TokenId>& source,
                                   const std::vector<TokenId>& prefix) {
    const auto copy = with_terms_taken(source, marking);
    std::vector<float> scores(static_cast<std::size_t>(marking.size()), -9);
    scores[static_cast<std::size_t>(prefix.size() < copy.size() ? copy[prefix.size()] : kEos)] =
        -0.01F;
    return scores;
  };
  TableEngine engine(marking.size(), obeying);
  TranslationService service({&engine}, pair);
  const std::vector<std::string> lines = {"one two three four .", "one two ."};
  const auto translations = translate_lines(service, lines,
                                            {.config = {.beam_size = 3},
                                             .demands = shared({.terms = terms("three\tsix\n")}),
                                             .reports_words = true,
                                             .reports_attention = true});
  EXPECT_EQ(translations[0].n_best.at(0).text, "one two six four .");
  EXPECT_THAT(translations[0].unmet, IsEmpty());
  for (const TranslatedWord& word : translations[0].n_best.at(0).words)
    EXPECT_EQ(word.attention.size(), 5u) << "the words of the line, without the term";
  EXPECT_EQ(translations[1].n_best.at(0).text, "one two .");
}

}  // namespace
}  // namespace dragoman
