// What the tests of the module tree share: small models, sentences and their packing, all on the
// tests' device.
#pragma once

#include <gtest/gtest.h>
#include <torch/types.h>

#include <cstdint>
#include <string>
#include <vector>

#include "model/transformer.h"
#include "tests/model/ops/expect_same.h"

namespace dragoman {

/// The paper's model, small and without dropout: D 16, 2 heads, 2 encoder and 3 decoder layers.
ModelConfig small_config();
Transformer initialized(const ModelConfig& config, std::uint64_t seed = 1);

using Sentence = std::vector<std::int32_t>;

/// Token ids below small_config()'s vocabulary.
Sentence random_sentence(std::uint64_t number, std::int64_t length);

enum class RowKeys { None, PerSentence };

struct Pair {
  std::uint64_t number;  ///< decides the dropout
  Sentence source, target;
};

/// Pairs 0, 1, ... of the given lengths.
std::vector<Pair> pairs_of(const std::vector<std::pair<std::int64_t, std::int64_t>>& lengths);

struct PackedPairs {
  PackedTokens source, target;
};
PackedPairs packed(const std::vector<Pair>& pairs, std::int64_t heads, RowKeys row_keys);

struct HiddenStates {
  torch::Tensor memory, hidden;  ///< of one sentence: [S, D], [T, D]
};
/// Those of each pair, computed as one batch.
std::vector<HiddenStates> hidden_states(Transformer& model, const std::vector<Pair>& pairs,
                                        RowKeys row_keys);

/// The mean negative log-likelihood of the targets.
torch::Tensor mean_loss(Transformer& model, const PackedPairs& batch);

}  // namespace dragoman
