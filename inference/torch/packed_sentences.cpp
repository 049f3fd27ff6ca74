#include "inference/torch/packed_sentences.h"

namespace dragoman {

void PackedSentences::add(std::span<const TokenId> sentence) {
  tokens.insert(tokens.end(), sentence.begin(), sentence.end());
  starts.push_back(static_cast<std::int32_t>(tokens.size()));
}

PackedTokens PackedSentences::on_device_of(const Transformer& model) const {
  return packed_tokens(tokens, starts, model->config.heads, model->output_weight().device());
}

PackedTokens packed_sentences(Transformer& model, std::span<const std::vector<TokenId>> sentences) {
  PackedSentences all;
  for (const std::vector<TokenId>& sentence : sentences) all.add(sentence);
  return all.on_device_of(model);
}

}  // namespace dragoman
