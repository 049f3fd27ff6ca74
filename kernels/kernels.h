// CPU kernels of whole batches, on raw pointers: those of training, forward and backward, and those
// of inference that read a whole source sentence. One table holds them, which is chosen once for
// the processor. Rows are independent, so a caller may split them over threads as it likes: results
// do not depend on it. Elements are fp32 or bf16; arithmetic is fp32.
#pragma once

#include <cstdint>
#include <string_view>

namespace dragoman {

enum class ElementType { Float32, BFloat16 };

/// The constants of dropout's hash. The first two are lowbias32's (Wellons 2018), the others are
/// odd numbers with well-mixed bits.
namespace dropout_hash {
inline constexpr std::uint32_t kFirstFactor = 0x7FEB352D, kSecondFactor = 0x846CA68B;
inline constexpr std::uint32_t kOfSite = 0x85EBCA6B, kOfHead = 0xC2B2AE35, kOfColumns = 0x9E3779B9;
}  // namespace dropout_hash

/// lowbias32: two multiplications, three xor-shifts.
constexpr std::uint32_t hash32(std::uint32_t x) {
  x = (x ^ (x >> 16)) * dropout_hash::kFirstFactor;
  x = (x ^ (x >> 15)) * dropout_hash::kSecondFactor;
  return x ^ (x >> 16);
}

/// Which elements dropout keeps: element `c` of row `r` is dropped when
/// byte c % 4 of hash32(key(r) + c / 4 * kOfColumns) is below `threshold`, where
/// key(r) = hash32(row_keys[b * queries + t] ^ site * kOfSite) + h * kOfHead
/// and r = (b * heads + h) * queries + t. Plain rows: heads = 1, queries = number of rows.
struct DropoutRule {
  const std::int32_t* row_keys = nullptr;  ///< a random key per token; null = no dropout
  std::uint32_t site = 0;                  ///< which dropout of the model
  std::uint32_t threshold = 0;             ///< rate in 256ths
  std::int64_t heads = 1;
  std::int64_t queries = 0;

