// Positional encoding, section 3.5: PE(pos, 2i) = sin(pos / 10000^(2i/D)), PE(pos, 2i+1) = cos of
// the same, interleaved as in the paper; or a learned vector per position.
#pragma once

#include <torch/nn/module.h>
#include <torch/nn/modules/embedding.h>
#include <torch/nn/pimpl.h>

#include <cstdint>

#include "base/mutex.h"
#include "model/file/model_config.h"

namespace dragoman {

/// Rows [0, positions) of the sinusoidal encoding, [positions, D] fp32. `kind`: the paper's, or
/// Marian's (model/file/sinusoids.h).
torch::Tensor sinusoidal_encoding(std::int64_t positions, std::int64_t d_model,
                                  Positions kind = Positions::Sinusoidal);

struct PositionalEncodingImpl : torch::nn::Module {
  explicit PositionalEncodingImpl(const ModelConfig& config);

  /// x [N, D] + the encodings of positions [N], which are all below `length`. Throws Error where
  /// `length` exceeds the learned positions. Several threads may call it at once.
  torch::Tensor source(const torch::Tensor& x, const torch::Tensor& positions, std::int64_t length);
  torch::Tensor target(const torch::Tensor& x, const torch::Tensor& positions, std::int64_t length);

 private:
  torch::Tensor learned(const torch::Tensor& x, const torch::Tensor& positions, std::int64_t length,
                        torch::nn::Embedding& embedding) const;
  torch::Tensor sinusoidal(const torch::Tensor& x, const torch::Tensor& positions,
                           std::int64_t length);

  std::int64_t d_model_;
  Positions kind_;
  std::int64_t max_positions_;
  torch::nn::Embedding source_{nullptr}, target_{nullptr};
  Mutex mutex_;
  // Sinusoidal rows made so far, in the type and on the device of the last use.
  torch::Tensor table_ GUARDED_BY(mutex_);
};
TORCH_MODULE(PositionalEncoding);

}  // namespace dragoman
