// Scaled dot-product attention, section 3.2.1, equation 1, with dropout on the weights:
//   Attention(Q, K, V) = dropout(softmax(Q K^T / sqrt(d_k))) V
// for each head of each sentence. Letters: B sentences, H heads, K = d_k elements of a head, T
// queries and S keys of the longest sentence; N and M rows of queries and keys, D = H * K.
#pragma once

#include <torch/types.h>

#include "model/ops/dropout.h"
#include "model/ops/packed_layout.h"

namespace dragoman {

enum class AttentionMask { Sentence, Causal };

/// The layouts of queries and keys, the mask, and the dropout on the weights. A query sees the keys
/// of its own sentence; with Causal, none after its own position.
struct AttentionPattern {
  const PackedLayout& queries;
  const PackedLayout& keys;
  AttentionMask mask;
  Dropout dropout;
};

/// The ways to compute equation 1 on a packed batch.
enum class AttentionPath {
  /// Our kernel for the CPU, without padding. Its backward pass saves the inputs and the logarithm
  /// of each softmax's denominator, and computes the weights again.
  Kernel,
  Flash,    ///< LibTorch's kernel for GPUs, without padding (Dao 2023)
  Library,  ///< LibTorch's scaled_dot_product_attention on padded heads
  Formula   ///< equation 1 in plain operations on padded heads
};

/// Whether Flash computes heads of `d_k` elements here: on a GPU that has it, in bf16 or fp16, if
/// d_k is a multiple of 8, and if the interface of this build's LibTorch is the one that the
/// program was written for. Flash drops no weights: its masks would differ from ours.
bool has_flash_attention(torch::ScalarType type, torch::Device device, std::int64_t d_k);

/// The path that packed attention takes for queries [N, D] with `width` = D, or [N, 3D] that have
/// keys and values beside them. Dropout on the weights uses our masks, which Flash and Library do
/// not have. If a sentence is too long for Kernel, all are padded.
AttentionPath attention_path(const torch::Tensor& queries, std::int64_t width,
                             const AttentionPattern& pattern);

/// Equation 1 on a packed batch -> [N, D]. Filler rows become zero. Self-attention: queries, keys
/// and values stand side by side in qkv [N, 3D]. Cross-attention: q is [N, D], and kv [M, 2D] has
/// keys beside values.
torch::Tensor packed_self_attention(const torch::Tensor& qkv, const AttentionPattern& pattern);
torch::Tensor packed_cross_attention(const torch::Tensor& q, const torch::Tensor& kv,
                                     const AttentionPattern& pattern);
/// The same for keys and values [M, D] each, whose rows may lie apart. Must not be called if our
/// kernel for the CPU would compute it.
torch::Tensor packed_cross_attention(const torch::Tensor& q, const torch::Tensor& k,
                                     const torch::Tensor& v, const AttentionPattern& pattern);
/// The same by a path that can compute it.
torch::Tensor self_attention_by(AttentionPath path, const torch::Tensor& qkv,
                                const AttentionPattern& pattern);
torch::Tensor cross_attention_by(AttentionPath path, const torch::Tensor& q,
                                 const torch::Tensor& kv, const AttentionPattern& pattern);

/// Equation 1 on the padded layout: q [B*H, T, K], k and v [B*H, S, K] -> [B*H, T, K].
torch::Tensor scaled_dot_product_attention(const torch::Tensor& q, const torch::Tensor& k,
                                           const torch::Tensor& v, const AttentionPattern& pattern);

/// scale * scores, with -infinity for keys that a query may not see.
/// scores [B*H, T, S] -> [B, H, T, S].
torch::Tensor masked_scores(const torch::Tensor& scores, const AttentionPattern& pattern,
                            double scale);

/// dropout(softmax(scale * scores)) over the keys that a query may see. scores [B*H, T, S].
/// Backward saves the weights before dropout.
torch::Tensor attention_weights(const torch::Tensor& scores, const AttentionPattern& pattern,
                                double scale);
/// The same by plain tensor operations (masks and softmax as in the paper), for any device.
torch::Tensor attention_weights_reference(const torch::Tensor& scores,
                                          const AttentionPattern& pattern, double scale);

}  // namespace dragoman
