// Where the sentences of a packed batch lie, and the way between two layouts: the packed one [N,
// D], which linear layers see, and the padded one [B * H, L, K], which attention sees.
#pragma once

#include <torch/types.h>

#include <cstdint>
#include <span>

namespace dragoman {

struct PackedLayout {
  std::int64_t sentences;   ///< B
  std::int64_t tokens;      ///< of all sentences
  std::int64_t rows;        ///< N: the tokens, and perhaps filler rows behind them
  std::int64_t longest;     ///< L: positions of a sentence in the padded layout
  std::int64_t heads;       ///< H
  torch::Tensor starts;     ///< [B+1] int32
  torch::Tensor lengths;    ///< [B] int32
  torch::Tensor positions;  ///< [N] int64, of each token in its sentence; 0 for filler rows
  /// [B*H*L] int64: for each position of the padded layout, the row n*H+h of [tokens*H, K] that
  /// stands there; 0 for padding.
  torch::Tensor head_rows;
  /// [tokens*H] int64: the inverse, for row n*H+h the position (b*H+h)*L+t.
  torch::Tensor head_places;
  torch::Tensor row_keys;         ///< [N] int32 dropout key per token; undefined = no dropout
  torch::Tensor padded_row_keys;  ///< [B*L] int32, the same by padded position

  /// `starts` is [B+1] as in PackedSide, or a stretch of it. The number of rows is rounded up to a
  /// multiple of `row_multiple`, so that libraries that compile a kernel for each shape see few
  /// shapes. The filler rows belong to no sentence and add nothing to any gradient.
  static PackedLayout from_starts(std::span<const std::int32_t> starts, std::int64_t heads,
                                  torch::Device device, std::int64_t row_multiple = 1);
  /// Turns dropout on: one key per token (kernels/kernels.h, DropoutSite), [tokens].
  void set_row_keys(std::span<const std::int32_t> keys);
};

/// [N, H*K] -> [B*H, L, K]. Padding holds copies of the first token, which masks must hide.
torch::Tensor pad_heads(const torch::Tensor& x, const PackedLayout& layout);
/// [B*H, L, K] -> [N, H*K]; its gradient is zero at padding.
torch::Tensor unpad_heads(const torch::Tensor& x, const PackedLayout& layout);

}  // namespace dragoman
