#include "model/ops/attention.h"

#include <ATen/Context.h>
#include <ATen/SDPBackend.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/_flash_attention_backward.h>
#include <ATen/ops/_flash_attention_forward.h>
#include <ATen/ops/_fused_sdp_choice.h>
#include <ATen/ops/scaled_dot_product_attention.h>

#include <cmath>
#include <cstdint>
#include <limits>
#include <map>
#include <mutex>
#include <tuple>
#include <vector>

#include "model/ops/column_sums.h"
#include "model/ops/kernel_call.h"

namespace dragoman {

// Equation 1 in tensor operations, on padded heads

namespace {

/// The dropout mask of the attention weights [B*H, T, S].
DropoutMask mask_of_weights(const AttentionPattern& pattern, std::int64_t T) {
  return {pattern.dropout, pattern.queries.padded().row_keys, T, pattern.queries.heads};
}

/// The keys that a query may see: bool, [B, 1, 1, S], with Causal [B, 1, T, S].
torch::Tensor visible_keys(const AttentionPattern& pattern, std::int64_t T, std::int64_t S) {
  const torch::Tensor& lengths = pattern.keys.lengths;
  const auto key = torch::arange(S, lengths.options());
  const auto in_sentence = key.view({1, 1, 1, S}) < lengths.view({-1, 1, 1, 1});
  if (pattern.mask == AttentionMask::Sentence) return in_sentence;
  const auto query = torch::arange(T, lengths.options());
  return in_sentence & (key.view({1, S}) <= query.view({T, 1}));
}

}  // namespace

torch::Tensor scaled_dot_product_attention(const torch::Tensor& q, const torch::Tensor& k,
                                           const torch::Tensor& v,
                                           const AttentionPattern& pattern) {
  const double scale = 1 / std::sqrt(static_cast<double>(q.size(-1)));
  const auto scores = torch::bmm(q, k.transpose(1, 2));  // [B*H, T, S]
  return torch::bmm(attention_weights(scores, pattern, scale), v);
}

torch::Tensor masked_scores(const torch::Tensor& scores, const AttentionPattern& pattern,
                            double scale) {
  const std::int64_t heads = pattern.queries.heads, T = scores.size(1), S = scores.size(2);
  return scores.view({-1, heads, T, S})
      .mul(scale)
      .masked_fill(visible_keys(pattern, T, S).logical_not(),
                   -std::numeric_limits<float>::infinity());
}

torch::Tensor attention_weights_reference(const torch::Tensor& scores,
                                          const AttentionPattern& pattern, double scale) {
  const std::int64_t T = scores.size(1), S = scores.size(2);
  const auto weights = masked_scores(scores, pattern, scale).softmax(-1).view({-1, T, S});
  return drop(weights.view({-1, S}), mask_of_weights(pattern, T)).view_as(weights);
}

// Attention weights by our kernels

namespace {

struct AttentionWeightsFunction : torch::autograd::Function<AttentionWeightsFunction> {
  static torch::Tensor forward(AutogradContext* context, const torch::Tensor& scores,
                               const torch::Tensor& key_lengths, const DropoutMask& mask,
                               bool causal, double scale) {
    RECORD_USER_SCOPE("AttentionWeightsFunction");
    const auto input = scores.contiguous();
    auto weights = torch::empty_like(input);
    auto dropped = mask.drops() ? torch::empty_like(input) : weights;
    run_rows(batch_kernels().attention_weights, element_type(input),
             AttentionWeightsArguments{
                 input.const_data_ptr(), weights.mutable_data_ptr(), dropped.mutable_data_ptr(),
                 key_lengths.const_data_ptr<std::int32_t>(), mask.heads(), input.size(1),
                 input.size(2), static_cast<float>(scale), causal, mask.rule()},
             input.size(0) * input.size(1), kRowsPerTask);
    context->save_for_backward({weights});
    context->saved_data["scale"] = scale;
    mask.save(context);
    return dropped;
  }
  static variable_list backward(AutogradContext* context, variable_list gradients) {
    const auto weights = context->get_saved_variables()[0];
    const auto d_dropped = gradients[0].contiguous();
    auto d_scores = torch::empty_like(d_dropped);
    run_rows(batch_kernels().attention_weights_gradient, element_type(weights),
             AttentionWeightsGradientArguments{
                 weights.const_data_ptr(), d_dropped.const_data_ptr(), d_scores.mutable_data_ptr(),
                 weights.size(2), static_cast<float>(context->saved_data["scale"].toDouble()),
                 DropoutMask::saved(context).rule()},
             weights.size(0) * weights.size(1), kRowsPerTask);
    return {d_scores, {}, {}, {}, {}};
  }
};

}  // namespace

torch::Tensor attention_weights(const torch::Tensor& scores, const AttentionPattern& pattern,
                                double scale) {
  if (!has_kernel_for(scores)) return attention_weights_reference(scores, pattern, scale);
  return AttentionWeightsFunction::apply(scores, pattern.keys.lengths,
                                         mask_of_weights(pattern, scores.size(1)),
                                         pattern.mask == AttentionMask::Causal, scale);
}

// Packed attention by our kernel

namespace {

/// The numbers that PackedAttentionFunction saves beside its tensors.
struct PackedAttentionNumbers {
  std::int64_t sentences, heads, longest_keys;
  bool causal;

