// The site numbers of the dropouts: each has its own, so that their masks differ
// (model/ops/dropout.h). A run that is resumed needs the same numbers as before.
#pragma once

#include <cstdint>

namespace dragoman {

enum class EmbeddingDropout : std::uint32_t { Source, Target };
enum class EncoderDropout : std::uint32_t {
  AttentionWeights,
  InnerLayer,  ///< of the feed-forward network
  SelfAttention,
  FeedForward
};
enum class DecoderDropout : std::uint32_t {
  SelfAttentionWeights,
  CrossAttentionWeights,
  InnerLayer,
  SelfAttention,
  CrossAttention,
  FeedForward
};

/// The embeddings have 0 and 1. Each layer has eight: the encoder's layers from 8 on, the decoder's
/// from 8 * 1024 on. Layers count from 0.
constexpr std::uint32_t dropout_site(EmbeddingDropout dropout) {
  return static_cast<std::uint32_t>(dropout);
}
constexpr std::uint32_t dropout_site(EncoderDropout dropout, std::int64_t layer) {
  return static_cast<std::uint32_t>((1 + layer) * 8) + static_cast<std::uint32_t>(dropout);
}
constexpr std::uint32_t dropout_site(DecoderDropout dropout, std::int64_t layer) {
  return static_cast<std::uint32_t>((1024 + layer) * 8) + static_cast<std::uint32_t>(dropout);
}

}  // namespace dragoman
