// The layout of a packed batch, and the conversion between two layouts: packed [N, D], on which
// linear layers and the attention kernel work, and padded [B * H, L, K], on which attention in
// plain tensor operations works.
#pragma once

#include <torch/types.h>

#include <cstdint>
#include <memory>
#include <span>

namespace dragoman {

/// Where the heads of a packed batch stand in the padded layout.
struct PaddedLayout {
  /// [B*H*L] int64: for row (b*H+h)*L+t of the padded layout, the row n*H+h of [tokens*H, K] that
  /// stands there; 0 for padding.
  torch::Tensor pad_index;
  /// [tokens*H] int64: the inverse, for row n*H+h the row (b*H+h)*L+t.
  torch::Tensor unpad_index;
  torch::Tensor row_keys;  ///< [B*L] int32 dropout key of each place; undefined = no dropout
};

struct PackedLayout {
  std::int64_t sentences;   ///< B
  std::int64_t tokens;      ///< number of tokens of all sentences, without filler rows
  std::int64_t rows;        ///< N: the tokens, and perhaps filler rows behind them
  std::int64_t longest;     ///< L: tokens of the longest sentence, or more
  std::int64_t heads;       ///< H
  torch::Tensor starts;     ///< [B+1] int32, row of each sentence's first token; last: tokens
  torch::Tensor lengths;    ///< [B] int32
  torch::Tensor positions;  ///< [N] int64, position of each token in its sentence; 0 in filler rows
  torch::Tensor row_keys;   ///< [N] int32 dropout key per token; undefined = no dropout
  mutable std::shared_ptr<const PaddedLayout> padded_layout = {};  ///< made by padded()

  /// `starts` [B+1] is PackedSide::starts or a stretch of it, and need not begin with 0. The number
  /// of rows is rounded up to a multiple of `row_multiple`, so that libraries that compile a kernel
  /// for each shape see few shapes. The filler rows belong to no sentence and add nothing to any
  /// gradient. `longest` becomes at least `least_longest`.
  static PackedLayout from_starts(std::span<const std::int32_t> starts, std::int64_t heads,
                                  torch::Device device, std::int64_t row_multiple = 1,
                                  std::int64_t least_longest = 0);
  /// Turns dropout on: one key per token (kernels/kernels.h, DropoutRule), [tokens].
  void set_row_keys(std::span<const std::int32_t> keys);
  /// Made by the first call, as the attention kernel needs none. To be called by one thread at a
  /// time.
  const PaddedLayout& padded() const;
};

/// x [N, ...], whose rows behind the sentences' `tokens` become zero: the filler rows, which
/// attention kernels leave alone.
torch::Tensor with_zero_filler(torch::Tensor x, std::int64_t tokens);

/// [N, H*K] -> [B*H, L, K]. Padding holds copies of the first token, which masks must hide.
torch::Tensor pad_heads(const torch::Tensor& x, const PackedLayout& layout);
/// [B*H, L, K] -> [N, H*K]; its gradient is zero at padding.
torch::Tensor unpad_heads(const torch::Tensor& x, const PackedLayout& layout);

}  // namespace dragoman