  void save(AutogradContext* context) const {
    context->saved_data["numbers"] =
        std::vector<std::int64_t>{sentences, heads, longest_keys, causal};
  }
  static PackedAttentionNumbers load(AutogradContext* context) {
    const auto stored = context->saved_data["numbers"].toIntVector();
    return {stored[0], stored[1], stored[2], stored[3] != 0};
  }
};

/// The number of tokens of the sentences that begin at `starts` [B + 1].
std::int64_t tokens_of(const torch::Tensor& starts) {
  return starts.const_data_ptr<std::int32_t>()[starts.size(0) - 1];
}

/// Where queries, keys and values, or their gradients, stand: side by side in `queries`, or queries
/// alone and keys beside values in `memory`.
struct QueryKeyValue {
  QueryKeyValue(const torch::Tensor& queries, const torch::Tensor& memory)
      : width(memory.defined() ? queries.size(1) : queries.size(1) / 3) {
    const torch::Tensor& keys = memory.defined() ? memory : queries;
    const std::int64_t first = memory.defined() ? 0 : width;
    const auto at_column = [](const torch::Tensor& matrix, std::int64_t column) -> void* {
      return static_cast<char*>(matrix.data_ptr()) + column * matrix.element_size();
    };
    q = at_column(queries, 0);
    k = at_column(keys, first);
    v = at_column(keys, first + width);
    query_stride = queries.size(1);
    key_stride = keys.size(1);
  }

  std::int64_t width;  ///< D
  void *q, *k, *v;
  std::int64_t query_stride, key_stride;
};

struct PackedAttentionFunction : torch::autograd::Function<PackedAttentionFunction> {
  static PackedAttentionArguments arguments(const variable_list& saved, const DropoutMask& mask,
                                            const PackedAttentionNumbers& numbers) {
    const QueryKeyValue in(saved[0], saved[1]);
    const std::int64_t d_k = in.width / numbers.heads;
    return {.q = in.q,
            .k = in.k,
            .v = in.v,
            .output = nullptr,
            .log_sums = saved[2].mutable_data_ptr<float>(),
            .query_starts = saved[3].const_data_ptr<std::int32_t>(),
            .key_starts = saved[4].const_data_ptr<std::int32_t>(),
            .heads = numbers.heads,
            .d_k = d_k,
            .query_stride = in.query_stride,
            .key_stride = in.key_stride,
            .longest_keys = numbers.longest_keys,
            .scale = static_cast<float>(1 / std::sqrt(static_cast<double>(d_k))),
            .causal = numbers.causal,
            .dropout = mask.rule()};
  }

