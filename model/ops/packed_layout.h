// The layout of a packed batch, and the conversion between two layouts: packed [N, D], on which
// linear layers and the attention kernel work, and padded [B * H, L, K], on which attention in
// plain tensor operations works; and how a list of numbers gets to a device.
#pragma once

#include <ATen/ops/empty.h>
#include <ATen/ops/from_blob.h>
#include <torch/types.h>

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

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
  std::int64_t rows;        ///< N: the tokens, then perhaps filler rows
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
  /// The first call makes it, as the attention kernel needs none. Only one thread at a time may
  /// call it.
  const PaddedLayout& padded() const;
};

/// x [N, ...], whose rows after the sentences' `tokens` become zero: the filler rows, which
/// attention kernels leave alone.
torch::Tensor with_zero_filler(torch::Tensor x, std::int64_t tokens);

/// [N, H*K] -> [B*H, L, K]. Padding holds copies of the first token, which masks must hide.
torch::Tensor pad_heads(const torch::Tensor& x, const PackedLayout& layout);
/// [B*H, L, K] -> [N, H*K]; its gradient is zero at padding.
torch::Tensor unpad_heads(const torch::Tensor& x, const PackedLayout& layout);

/// A copy of page-locked numbers on a GPU, made on a stream that only copies. The current stream
/// waits for it, the host does not. So the numbers of the next update arrive while the GPU
/// computes.
torch::Tensor copied_to_gpu(const torch::Tensor& locked, torch::Device device);

/// The values as a tensor [n] on the device, of the numbers' type. The copy to a GPU goes through
/// page-locked memory.
template <class Number>
torch::Tensor to_device(const std::vector<Number>& values, torch::Device device) {
  const auto size = std::ssize(values);
  const auto type = c10::CppTypeToScalarType<Number>::value;
  const auto view = torch::from_blob(const_cast<Number*>(values.data()), {size}, type);
  if (!device.is_cuda()) return view.clone().to(device);
  auto locked = torch::empty({size}, torch::TensorOptions(type).pinned_memory(true));
  return copied_to_gpu(locked.copy_(view), device);
}

}  // namespace dragoman
