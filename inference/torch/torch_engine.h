// The engine on the module tree: the reference on the CPU, and CUDA's path. Keys and values of the
// decoder are cached: self-attention's per row and grown by a token a step, cross-attention's per
// slot and computed once per sentence.
#pragma once

#include <vector>

#include "inference/engine.h"
#include "model/transformer.h"

namespace dragoman {

class TorchEngine : public Engine {
 public:
  /// Works on the model's device and in its type. `never_emitted`: Tokenizer::never_emitted.
  TorchEngine(Transformer model, std::vector<TokenId> never_emitted);

  std::int64_t vocabulary() const override { return model_->config.target_vocabulary; }
  std::int64_t max_positions() const override;
  std::int64_t preferred_rows() const override;

  std::vector<std::int32_t> admit(std::span<const std::vector<TokenId>> sentences) override;
  void release(std::span<const std::int32_t> slots) override;
  void select(std::span<const RowOrigin> rows) override;
  void step(std::span<const TokenId> previous, std::span<const Exclusion> excluded,
            std::int64_t best, std::span<Candidate> candidates) override;

 private:
  /// Keys and values of one decoder layer.
  struct LayerCache {
    torch::Tensor self_keys, self_values;    // [R, H, T capacity, K]
    torch::Tensor cross_keys, cross_values;  // [slots, H, S capacity, K]
  };
  class CachedAttention;

  void reserve_slots(std::int64_t count, std::int64_t length);
  void reserve_positions(std::int64_t count);
  void place_rows();
  torch::Tensor indices(std::span<const std::int64_t> values) const;
  std::vector<std::int64_t> row_numbers() const;

  Transformer model_;
  torch::TensorOptions options_;  // of the weights
  std::vector<std::int64_t> never_emitted_;
  std::vector<LayerCache> layers_;

  std::vector<std::int32_t> slot_lengths_;  // by slot; 0: free
  std::vector<std::int32_t> row_slots_;     // by row
  std::vector<std::int64_t> row_lengths_;   // tokens that each row has seen
  // Where the rows' queries stand in [slots * W] for cross-attention, W rows of a slot at most.
  std::vector<std::int64_t> row_places_;
  std::int64_t rows_per_slot_ = 1;
};

}  // namespace dragoman