  static torch::Tensor forward(AutogradContext* context, const torch::Tensor& queries_in,
                               const OptionalTensor& memory_in, const torch::Tensor& query_starts,
                               const torch::Tensor& key_starts, const DropoutMask& mask,
                               PackedAttentionNumbers numbers) {
    RECORD_USER_SCOPE("PackedAttentionFunction");
    const auto queries = queries_in.contiguous();
    const auto memory = memory_in ? memory_in->contiguous() : torch::Tensor();
    const std::int64_t rows = queries.size(0);
    auto output = with_zero_filler(
        torch::empty({rows, QueryKeyValue(queries, memory).width}, queries.options()),
        tokens_of(query_starts));
    const variable_list saved = {
        queries, memory,
        torch::empty({rows, numbers.heads}, queries.options().dtype(torch::kFloat32)), query_starts,
        key_starts};
    auto call = arguments(saved, mask, numbers);
    call.output = output.mutable_data_ptr();
    run_rows(batch_kernels().packed_attention, element_type(queries), call,
             numbers.sentences * numbers.heads, 1);
    context->save_for_backward(saved);
    numbers.save(context);
    mask.save(context);
    return output;
  }

  static variable_list backward(AutogradContext* context, variable_list gradients) {
    const auto saved = context->get_saved_variables();
    const auto &queries = saved[0], &memory = saved[1];
    const auto mask = DropoutMask::saved(context);
    const auto numbers = PackedAttentionNumbers::load(context);
    const auto d_output = gradients[0].contiguous();
    const auto d_queries = with_zero_filler(torch::empty_like(queries), tokens_of(saved[3]));
    const auto d_memory = memory.defined()
                              ? with_zero_filler(torch::empty_like(memory), tokens_of(saved[4]))
                              : torch::Tensor();
    const QueryKeyValue out(d_queries, d_memory);
    const PackedAttentionGradientArguments call{arguments(saved, mask, numbers),
                                                d_output.const_data_ptr(), out.q, out.k, out.v};
    run_rows(batch_kernels().packed_attention_gradient, element_type(d_output), call,
             numbers.sentences * numbers.heads, 1);
    return {d_queries, d_memory, {}, {}, {}, {}};
  }
};

/// The arguments are those of QueryKeyValue.
torch::Tensor packed_by_kernel(const torch::Tensor& queries, const OptionalTensor& memory,
                               const AttentionPattern& pattern) {
  const PackedLayout& layout = pattern.queries;
  return PackedAttentionFunction::apply(
      queries, memory, layout.starts, pattern.keys.starts,
      DropoutMask(pattern.dropout, layout.row_keys, layout.rows, layout.heads),
      PackedAttentionNumbers{layout.sentences, layout.heads, pattern.keys.longest,
                             pattern.mask == AttentionMask::Causal});
}

}  // namespace

// Flash attention (Dao 2023) on packed batches: LibTorch's kernel for GPUs. It never stores the
// attention weights, and needs no padding.

#ifdef DRAGOMAN_FLASH_ATTENTION

namespace {

/// LibTorch's choice allows every head size, as its scaled_dot_product_attention pads heads. The
/// kernel itself takes only multiples of this.
constexpr std::int64_t kFlashHeadMultiple = 8;

/// The layouts' numbers that the kernel takes beside tensors.
struct FlashNumbers {
  std::int64_t queries, keys;                  // tokens, without filler rows
  std::int64_t longest_queries, longest_keys;  // of a sentence
  bool causal;

  void save(AutogradContext* context) const {
    context->saved_data["numbers"] =
        std::vector<std::int64_t>{queries, keys, longest_queries, longest_keys, causal};
  }
  static FlashNumbers load(AutogradContext* context) {
    const auto stored = context->saved_data["numbers"].toIntVector();
    return {stored[0], stored[1], stored[2], stored[3], stored[4] != 0};
  }
};

/// While one lives, LibTorch's backward pass of flash attention adds up the gradient of queries in
/// one order; otherwise it adds by atomics, in any order. LibTorch's deterministic mode would also
/// fill fresh memory; this does not.
class SumsInOrder {
 public:
  SumsInOrder()
      : algorithms_(context_.deterministicAlgorithms()),
        warns_(context_.deterministicAlgorithmsWarnOnly()),
        fills_(context_.deterministicFillUninitializedMemory()) {
    context_.setDeterministicAlgorithms(true, /*warn_only=*/false);
    context_.setDeterministicFillUninitializedMemory(false);
  }
  SumsInOrder(const SumsInOrder&) = delete;
  SumsInOrder& operator=(const SumsInOrder&) = delete;
  ~SumsInOrder() {
    context_.setDeterministicAlgorithms(algorithms_, warns_);
    context_.setDeterministicFillUninitializedMemory(fills_);
  }