  float scale() const { return 256.0F / (256.0F - static_cast<float>(threshold)); }
};

/// y = residual + dropout(x), or dropout(x) if residual is null. Also its own backward pass:
/// dx = dropout(dy). [rows, columns] each; y may be x or residual.
struct DropoutArguments {
  const void* x;
  const void* residual;
  void* y;
  std::int64_t columns;
  DropoutRule dropout;
};

/// y = dropout(relu(x)); y may be x.
struct ReluDropoutArguments {
  const void* x;
  void* y;
  std::int64_t columns;
  DropoutRule dropout;
};

/// Gradient of dropout(relu(x)), from only its output: dx = y > 0 ? dy * scale : 0. dx may be dy.
struct ReluDropoutGradientArguments {
  const void* y;
  const void* dy;
  void* dx;
  std::int64_t columns;
  float scale;
};

/// Attention weights, equation 1 of the paper without the products: softmax(scale * scores) of row
/// r = (b * heads + h) * queries + t over the first key_lengths[b] keys (no more than t + 1 if
/// causal), 0 for the others; and the same after dropout. [rows, keys] each.
struct AttentionWeightsArguments {
  const void* scores;
  void* weights;
  void* dropped;  ///< may equal weights when there is no dropout
  const std::int32_t* key_lengths;
  std::int64_t heads, queries, keys;
  float scale;
  bool causal;
  DropoutRule dropout;
};

/// Gradient with respect to the scores; d_scores may be d_dropped.
struct AttentionWeightsGradientArguments {
  const void* weights;  ///< before dropout
  const void* d_dropped;
  void* d_scores;
  std::int64_t keys;
  float scale;
  DropoutRule dropout;
};

/// Equation 1 for all sentences of a packed batch at once, without padding: for task b * heads + h
/// the queries [starts[b], starts[b + 1]) of head h attend to the keys of sentence b, none after
/// their own position if causal. A token's row of q, k and v is heads * d_k wide, and the rows
/// lie a stride apart; output is [tokens, heads * d_k]; `log_sums` [query tokens, heads] keeps the
/// logarithm of each softmax's denominator for the backward pass. For dropout all query tokens are
/// one sentence: a weight's row is h * dropout.queries + n, and its column is the key's position in
/// its sentence.
struct PackedAttentionArguments {
  const void *q, *k, *v;
  void* output;
  float* log_sums;
  const std::int32_t *query_starts, *key_starts;
  std::int64_t heads, d_k;
  std::int64_t query_stride, key_stride;  ///< elements from a row of q, of k and v, to the next
  std::int64_t longest_keys;              ///< fits_packed_attention(longest_keys, d_k)
  float scale;
  bool causal;
  DropoutRule dropout;
};
struct PackedAttentionGradientArguments {
  PackedAttentionArguments forward;  ///< output is not read
  const void* d_output;              ///< [tokens, heads * d_k]
  void *dq, *dk, *dv;                ///< with the strides of q, k and v
};
/// Whether packed attention computes sentences of up to `longest_keys` keys. Its scratch memory, up
/// to four times a head's keys in fp32 and some queries, is then less than 1.5 MB; if it does not
/// fit into the frame, it comes from the heap. With longer sentences, callers take the padded path.
constexpr bool fits_packed_attention(std::int64_t longest_keys, std::int64_t d_k) {
  return longest_keys <= 512 && d_k <= 512 && longest_keys * d_k <= std::int64_t{512} * 128;
}

/// "Add & Norm" (section 3.1; Ba et al. 2016): sum = residual + dropout(x), y = (sum - mean) *
/// inverse_deviation * gain + bias, with mean and 1 / sqrt(variance + epsilon) of each row of the
/// sum. All [rows, columns] but gain and bias [columns], and the statistics [rows]. `sum` may be x
/// or residual, and y may be x or sum.
struct NormArguments {
  const void* x;
  const void* residual;  ///< null: zero
  const void *gain, *bias;
  void* sum;  ///< null if there is neither residual nor dropout: x
  void* y;
  float *means, *inverse_deviations;  ///< for the backward pass; may be null
  std::int64_t columns;
  float epsilon;
  DropoutRule dropout;
};
/// The gradients of gain and bias are sums over rows. Each `rows_per_sum` rows have sums of their
/// own, to which the kernel adds. So the result does not depend on how rows are divided among
/// threads, as long as the rows of a sum stay together.
struct NormGradientArguments {
  const void* dy;
  const void* d_sum_elsewhere;  ///< the sum's gradient from other uses than y; null: zero
  const void* sum;
  const void* gain;
  const float *means, *inverse_deviations;
  void* d_sum;             ///< also the residual's gradient
  void* d_x;               ///< null if there is no dropout: the same as d_sum
  float *d_gain, *d_bias;  ///< [rows / rows_per_sum, rounded up; columns]
  std::int64_t rows_per_sum;
  std::int64_t columns;
  DropoutRule dropout;
};

/// Cross-entropy with label smoothing (section 5.4; Szegedy et al. 2016): the target distribution
/// is (1 - smoothing) on the target plus smoothing / columns everywhere. Logits are replaced by the
/// gradient of the row's loss with respect to them. A row whose target is below 0 has none: its
/// losses and gradient are 0.
struct LossArguments {
  void* logits;
  const std::int64_t* targets;
  float* losses;  ///< smoothed loss per row
  float* negative_log_likelihoods;
  std::int64_t columns;
  float smoothing;
};

/// y[row, :] = scale * weight[tokens[row], :], zero for a token below zero.
struct EmbeddingArguments {
  const void* weight;  ///< [vocabulary, columns]
  const std::int64_t* tokens;
  void* y;  ///< [rows, columns]
  std::int64_t columns;
  float scale;
};

/// gradient[tokens[g], :] = scale * the sum of d_output[order[n], :] over n in [starts[g],
/// starts[g + 1]), summed in fp32; [begin, end) are groups g. Rows of other tokens stay as they
/// are.
struct EmbeddingGradientArguments {
  const void* d_output;       ///< [rows, columns]
  const std::int64_t* order;  ///< of rows, those of one token side by side
  const std::int64_t* starts;
  const std::int64_t* tokens;  ///< [groups], no two the same
  void* gradient;              ///< [vocabulary, columns]
  std::int64_t columns;
  float scale;
};

/// sums[c] = the sum of x[:, c] in fp32: a bias's gradient. [begin, end) are blocks of kColumnBlock
/// columns.
struct ColumnSumsArguments {
  const void* x;  ///< [rows, columns]
  void* sums;     ///< [columns]
  std::int64_t rows, columns;
};

constexpr std::int64_t kColumnBlock = 128;

/// sums = d_output^T input, or added to them if `add`: the gradient of a linear layer's weight.
/// Without `add` they begin with `start`. If `gradient` is not null, the result is written there,
/// and the sums are scratch. [begin, end) are blocks of kOutputBlock outputs.
struct WeightGradientArguments {
  const void* d_output;  ///< [rows, outputs]
  const void* input;     ///< [rows, inputs]
  float* sums;           ///< [outputs, inputs]
  void* gradient;        ///< [outputs, inputs]
  const float* start;    ///< [inputs], for every output; null: zero
  std::int64_t rows, outputs, inputs;
  bool add;
};

constexpr std::int64_t kOutputBlock = 96;

/// Packs the weights of a product into panels of kProductPanel outputs, padded with zeros. [begin,
/// end) are panels.
struct PackArguments {
  const void* weights;  ///< [outputs, inputs], or [inputs, outputs] if `transposed`
  void* packed;         ///< [packed_size(outputs, inputs)]
  std::int64_t inputs, outputs;
  bool transposed;
};

constexpr std::int64_t kProductPanel = 64;

constexpr std::int64_t packed_size(std::int64_t outputs, std::int64_t inputs) {
  return (outputs + kProductPanel - 1) / kProductPanel * kProductPanel * ((inputs + 1) / 2 * 2);
}

/// y = x W^T + bias.
struct ProductArguments {
  const void* x;       ///< [rows, inputs]
  const void* packed;  ///< W
  const void* bias;    ///< [outputs]; null: zero
  void* y;             ///< [rows, outputs]
  std::int64_t inputs, outputs;
};

/// y = dropout(relu(x W^T + bias)).
struct ReluProductArguments {
  ProductArguments product;
  DropoutRule dropout;
};

/// y = kept > 0 ? scale * (x W^T) : 0, which passes a gradient back through relu and dropout, whose
/// output is `kept`.
struct ReluGradientProductArguments {
  ProductArguments product;
  const void* kept;  ///< [rows, outputs]
  float scale;
};

/// y = scales * (x W^T) - offsets, 0 in rows of scale 0.
struct ScaledProductArguments {
  ProductArguments product;
  const float* scales;   ///< [rows]
  const float* offsets;  ///< [outputs]
};

/// The losses of LossArguments on logits x W^T that never go to memory. In their place y gets
/// exp(logit - target's logit), which add up to the row's total = exp(negative log-likelihood), and
/// 1 - (1 - smoothing) * total on the target: y / total - smoothing / outputs is the gradient of
/// the row's loss with respect to its logits. A row without a target has zeros everywhere. If a
/// row's total is too large for fp32, its losses are not a number; do not read its other results.
struct ProjectedLossArguments {
  ProductArguments product;  ///< without bias
  const void* weight;        ///< W [outputs, inputs]
  const float* weight_sum;   ///< [inputs]: over the outputs
  const std::int64_t* targets;
  float* inverses;  ///< 1 / total
  void* scaled;     ///< [rows, inputs]: x / total
  float *losses, *negative_log_likelihoods;
  float smoothing;
};

/// A kernel for each ElementType: [0] for fp32, [1] for bf16.
template <class Arguments>
using KernelByType = void (*[2])(const Arguments&, std::int64_t begin, std::int64_t end);

/// The kernels of one instruction set. [begin, end) are rows unless a comment says otherwise.
struct BatchKernels {
  std::string_view name;
  KernelByType<DropoutArguments> dropout;
  KernelByType<ReluDropoutArguments> relu_dropout;
  KernelByType<ReluDropoutGradientArguments> relu_dropout_gradient;
  KernelByType<AttentionWeightsArguments> attention_weights;
  KernelByType<AttentionWeightsGradientArguments> attention_weights_gradient;
  /// Rows are tasks b * heads + h.
  KernelByType<PackedAttentionArguments> packed_attention;
  KernelByType<PackedAttentionGradientArguments> packed_attention_gradient;
  KernelByType<NormArguments> add_norm;
  KernelByType<NormGradientArguments> add_norm_gradient;
  KernelByType<ColumnSumsArguments> column_sums;
  KernelByType<LossArguments> loss;
  KernelByType<EmbeddingArguments> embedding;
  KernelByType<EmbeddingGradientArguments> embedding_gradient;
  /// Only for bf16, and only on sets with dot products of bf16; null on others, on which
  /// LibTorch's products are as fast.
  KernelByType<PackArguments> pack_weights = {};
  KernelByType<ProductArguments> product = {};
  KernelByType<ReluProductArguments> relu_product = {};
  KernelByType<ReluGradientProductArguments> relu_gradient_product = {};
  KernelByType<ScaledProductArguments> scaled_product = {};
  KernelByType<ProjectedLossArguments> projected_loss = {};
  KernelByType<WeightGradientArguments> weight_gradient = {};
};

/// The best table for this processor. If the environment variable DRAGOMAN_ISA names a set, its
/// table, or the next one's if the set has none (avx512_vnni). Throws Error if the processor
/// lacks the set.
const BatchKernels& batch_kernels();

/// Runs one of the table's functions over rows [0, rows) on OpenMP's threads, the pool that
/// LibTorch uses; a single block wakes no other thread.
template <class Arguments>
void run_rows(void (*const (&function)[2])(const Arguments&, std::int64_t, std::int64_t),
              ElementType type, const Arguments& arguments, std::int64_t rows, std::int64_t block) {
  const auto chosen = function[static_cast<int>(type)];
#pragma omp parallel for schedule(static) if (rows > block)
  for (std::int64_t begin = 0; begin < rows; begin += block)
    chosen(arguments, begin, begin + block < rows ? begin + block : rows);
}

}  // namespace dragoman
