#include "extras/explanation/explainer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "base/error.h"
#include "tests/extras/explanation/explained_model.h"
#include "tests/names.h"

namespace dragoman {

namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::ThrowsMessage;

// Two heads of two numbers, two queries, two keys.
Activations::Attention two_positions() {
  return {.query = {1, 0, 0, 2, 0, 1, 1, 1},
          .key = {1, 0, 0, 0, 0, 0, 0, 3},
          .value = {},
          .context = {},
          .output = {},
          .stream = {}};
}

float share(double score, double other) {
  return static_cast<float>(std::exp(score) / (std::exp(score) + std::exp(other)));
}

TEST(AttentionWeights, WeightsAreTheSoftmaxOfTheScaledProductsOfEachHead) {
  const AttentionWeights weights = attention_weights(two_positions(), 2, 4, KeyMask::None);
  const double root = std::sqrt(2.0);
  EXPECT_NEAR(weights.at(0, 0, 0), share(1 / root, 0), 1e-6);
  EXPECT_NEAR(weights.at(0, 1, 0), 0.5, 1e-6);
  EXPECT_NEAR(weights.at(1, 0, 1), share(6 / root, 0), 1e-6);
  EXPECT_NEAR(weights.at(1, 1, 1), share(3 / root, 0), 1e-6);
}

TEST(AttentionWeights, KeysThatAreNotMaskedHaveScores) {
  const double root = std::sqrt(2.0);
  EXPECT_THAT(attention_weights(two_positions(), 2, 4, KeyMask::None).scores,
              ElementsAre(1 / root, 0, 0, 0, 0, 6 / root, 0, 3 / root));
  EXPECT_THAT(attention_weights(two_positions(), 2, 4, KeyMask::Causal).scores,
              ElementsAre(1 / root, 0, 0, 0, 0, 3 / root));
}

TEST(AttentionWeights, WeightsOfMaskedKeysAreExactlyZero) {
  const AttentionWeights weights = attention_weights(two_positions(), 2, 4, KeyMask::Causal);
  for (const std::int64_t head : {0, 1}) {
    EXPECT_EQ(weights.at(head, 0, 0), 1);
    EXPECT_EQ(weights.at(head, 0, 1), 0);
    EXPECT_NEAR(weights.at(head, 1, 0) + weights.at(head, 1, 1), 1, 1e-6);
  }
}

TEST(AttentionWeights, WeightsStayFiniteIfScoresAreLarge) {
  Activations::Attention attention = two_positions();
  for (float& value : attention.query) value *= 1e18F;
  for (float& value : attention.key) value *= 1e18F;
  for (const float weight : attention_weights(attention, 2, 4, KeyMask::None).values)
    EXPECT_TRUE(std::isfinite(weight));
}

/// The words that the pieces make, with a bar between them.
std::string words_of(const std::vector<std::string>& pieces) {
  std::string text;
  WordStarts starts;
  for (const std::string& piece : pieces) text += (starts.next(piece) ? "|" : "") + piece;
  return text;
}

TEST(WordStarts, AWordBeginsAtASpace) {
  EXPECT_EQ(words_of({"▁The", "▁teach", "er", "."}), "|▁The|▁teacher.");
  EXPECT_EQ(words_of({"▁", "The", "▁", "cat"}), "|▁The|▁cat");
}

TEST(WordStarts, APieceWithoutSpacesIsAWord) {
  EXPECT_EQ(words_of({"▁", "私", "は", "先生", "です", "。"}), "|▁私|は|先生|です|。");
  EXPECT_EQ(words_of({"▁我们", "不", "知道"}), "|▁我们|不|知道");
  EXPECT_EQ(words_of({"▁ฉัน", "ไม่", "รู้"}), "|▁ฉัน|ไม่|รู้");
  EXPECT_EQ(words_of({"▁ร", "ู้"}), "|▁รู้") << "a vowel belongs to its letter";
}

TEST(WordStarts, TheBytesOfACharacterStayTogether) {
  EXPECT_EQ(words_of({"▁", "<0xE5>", "<0x85>", "<0x88>", "<0xE7>", "<0x94>", "<0x9F>", "two"}),
            "|▁<0xE5><0x85><0x88>|<0xE7><0x94><0x9F>|two");
  EXPECT_EQ(words_of({"▁na", "<0xC3>", "<0xAF>", "ve", "▁<0x"}), "|▁na<0xC3><0xAF>ve|▁<0x");
}

TEST(WordStarts, ScriptsMayStandSideBySide) {
  EXPECT_EQ(words_of({"▁", "DV", "D", "を", "2", "枚", "▁", "買"}), "|▁DVD|を|2|枚|▁買");
  EXPECT_EQ(words_of({"▁저는", "▁학", "생", "입니다"}), "|▁저는|▁학생입니다")
      << "Korean has spaces";
}

const DecodeConfig kSearch{.beam_size = 3, .max_length = 8};

SentenceExplanation explanation_of(std::string_view source,
                                   std::optional<std::string_view> target = std::nullopt) {
  Explainer explainer(weights_of_small_model(), tokenizer_pair(), kSearch);
  return explainer.explain(source, target);
}

/// The sums of a layer's values by its weights, [queries, D].
std::vector<float> contexts(const AttentionWeights& weights, const std::vector<float>& value) {
  const std::size_t d_model = value.size() / static_cast<std::size_t>(weights.keys);
  std::vector<float> all;
  for (std::int64_t q = 0; q < weights.queries; ++q)
    for (std::size_t c = 0; c < d_model; ++c) {
      const auto head =
          static_cast<std::int64_t>(c * static_cast<std::size_t>(weights.heads) / d_model);
      double sum = 0;
      for (std::int64_t k = 0; k < weights.keys; ++k)
        sum += static_cast<double>(weights.at(head, q, k)) *
               static_cast<double>(value[static_cast<std::size_t>(k) * d_model + c]);
      all.push_back(static_cast<float>(sum));
    }
  return all;
}

void expect_near(const std::vector<float>& found, const std::vector<float>& expected) {
  ASSERT_EQ(found.size(), expected.size());
  for (std::size_t i = 0; i < found.size(); ++i) EXPECT_NEAR(found[i], expected[i], 1e-5);
}

TEST(Explainer, WeightsAreThoseThatTheEngineAttendsBy) {
  const SentenceExplanation all = explanation_of("one two three", "Four five.");
  const auto expect_contexts = [](const std::vector<AttentionWeights>& layers,
                                  const std::vector<Activations::Attention>& activations) {
    ASSERT_EQ(layers.size(), activations.size());
    for (std::size_t layer = 0; layer < layers.size(); ++layer)
      expect_near(contexts(layers[layer], activations[layer].value), activations[layer].context);
  };
  expect_contexts(all.encoder, all.activations.encoder);
  expect_contexts(all.decoder, all.activations.decoder);
  expect_contexts(all.cross, all.activations.cross);
  const auto sources = static_cast<std::int64_t>(all.source_tokens.size());
  const auto targets = static_cast<std::int64_t>(all.target_tokens.size());
  EXPECT_EQ(all.encoder[0].queries, sources);
  EXPECT_EQ(all.decoder[0].keys, targets);
  EXPECT_EQ(all.cross[0].queries, targets);
  EXPECT_EQ(all.cross[0].keys, sources);
}

TEST(Explainer, TheTranslationHasTheProbabilitiesOfTheSearch) {
  const SentenceExplanation all = explanation_of("one two three");
  ASSERT_TRUE(all.search);
  const Hypothesis& found = all.search->trace.translation;
  ASSERT_GE(all.target_tokens.size(), found.log_probabilities.size());
  for (std::size_t t = 0; t < found.log_probabilities.size(); ++t)
    EXPECT_NEAR(all.target_tokens[t].log_probability, found.log_probabilities[t], 1e-5);
  EXPECT_EQ(all.target, tokenizer().decode(found.tokens));
  EXPECT_LE(all.search->greedy_sum, 0);
}

TEST(Explainer, TheMostProbableTokensOfEachStepAreListed) {
  const SentenceExplanation all = explanation_of("one two three", "Four five.");
  EXPECT_FALSE(all.search);
  for (const ExplainedToken& token : all.target_tokens) {
    ASSERT_EQ(token.most_probable.size(), 10u);
    EXPECT_TRUE(std::ranges::is_sorted(token.most_probable, ranks_before));
    for (const Candidate& candidate : token.most_probable)
      if (candidate.token == token.id) {
        EXPECT_NEAR(candidate.log_probability, token.log_probability, 1e-6);
      }
  }
}

TEST(Explainer, AnAlternativeBeginsLikeTheTranslationAndContinuesWithItsToken) {
  Explainer explainer(weights_of_small_model(Positions::Sinusoidal, 3), tokenizer_pair(), kSearch);
  const SentenceExplanation all = explainer.explain("one two three", "Four five.");
  std::size_t alternatives = 0;
  for (std::size_t t = 0; t < all.target_tokens.size(); ++t)
    for (const Alternative& other : all.target_tokens[t].alternatives) {
      ++alternatives;
      double before = 0;
      std::vector<TokenId> prefix;
      for (std::size_t i = 0; i < t; ++i) {
        before += static_cast<double>(all.target_tokens[i].log_probability);
        prefix.push_back(all.target_tokens[i].id);
      }
      EXPECT_NE(other.token, all.target_tokens[t].id);
      EXPECT_LE(other.sum, before);
      prefix.push_back(other.token);
      EXPECT_TRUE(other.text.starts_with(tokenizer().decode(prefix))) << other.text;
    }
  EXPECT_GT(alternatives, 0u);
}

TEST(Explainer, PiecesBelongToWords) {
  const SentenceExplanation all = explanation_of("one twothree", "Four");
  std::vector<std::optional<std::int64_t>> words;
  std::string text;
  for (const ExplainedToken& token : all.source_tokens) {
    words.push_back(token.word);
    text += token.piece;
  }
  EXPECT_EQ(text, "\u2581one\u2581twothree</s>");
  EXPECT_EQ(words.front(), 0);
  EXPECT_EQ(words[words.size() - 2], 1);
  EXPECT_EQ(words.back(), std::nullopt);
}

TEST(Explainer, APieceOfAScriptWithoutSpacesIsAWord) {
  const SentenceExplanation all = explanation_of("one 先生two", "Four");
  std::vector<std::string> words;
  for (const ExplainedToken& token : all.source_tokens)
    if (token.word) {
      words.resize(static_cast<std::size_t>(*token.word) + 1);
      words.back() += token.piece;
    }
  EXPECT_EQ(words,
            (std::vector<std::string>{"▁one", "▁<0xE5><0x85><0x88>", "<0xE7><0x94><0x9F>", "two"}));
}

TEST(Explainer, GreedySearchHasItsPieces) {
  const SentenceExplanation all = explanation_of("one two three");
  ASSERT_TRUE(all.search);
  std::vector<TokenId> pieces = all.search->greedy_tokens;
  ASSERT_FALSE(pieces.empty());
  EXPECT_EQ(pieces.back(), tokenizer().eos_id());
  pieces.pop_back();
  EXPECT_EQ(tokenizer().decode(pieces), all.search->greedy);
}

TEST(Explainer, ASumIsTokenAndPosition) {
  const auto weights = weights_of_small_model(Positions::Learned);
  Explainer explainer(weights, tokenizer_pair(), kSearch);
  const SentenceExplanation all = explainer.explain("one two three", "Four five.");
  for (const Activations::Embedding* side : {&all.activations.source, &all.activations.target}) {
    ASSERT_EQ(side->sum.size(), side->token.size());
    for (std::size_t i = 0; i < side->sum.size(); ++i)
      EXPECT_NEAR(side->token[i] + side->position[i], side->sum[i], 1e-6);
  }
  for (std::size_t i = 0; i < all.activations.source.position.size(); ++i)
    EXPECT_NEAR(all.activations.source.position[i], weights->source_positions[i], 1e-6);
  for (std::size_t c = 0; c < 4; ++c) EXPECT_EQ(all.activations.target.token[c], 0);
}

TEST(Explainer, ASourceMayHaveNoEnd) {
  TokenizerPair tokenizers = tokenizer_pair();
  tokenizers.source_eos = false;
  Explainer explainer(weights_of_small_model(), tokenizers, kSearch);
  const SentenceExplanation all = explainer.explain("one two three", std::nullopt);
  const std::size_t pieces = tokenizer().encode("one two three").size();
  ASSERT_EQ(all.source_tokens.size(), pieces);
  EXPECT_EQ(all.cross[0].keys, static_cast<std::int64_t>(pieces));
  EXPECT_EQ(all.target_tokens.back().id, tokenizer().eos_id());
  EXPECT_EQ(explanation_of("one two three").source_tokens.size(), pieces + 1);
}

TEST(Explainer, TextThatCannotBeShownIsRefused) {
  const auto message = [](std::string_view source, std::optional<std::string_view> target) {
    return [=] { explanation_of(source, target); };
  };
  std::string many;
  for (int i = 0; i < 2000; ++i) many += "one ";
  EXPECT_THAT(message(many, std::nullopt),
              ThrowsMessage<UnfitText>(Names("sentence ... 2,001 ... 256")));
  EXPECT_THAT(message("one", many), ThrowsMessage<Error>(Names("translation ... 2,001")));
  EXPECT_THAT(message(" ", std::nullopt), ThrowsMessage<Error>(Names("sentence ... no text")));
  EXPECT_THAT(message("one", ""), ThrowsMessage<Error>(Names("translation ... no text")));
  EXPECT_THAT(message("\xff", std::nullopt), ThrowsMessage<Error>(HasSubstr("not valid UTF-8")));
  DecodeConfig search = kSearch;
  search.attention_layer = 2;
  EXPECT_THROW(Explainer(weights_of_small_model(), tokenizer_pair(), search), UsageError);
}

TEST(Explainer, ASecondSentenceIsExplainedAsTheFirstOfAnotherExplainer) {
  Explainer explainer(weights_of_small_model(), tokenizer_pair(), kSearch);
  explainer.explain("Four five. six, one", std::nullopt);
  const SentenceExplanation second = explainer.explain("one two", std::nullopt);
  const SentenceExplanation first = explanation_of("one two");
  EXPECT_EQ(second.target, first.target);
  EXPECT_EQ(second.activations.encoder[0].query, first.activations.encoder[0].query);
  EXPECT_EQ(second.cross[0].values, first.cross[0].values);
}

}  // namespace

}  // namespace dragoman
