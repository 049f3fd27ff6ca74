// Corpora in memory for tests.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "base/random.h"
#include "data/corpus.h"

namespace dragoman {

using TokenPair = std::pair<std::vector<TokenId>, std::vector<TokenId>>;

/// Pair i stands on line `3 * i`.
inline std::string corpus_bytes(const std::vector<TokenPair>& pairs, std::int64_t vocab_size,
                                const CorpusFacts& facts = {}) {
  std::string bytes;
  CorpusWriter writer([&bytes](std::string_view part) { bytes += part; }, vocab_size);
  for (std::size_t i = 0; i < pairs.size(); ++i)
    writer.add(static_cast<std::int64_t>(3 * i), pairs[i].first, pairs[i].second);
  writer.finish(facts);
  return bytes;
}

inline Corpus corpus_of(const std::vector<TokenPair>& pairs, std::int64_t vocab_size = 1000) {
  return Corpus(Corpus::Storage::from_bytes(corpus_bytes(pairs, vocab_size)));
}

/// Pairs whose sides have similar lengths, up to `longest`; some sides are empty.
inline std::vector<TokenPair> random_pairs(int count, int longest, std::int64_t vocab_size = 1000) {
  RandomStream random(count, longest);
  const auto side = [&](std::size_t length) {
    std::vector<TokenId> tokens(length);
    for (TokenId& token : tokens) token = static_cast<TokenId>(random.below(vocab_size));
    return tokens;
  };
  std::vector<TokenPair> pairs;
  for (int i = 0; i < count; ++i) {
    const std::size_t length = random.below(longest + 1);
    auto shorter = side(length), longer = side(length + random.below(4));
    if (random.chance(0.5)) std::swap(shorter, longer);
    pairs.emplace_back(shorter, longer);
  }
  return pairs;
}

}  // namespace dragoman
