// Keys and values of the decoder's cross-attention for each source sentence: computed once when it
// is admitted, shared by its rows.
#pragma once

#include <torch/types.h>

#include <cstdint>
#include <span>
#include <vector>

#include "inference/engine.h"
#include "model/transformer.h"

namespace dragoman {

class SourceCache {
 public:
  SourceCache(const ModelConfig& config, torch::TensorOptions like);

  /// A slot for each sentence of `layout`, whose encoder output is memory [N, D].
  std::vector<std::int32_t> admit(Transformer& model, const torch::Tensor& memory,
                                  const PackedLayout& layout);
  void release(std::span<const std::int32_t> slots);

  /// The slots of the rows that attend from now on [R]; rows of one slot stand side by side.
  void set_rows(std::span<const RowOrigin> rows);

  /// softmax(q K^T / sqrt(d_k)) V of each row over its source sentence. q [R, D] -> [R, D].
  torch::Tensor attend(std::int64_t layer, const torch::Tensor& q) const;
  /// The softmax alone, of one head (from 1) or as the mean of all (0): S numbers for each row, S
  /// the length of its source sentence, rows one after the other.
  std::vector<float> weights(std::int64_t layer, const torch::Tensor& q, std::int64_t head) const;

 private:
  /// q [R, D] -> [A, H, J, K].
  torch::Tensor placed(const torch::Tensor& q) const;

  struct Layer {
    torch::Tensor keys, values;  // [places, H, S, K], places in the order of slots_
  };

  void keep_places(const std::vector<std::int64_t>& kept, std::int64_t added, std::int64_t longest);
  void place_rows();

  std::int64_t heads_, d_k_;
  torch::TensorOptions options_;
  std::vector<Layer> layers_;
  std::vector<std::int32_t> slots_;    // of each place; -1 once released
  std::vector<std::int64_t> lengths_;  // of each place's sentence
  std::vector<std::int32_t> free_slots_;
  std::int32_t next_slot_ = 0;  // where none is free
  torch::Tensor mask_;          // [places, 1, 1, S], true within the sentence
  std::vector<std::int32_t> row_slots_;
  std::int64_t rows_per_place_ = 1;  // J
  torch::Tensor rows_at_;            // [places * J]: row at each place, 0 where there is none
  torch::Tensor places_of_;          // [R]: the inverse
};

}  // namespace dragoman
