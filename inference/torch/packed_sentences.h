// Sentences as the module tree reads them.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "inference/search/engine.h"
#include "model/transformer.h"

namespace dragoman {

/// Sentences one behind the other.
struct PackedSentences {
  std::vector<std::int32_t> tokens, starts = {0};

  void add(std::span<const TokenId> sentence);
  PackedTokens on_device_of(const Transformer& model) const;
};

/// The sentences on the model's device.
PackedTokens packed_sentences(Transformer& model, std::span<const std::vector<TokenId>> sentences);

}  // namespace dragoman
