#include "tokenizer/subword_sampler.h"

#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <set>

#include "base/error.h"
#include "base/fields.h"
#include "tests/tokenizer/sample_text.h"

namespace dragoman {
namespace {

TEST(PieceTable, AllPiecesThatATextStartsWithAreFound) {
  PieceTable table;
  const auto words = sample_text(300);
  for (std::size_t i = 0; i < words.size(); ++i)
    table.add(words[i].substr(0, 1 + i % 17), static_cast<TokenId>(i % 17));
  for (const std::string& word : words) {
    std::vector<std::size_t> expected, found;
    for (std::size_t size = 1; size <= word.size(); ++size)
      if (table.find(word.substr(0, size))) expected.push_back(size);
    table.for_each_prefix(word, [&](std::size_t size, TokenId id) {
      found.push_back(size);
      EXPECT_EQ(static_cast<std::size_t>(id) + 1, size);
    });
    EXPECT_EQ(found, expected);
    EXPECT_FALSE(found.empty());
  }
  EXPECT_FALSE(table.find("no"));
  EXPECT_FALSE(table.find(""));
}

using Parts = std::vector<std::string>;
using Distribution = std::map<Parts, double>;

/// A vocabulary of a few pieces; the first has id 0.
ScoredPieces pieces_of(const std::vector<std::pair<std::string, double>>& scored) {
  ScoredPieces pieces;
  for (const auto& [piece, score] : scored) {
    pieces.table.add(piece, static_cast<TokenId>(pieces.scores.size()));
    pieces.scores.push_back(score);
    pieces.lowest_score = std::min(pieces.lowest_score, score);
  }
  return pieces;
}

template <class Sample>
Distribution frequencies(int draws, Sample&& sample) {
  Distribution distribution;
  for (int i = 0; i < draws; ++i) {
    RandomStream random(11, i);
    const auto parts = sample(random);
    distribution[Parts(parts.begin(), parts.end())] += 1.0 / draws;
  }
  return distribution;
}

/// Five standard deviations of a frequency.
void expect_near(const Distribution& found, const Distribution& exact, int draws) {
  for (const auto& [parts, probability] : exact) {
    const double deviation = std::sqrt(probability * (1 - probability) / draws);
    const auto at = found.find(parts);
    EXPECT_NEAR(at == found.end() ? 0 : at->second, probability, 5 * deviation + 1e-9)
        << testing::PrintToString(parts);
  }
  for (const auto& [parts, frequency] : found)
    EXPECT_TRUE(exact.contains(parts)) << testing::PrintToString(parts);
}

/// All segmentations into pieces or unknown characters (of one byte), weighted exp(alpha score).
void add_segmentations(const ScoredPieces& pieces, const std::string& text, double alpha,
                       Parts parts, double weight, Distribution& all) {
  if (text.empty()) {
    all[parts] += weight;
    return;
  }
  bool known = false;
  for (std::size_t size = 1; size <= text.size(); ++size) {
    const auto id = pieces.table.find(text.substr(0, size));
    if (!id && !(size == 1 && !known && !pieces.table.find(text.substr(0, 1)))) continue;
    known |= size == 1;
    const double score =
        id ? pieces.scores[static_cast<std::size_t>(*id)] : pieces.lowest_score - 10;
    Parts longer = parts;
    longer.push_back(text.substr(0, size));
    add_segmentations(pieces, text.substr(size), alpha, longer, weight * std::exp(alpha * score),
                      all);
  }
}

Distribution normalised(Distribution weights) {
  double sum = 0;
  for (const auto& [parts, weight] : weights) sum += weight;
  for (auto& [parts, weight] : weights) weight /= sum;
  return weights;
}

TEST(UnigramSample, EverySegmentationIsDrawnWithItsProbability) {
  const ScoredPieces pieces = pieces_of({{"a", -2},
                                         {"b", -3},
                                         {"c", -2.5},
                                         {"ab", -2.2},
                                         {"bc", -4},
                                         {"abc", -5},
                                         {"cab", -3.5},
                                         {"xa", -1}});
  for (const double alpha : {0.1, 0.5, 1.0})
    for (const std::string text : {"abcabc", "axab", "x"}) {
      Distribution exact;
      add_segmentations(pieces, text, alpha, {}, 1, exact);
      const int draws = 20'000;
      expect_near(frequencies(draws,
                              [&](RandomStream& random) {
                                return unigram_sample(pieces, text, alpha, random);
                              }),
                  normalised(exact), draws);
    }
}

/// Adds all outcomes of merging `parts` if each step leaves out every merge with probability
/// `dropout`. `dropped` has the merges that this step has left out, by the bytes at which the left
/// part begins, the left part ends and the right part ends.
void add_outcomes(const ScoredPieces& pieces, const Parts& parts,
                  std::set<std::array<std::size_t, 3>> dropped, double dropout, double probability,
                  Distribution& all) {
  std::size_t begin = 0, best = parts.size();
  double best_score = 0;
  std::array<std::size_t, 3> best_place{};
  for (std::size_t i = 0; i + 1 < parts.size(); begin += parts[i++].size()) {
    const auto id = pieces.table.find(parts[i] + parts[i + 1]);
    const std::array<std::size_t, 3> place = {begin, begin + parts[i].size(),
                                              begin + parts[i].size() + parts[i + 1].size()};
    if (!id || dropped.contains(place)) continue;
    const double score = pieces.scores[static_cast<std::size_t>(*id)];
    if (best < parts.size() && score <= best_score) continue;
    best = i;
    best_score = score;
    best_place = place;
  }
  if (best == parts.size()) {
    all[parts] += probability;
    return;
  }
  Parts merged = parts;
  merged[best] += merged[best + 1];
  merged.erase(merged.begin() + static_cast<std::ptrdiff_t>(best) + 1);
  add_outcomes(pieces, merged, {}, dropout, probability * (1 - dropout), all);
  dropped.insert(best_place);
  add_outcomes(pieces, parts, dropped, dropout, probability * dropout, all);
}

TEST(BpeWithDropout, EverySegmentationIsDrawnWithItsProbability) {
  const ScoredPieces pieces = pieces_of({{"ab", 0},
                                         {"cd", -1},
                                         {"bc", -2},
                                         {"abcd", -3},
                                         {"abc", -4},
                                         {"da", -5},
                                         {"bcd", -6},
                                         {"a", -7}});
  for (const double dropout : {0.1, 0.4})
    for (const std::string text : {"abcd", "abcdab", "bcda"}) {
      Parts characters;
      for (const char c : text) characters.emplace_back(1, c);
      Distribution exact;
      add_outcomes(pieces, characters, {}, dropout, 1, exact);
      EXPECT_GT(exact.size(), 3u);
      const int draws = 20'000;
      expect_near(frequencies(draws,
                              [&](RandomStream& random) {
                                return bpe_with_dropout(pieces, text, dropout, random);
                              }),
                  exact, draws);
    }
}

class SamplerOfEachType : public testing::TestWithParam<TokenizerType> {
 protected:
  static std::shared_ptr<const Tokenizer> trained() {
    TokenizerConfig config{.vocab_size = 500, .type = GetParam()};
    config.user_symbols = {"<bt>", "<b"};
    return std::make_shared<const Tokenizer>(train_on(sample_text(400), config));
  }
  static std::vector<std::string> lines() {
    auto lines = sample_text(60);
    lines.insert(lines.end(), {"<bt> the dog", "x<bt><b<bt>", "漢字 and 😀 Ωμέγα", "", "  a  b ",
                               "unfriendly ﬁsh 1234567"});
    return lines;
  }
};

INSTANTIATE_TEST_SUITE_P(Types, SamplerOfEachType,
                         testing::Values(TokenizerType::Unigram, TokenizerType::Bpe),
                         [](const auto& info) { return std::string(name_of(info.param)); });

/// No dropout for BPE; for unigram an alpha with which only the best segmentation is drawn.
TEST_P(SamplerOfEachType, WithoutRandomnessTheSegmentationIsTheTokenizers) {
  const auto tokenizer = trained();
  const SubwordSampler sampler(tokenizer, GetParam() == TokenizerType::Bpe ? 0 : 1e4);
  for (const std::string& line : lines()) {
    const auto tokens = tokenizer->encode(line);
    EXPECT_EQ(sampler.sample(tokens, 5), tokens) << line;
  }
}

TEST_P(SamplerOfEachType, TheTextAndItsSymbolsStay) {
  const auto tokenizer = trained();
  const SubwordSampler sampler(tokenizer, 0.2);
  int changed = 0;
  for (const std::string& line : lines()) {
    const auto tokens = tokenizer->encode(line);
    for (std::uint64_t key = 0; key < 20; ++key) {
      const auto sampled = sampler.sample(tokens, key);
      EXPECT_EQ(tokenizer->decode(sampled), tokenizer->decode(tokens)) << line;
      for (const char* symbol : {"<bt>", "<b"}) {
        const TokenId id = tokenizer->id(symbol);
        EXPECT_EQ(std::count(sampled.begin(), sampled.end(), id),
                  std::count(tokens.begin(), tokens.end(), id));
      }
      changed += sampled != tokens;
    }
  }
  EXPECT_GT(changed, 400);
}

TEST_P(SamplerOfEachType, ASampleIsAFunctionOfTheKey) {
  const auto tokenizer = trained();
  const double strength = GetParam() == TokenizerType::Bpe ? 0.6 : 0.3;
  const SubwordSampler sampler(tokenizer, strength);
  const auto tokens = tokenizer->encode(sample_text(1)[0]);
  std::set<std::vector<TokenId>> different;
  for (std::uint64_t key = 0; key < 50; ++key) {
    different.insert(sampler.sample(tokens, key));
    EXPECT_EQ(sampler.sample(tokens, key), SubwordSampler(tokenizer, strength).sample(tokens, key));
  }
  EXPECT_GT(different.size(), 20u);
}

TEST(SubwordSampler, AtStrength1EveryMergeIsDropped) {
  const auto tokenizer = std::make_shared<const Tokenizer>(
      train_on(sample_text(100), {.vocab_size = 400, .type = TokenizerType::Bpe}));
  const auto sampled = SubwordSampler(tokenizer, 1).sample(tokenizer->encode("the dog"), 1);
  EXPECT_EQ(sampled.size(), 8u) << "a space and seven characters";
}

}  // namespace
}  // namespace dragoman
