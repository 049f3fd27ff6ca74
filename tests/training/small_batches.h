// A very small model and batches for it.
#pragma once

#include <cstdint>
#include <vector>

#include "base/random.h"
#include "data/packed_batch.h"
#include "model/file/model_config.h"

namespace dragoman {

inline ModelConfig small_config(double dropout) {
  ModelConfig config = ModelConfig::from_preset(Preset::Tiny);
  config.d_model = 32;
  config.heads = 2;
  config.d_ff = 64;
  config.encoder_layers = config.decoder_layers = 2;
  config.source_vocabulary = config.target_vocabulary = 50;
  config.dropout = config.attention_dropout = config.activation_dropout = dropout;
  return config;
}

/// Sentences of 3 to 11 tokens, each a function of its number.
inline PackedBatch batch_of(const std::vector<std::int64_t>& sentences) {
  PackedBatch batch;
  batch.source.starts = batch.target.starts = {0};
  for (const std::int64_t sentence : sentences) {
    RandomStream random(11, static_cast<std::uint64_t>(sentence));
    for (PackedSide* side : {&batch.source, &batch.target}) {
      const auto length = 2 + random.below(9);
      for (std::uint64_t i = 0; i < length; ++i)
        side->tokens.push_back(static_cast<TokenId>(3 + random.below(47)));
      side->tokens.push_back(2);
      side->starts.push_back(static_cast<std::int32_t>(side->tokens.size()));
    }
    batch.sentences.push_back(sentence);
  }
  return batch;
}

}  // namespace dragoman
