#include "model/attention_memory.h"

#include <algorithm>

#include "kernels/kernels.h"

namespace dragoman {

namespace {

std::int64_t longest(std::span<const std::int32_t> starts) {
  std::int64_t length = 0;
  for (std::size_t b = 0; b + 1 < starts.size(); ++b)
    length = std::max<std::int64_t>(length, starts[b + 1] - starts[b]);
  return length;
}

/// Scores of all heads and sentences, padded to the longest; none where the kernel has room for the
/// keys of each.
std::int64_t padded_scores(const ModelConfig& config, std::span<const std::int32_t> queries,
                           std::span<const std::int32_t> keys) {
  const std::int64_t T = longest(queries), S = longest(keys);
  if (fits_packed_attention(S, config.d_k())) return 0;
  return static_cast<std::int64_t>(keys.size() - 1) * config.heads * T * S;  // B H T S
}

}  // namespace

std::int64_t attention_memory(const ModelConfig& config, const SentenceStarts& starts,
                              std::int64_t element_size, Pass pass) {
  const std::int64_t encoder = padded_scores(config, starts.source, starts.source),
                     decoder = padded_scores(config, starts.target, starts.target),
                     cross = padded_scores(config, starts.target, starts.source);
  const std::int64_t largest = std::max({encoder, decoder, cross});
  if (pass == Pass::Forward) return 2 * largest * element_size;
  const std::int64_t all =
      config.encoder_layers * encoder + config.decoder_layers * (decoder + cross);
  const std::int64_t kept = config.attention_dropout > 0 ? 2 : 1;  // weights, before it and after
  return (kept * all + largest) * element_size;
}

}  // namespace dragoman
