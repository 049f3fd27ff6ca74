#include "inference/torch/packed_sentences.h"

#include <cstdint>

namespace dragoman {

PackedTokens packed_sentences(Transformer& model, std::span<const std::vector<TokenId>> sentences) {
  std::vector<std::int32_t> tokens, starts = {0};
  for (const std::vector<TokenId>& sentence : sentences) {
    tokens.insert(tokens.end(), sentence.begin(), sentence.end());
    starts.push_back(static_cast<std::int32_t>(tokens.size()));
  }
  return packed_tokens(tokens, starts, model->config.heads, model->output_weight().device());
}

}  // namespace dragoman
