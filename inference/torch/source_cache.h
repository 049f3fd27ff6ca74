// Keys and values of the decoder's cross-attention for each source sentence: computed once when it
// is admitted, shared by its rows.
#pragma once

#include <torch/types.h>

#include <cstdint>
#include <span>
#include <vector>

#include "inference/search/engine.h"
#include "model/transformer.h"

namespace dragoman {

class SourceCache {
 public:
  SourceCache(const ModelConfig& config, torch::TensorOptions like);

  /// A slot for each sentence of `layout`, whose encoder output is memory [N, D].
  std::vector<std::int32_t> admit(Transformer& model, const torch::Tensor& memory,
                                  const PackedLayout& layout);
  /// Takes no memory.
  void release(std::span<const std::int32_t> slots);

  /// The slots of the rows that attend from now on [R]; rows of one slot stand side by side.
  void set_rows(std::span<const RowOrigin> rows);

  /// softmax(q K^T / sqrt(d_k)) V of each row over its source sentence. q [R, D] -> [R, D].
  torch::Tensor attend(std::int64_t layer, const torch::Tensor& q) const;
  /// The softmax alone, of one head (from 1) or as the mean of all (0): S numbers for each row, S
  /// the length of its source sentence, rows one after the other.
  std::vector<float> weights(std::int64_t layer, const torch::Tensor& q, std::int64_t head) const;

 private:
  /// q [R, D] -> [A, H, J, K]: of A sentences that the cache holds, released ones too, J rows each.
  torch::Tensor by_sentence(const torch::Tensor& q) const;

  struct Layer {
    torch::Tensor keys, values;  // [sentences, H, S, K], in the order of slots_
  };

  void keep_sentences(const std::vector<std::int64_t>& kept, std::int64_t added,
                      std::int64_t longest);

  std::int64_t heads_, d_k_;
  torch::TensorOptions options_;
  std::vector<Layer> layers_;
  std::vector<std::int32_t> slots_;    // of each sentence; -1 once released
  std::vector<std::int64_t> lengths_;  // of each sentence
  std::vector<std::int32_t> free_slots_;
  std::int32_t next_slot_ = 0;          // where none is free
  torch::Tensor mask_;                  // [sentences, 1, 1, S], true within the sentence
  std::int64_t rows_per_sentence_ = 1;  // J
  torch::Tensor row_of_cell_;  // [sentences * J]: the row of each cell, 0 where there is none
  torch::Tensor cell_of_row_;  // [R]: the inverse
};

}  // namespace dragoman