 private:
  at::Context& context_ = at::globalContext();
  const bool algorithms_, warns_, fills_;
};

struct FlashAttentionFunction : torch::autograd::Function<FlashAttentionFunction> {
  static torch::Tensor forward(AutogradContext* context, const torch::Tensor& q,
                               const torch::Tensor& k, const torch::Tensor& v,
                               const torch::Tensor& query_starts, const torch::Tensor& key_starts,
                               FlashNumbers numbers) {
    RECORD_USER_SCOPE("FlashAttentionFunction");
    const auto [output, log_sums, random_state, unused, weights] = at::_flash_attention_forward(
        q, k, v, query_starts, key_starts, numbers.longest_queries, numbers.longest_keys,
        /*dropout_p=*/0, numbers.causal, /*return_debug_mask=*/false);
    context->save_for_backward(
        {q, k, v, output, log_sums, query_starts, key_starts, random_state, unused});
    numbers.save(context);
    return with_zero_filler(output, numbers.queries);
  }

  static variable_list backward(AutogradContext* context, variable_list gradients) {
    const auto saved = context->get_saved_variables();
    const auto numbers = FlashNumbers::load(context);
    const SumsInOrder in_order;
    const auto [d_q, d_k, d_v] = at::_flash_attention_backward(
        gradients[0].contiguous(), saved[0], saved[1], saved[2], saved[3], saved[4], saved[5],
        saved[6], numbers.longest_queries, numbers.longest_keys, /*dropout_p=*/0, numbers.causal,
        saved[7], saved[8]);
    return {with_zero_filler(d_q, numbers.queries),
            with_zero_filler(d_k, numbers.keys),
            with_zero_filler(d_v, numbers.keys),
            {},
            {},
            {}};
  }
};

/// Whether LibTorch would choose flash attention for heads of `d_k` elements on this GPU.
bool is_chosen(torch::ScalarType type, torch::Device device, std::int64_t d_k) {
  // One key alone: cuDNN, which LibTorch prefers on some GPUs, declines it.
  const auto head = torch::empty({1, 1, 1, d_k}, torch::TensorOptions(type).device(device));
  return at::_fused_sdp_choice(head, head, head) ==
         static_cast<std::int64_t>(at::SDPBackend::flash_attention);
}

/// Equation 1: q [N, D], k and v [M, D] -> [N, D]. Filler rows become zero, in gradients too.
/// Gradients are sums in one order. The rows of a matrix may lie apart, elements of a row may not.
torch::Tensor packed_by_flash(const torch::Tensor& q, const torch::Tensor& k,
                              const torch::Tensor& v, const AttentionPattern& pattern) {
  const PackedLayout &queries = pattern.queries, &keys = pattern.keys;
  const auto heads = [&](const torch::Tensor& x) {
    return x.unflatten(1, {queries.heads, -1});  // [N, H, K]
  };
  return FlashAttentionFunction::apply(
             heads(q), heads(k), heads(v), queries.starts, keys.starts,
             FlashNumbers{queries.tokens, keys.tokens, queries.longest, keys.longest,
                          pattern.mask == AttentionMask::Causal})
      .flatten(1);
}

}  // namespace

bool has_flash_attention(torch::ScalarType type, torch::Device device, std::int64_t d_k) {
  if (!device.is_cuda() || (type != torch::kBFloat16 && type != torch::kFloat16)) return false;
  if (d_k % kFlashHeadMultiple != 0) return false;
  // Asked once: each layer of each update comes here.
  static std::mutex mutex;
  static std::map<std::tuple<torch::ScalarType, torch::DeviceIndex, std::int64_t>, bool> known;
  const std::lock_guard lock(mutex);
  const auto key = std::tuple(type, device.index(), d_k);
  const auto found = known.find(key);
  if (found != known.end()) return found->second;
  const bool chosen = is_chosen(type, device, d_k);  // throws if memory has run out
  return known[key] = chosen;
}

#else

namespace {

torch::Tensor packed_by_flash(const torch::Tensor&, const torch::Tensor&, const torch::Tensor&,
                              const AttentionPattern&) {
  TORCH_CHECK(false, "this build has no flash attention");
}

}  // namespace

bool has_flash_attention(torch::ScalarType, torch::Device, std::int64_t) { return false; }

#endif

// The choice among them

namespace {

/// scaled_dot_product_attention() by LibTorch's function of that name.
torch::Tensor library_attention(const torch::Tensor& q, const torch::Tensor& k,
                                const torch::Tensor& v, const AttentionPattern& pattern) {
  const auto by_sentence = [&](const torch::Tensor& x) {
    return x.view({-1, pattern.queries.heads, x.size(1), x.size(2)});  // [B, H, L, K]
  };
  return at::scaled_dot_product_attention(by_sentence(q), by_sentence(k), by_sentence(v),
                                          visible_keys(pattern, q.size(1), k.size(1)))
      .reshape(q.sizes());
}

/// q [N, D], k and v [M, D] -> [N, D].
torch::Tensor padded_attention(AttentionPath path, const torch::Tensor& q, const torch::Tensor& k,
                               const torch::Tensor& v, const AttentionPattern& pattern) {
  const auto attend =
      path == AttentionPath::Library ? library_attention : scaled_dot_product_attention;
  const auto context = attend(pad_heads(q, pattern.queries), pad_heads(k, pattern.keys),
                              pad_heads(v, pattern.keys), pattern);
  return unpad_heads(context, pattern.queries);  // [B*H, T, K] -> [N, D]
}

torch::Tensor attention_without_kernel(AttentionPath path, const torch::Tensor& q,
                                       const torch::Tensor& k, const torch::Tensor& v,
                                       const AttentionPattern& pattern) {
  return path == AttentionPath::Flash ? packed_by_flash(q, k, v, pattern)
                                      : padded_attention(path, q, k, v, pattern);
}

}  // namespace

AttentionPath attention_path(const torch::Tensor& queries, std::int64_t width,
                             const AttentionPattern& pattern) {
  const std::int64_t heads = pattern.queries.heads, d_k = width / heads;
  if (has_kernel_for(queries))
    return fits_packed_attention(pattern.keys.longest, d_k) ? AttentionPath::Kernel
                                                            : AttentionPath::Formula;
  const bool drops_weights = pattern.dropout.threshold() > 0 && pattern.queries.row_keys.defined();
  if (drops_weights) return AttentionPath::Formula;
  if (has_flash_attention(queries.scalar_type(), queries.device(), d_k))
    return AttentionPath::Flash;
  // The library's gradients are sums in any order.
  return at::GradMode::is_enabled() && queries.requires_grad() ? AttentionPath::Formula
                                                               : AttentionPath::Library;
}

torch::Tensor packed_self_attention(const torch::Tensor& qkv, const AttentionPattern& pattern) {
  return self_attention_by(attention_path(qkv, qkv.size(1) / 3, pattern), qkv, pattern);
}

torch::Tensor packed_cross_attention(const torch::Tensor& q, const torch::Tensor& kv,
                                     const AttentionPattern& pattern) {
  return cross_attention_by(attention_path(q, q.size(1), pattern), q, kv, pattern);
}

torch::Tensor packed_cross_attention(const torch::Tensor& q, const torch::Tensor& k,
                                     const torch::Tensor& v, const AttentionPattern& pattern) {
  const AttentionPath path = attention_path(q, q.size(1), pattern);
  TORCH_CHECK(path != AttentionPath::Kernel, "our kernel takes keys beside values");
  return attention_without_kernel(path, q, k, v, pattern);
}

torch::Tensor self_attention_by(AttentionPath path, const torch::Tensor& qkv,
                                const AttentionPattern& pattern) {
  if (path == AttentionPath::Kernel) return packed_by_kernel(qkv, std::nullopt, pattern);
  const auto parts = split_columns(qkv, 3);
  return attention_without_kernel(path, parts[0], parts[1], parts[2], pattern);
}

torch::Tensor cross_attention_by(AttentionPath path, const torch::Tensor& q,
                                 const torch::Tensor& kv, const AttentionPattern& pattern) {
  if (path == AttentionPath::Kernel) return packed_by_kernel(q, kv, pattern);
  const auto parts = split_columns(kv, 2);
  return attention_without_kernel(path, q, parts[0], parts[1], pattern);
}

}  // namespace dragoman
