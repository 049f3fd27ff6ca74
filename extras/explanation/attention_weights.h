// The attention weights behind recorded queries and keys, by the paper's formula.
#pragma once

#include <cstdint>
#include <vector>

#include "inference/cpu/activations.h"

namespace dragoman {

enum class KeyMask {
  None,
  Causal,  ///< a query attends to its own position and those before it
};

/// softmax(q k^T / sqrt(d_k)) of each head (equation 1), computed in double precision.
struct AttentionWeights {
  std::int64_t heads, queries, keys;
  KeyMask mask;
  std::vector<float> values;   ///< [heads, queries, keys]; a masked key has exactly 0
  std::vector<double> scores;  ///< q k^T / sqrt(d_k) of the keys that are not masked, in the order
                               ///< of the values

  float at(std::int64_t head, std::int64_t query, std::int64_t key) const {
    return values[static_cast<std::size_t>((head * queries + query) * keys + key)];
  }
};

/// `d_model` floats are a row of the queries and keys, and `heads` divides it.
AttentionWeights attention_weights(const Activations::Attention& attention, std::int64_t heads,
                                   std::int64_t d_model, KeyMask mask);

}  // namespace dragoman
