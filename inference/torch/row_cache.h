// Keys and values of the decoder's self-attention for the tokens that each row has seen: a step
// computes them for one token and attends to all before it.
#pragma once

#include <torch/types.h>

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "inference/search/engine.h"
#include "model/attention.h"
#include "model/file/model_config.h"

namespace dragoman {

/// In a step all rows write the same column, whatever their lengths. So a row that began later has
/// its first token further right. Columns before the first token of every row are dropped.
class RowCache {
 public:
  /// Tensors are made in the type and on the device of `like`.
  RowCache(const ModelConfig& config, torch::TensorOptions like);

  /// Replaces all rows, as StepRequest::rows says.
  void select(std::span<const RowOrigin> rows);

  /// One more token of each row; attend() follows for each layer. Comes after a select().
  void begin_step();

  /// softmax(q K^T / sqrt(d_k)) V of each row over its tokens, the current one included. q, k, v
  /// [R, D] of the current token -> [R, D].
  torch::Tensor attend(std::int64_t layer, const torch::Tensor& q, const torch::Tensor& k,
                       const torch::Tensor& v);

  /// Of each row's current token [R].
  std::vector<std::int64_t> positions() const;

 private:
  struct Layer {
    torch::Tensor keys, values;  // [row capacity, H, column capacity, K]
  };

  void copy_rows(torch::Tensor& cache, const torch::Tensor& parents, std::int64_t dropped);
  bool fits() const;

  std::int64_t heads_, d_k_;
  torch::TensorOptions options_;
  std::vector<Layer> layers_;
  torch::Tensor spare_;               // where the next reordered cache is written
  std::vector<std::int64_t> starts_;  // of each row, its first column
  std::int64_t columns_ = 0;          // in use, the current step's included
  std::int64_t row_capacity_ = 0, column_capacity_ = 0;
  std::optional<torch::Tensor>
      mask_;  // [R, 1, 1, columns], true where a row has a token; none: everywhere
};

}  // namespace dragoman
