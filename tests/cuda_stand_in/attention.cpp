// LibTorch's attention for GPUs, which the CPU lacks: flash attention of packed sentences with its
// gradient, and memory-efficient attention. All compute equation 1 in fp32, and check what CUDA's
// kernels check.
#include <ATen/Context.h>
#include <ATen/SDPBackend.h>
#include <ATen/TensorOperators.h>
#include <ATen/core/LegacyTypeDispatch.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/empty_like.h>
#include <ATen/ops/matmul.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/rand.h>
#include <torch/headeronly/version.h>
#include <torch/library.h>

#include <cmath>
#include <limits>
#include <optional>
#include <tuple>

#include "tests/cuda_stand_in/stand_in.h"

namespace dragoman::cuda_stand_in {

namespace {

using at::Tensor;

constexpr float kInfinity = std::numeric_limits<float>::infinity();

double bytes_of(std::initializer_list<Tensor> tensors) {
  double bytes = 0;
  for (const Tensor& x : tensors) bytes += static_cast<double>(x.numel() * x.element_size());
  return bytes;
}

/// Sentences of queries and keys, side by side, in q [N, H, K] and k, v [M, H, K].
struct Packed {
  const Tensor query_starts, key_starts;  // int32 [B + 1]
  std::int64_t longest_queries, longest_keys;
  bool causal;
  double scale;

  void check(const Tensor& q, const Tensor& k, const Tensor& v) const {
    for (const Tensor& x : {q, k, v}) {
      TORCH_CHECK(x.is_cuda() && x.dim() == 3 && x.stride(2) == 1,
                  "flash attention: not [N, H, K]");
      TORCH_CHECK(x.scalar_type() == at::kBFloat16 || x.scalar_type() == at::kHalf,
                  "flash attention: only fp16 and bf16");
      TORCH_CHECK(x.size(2) % 8 == 0 && x.size(2) <= 256,
                  "flash attention: heads must be a multiple of 8, and at most 256");
      check_use(x, "flash attention");
    }
    for (const Tensor& starts : {query_starts, key_starts})
      TORCH_CHECK(starts.is_cuda() && starts.scalar_type() == at::kInt && starts.is_contiguous(),
                  "flash attention: starts must be int32 on the device");
    for_each([&](std::int64_t q0, std::int64_t queries, std::int64_t k0, std::int64_t keys) {
      TORCH_CHECK(queries <= longest_queries && keys <= longest_keys,
                  "flash attention: a sentence is longer than the longest");
      TORCH_CHECK(q0 + queries <= q.size(0) && k0 + keys <= k.size(0),
                  "flash attention: a sentence ends after the last row");
    });
  }

  /// Calls `work` with first row and number of rows of queries and keys of each sentence.
  template <class Work>
  void for_each(Work&& work) const {
    const Tensor q = seen_by_kernels(query_starts), k = seen_by_kernels(key_starts);
    const int *q_starts = q.const_data_ptr<int>(), *k_starts = k.const_data_ptr<int>();
    for (std::int64_t b = 0; b + 1 < q.size(0); ++b) {
      const std::int64_t queries = q_starts[b + 1] - q_starts[b],
                         keys = k_starts[b + 1] - k_starts[b];
      if (queries > 0 && keys > 0) work(q_starts[b], queries, k_starts[b], keys);
    }
  }

  /// q [T, H, K], k [S, H, K] -> [H, T, S]
  Tensor scores(const Tensor& q, const Tensor& k) const {
    const Tensor all = at::matmul(q.transpose(0, 1), k.permute({1, 2, 0})) * scale;
    if (!causal) return all;
    return all.masked_fill(at::ones({all.size(1), all.size(2)}, at::kBool).triu(1), -kInfinity);
  }
};

Tensor rows(const Tensor& x, std::int64_t first, std::int64_t count) {
  return seen_by_kernels(x).narrow(0, first, count).to(at::kFloat);
}

double scale_of(const Tensor& q, std::optional<double> scale) {
  return scale.value_or(1 / std::sqrt(static_cast<double>(q.size(-1))));
}

using FlashResults = std::tuple<Tensor, Tensor, Tensor, Tensor, Tensor>;

FlashResults flash_forward(const Tensor& q, const Tensor& k, const Tensor& v,
                           const std::optional<Tensor>& query_starts,
                           const std::optional<Tensor>& key_starts, c10::SymInt longest_queries,
                           c10::SymInt longest_keys, double dropout, bool causal,
                           std::optional<double> scale) {
  TORCH_CHECK(query_starts && key_starts, "flash attention of a padded batch is not here");
  TORCH_CHECK(dropout == 0, "flash attention with dropout is not here");
  const Packed packed{
      *query_starts, *key_starts,       longest_queries.expect_int(), longest_keys.expect_int(),
      causal,        scale_of(q, scale)};
  packed.check(q, k, v);
  const at::AutoDispatchBelowADInplaceOrView below;
  const Tensor output = at::empty(q.sizes(), q.options());
  const Tensor log_sums = at::empty({q.size(1), q.size(0)}, q.options().dtype(at::kFloat));
  perform([=] {
    catch_up();
    const at::AutoDispatchBelowADInplaceOrView below;
    packed.for_each([&](std::int64_t q0, std::int64_t queries, std::int64_t k0, std::int64_t keys) {
      const Tensor scores = packed.scores(rows(q, q0, queries), rows(k, k0, keys));
      seen_by_kernels(log_sums).narrow(1, q0, queries).copy_(scores.logsumexp(2));
      const Tensor attended = at::matmul(scores.softmax(2), rows(v, k0, keys).transpose(0, 1));
      seen_by_kernels(output).narrow(0, q0, queries).copy_(attended.transpose(0, 1));
    });
    count_launch("aten::_flash_attention_forward", bytes_of({q, k, v}),
                 bytes_of({output, log_sums}));
  });
  const auto random = q.options().dtype(at::kLong);
  return {output, log_sums, at::empty({2}, random), at::empty({}, random), Tensor()};
}

#if TORCH_VERSION_MINOR >= 12
FlashResults flash_forward_call(const Tensor& q, const Tensor& k, const Tensor& v,
                                const std::optional<Tensor>& query_starts,
                                const std::optional<Tensor>& key_starts,
                                c10::SymInt longest_queries, c10::SymInt longest_keys,
                                double dropout, bool causal, bool, std::optional<double> scale,
                                std::optional<c10::SymInt>, std::optional<c10::SymInt>,
                                const std::optional<Tensor>&, const std::optional<Tensor>&,
                                const std::optional<Tensor>&, std::optional<std::int64_t>) {
#else
FlashResults flash_forward_call(const Tensor& q, const Tensor& k, const Tensor& v,
                                const std::optional<Tensor>& query_starts,
                                const std::optional<Tensor>& key_starts,
                                c10::SymInt longest_queries, c10::SymInt longest_keys,
                                double dropout, bool causal, bool, std::optional<double> scale,
                                std::optional<c10::SymInt>, std::optional<c10::SymInt>,
                                const std::optional<Tensor>&, const std::optional<Tensor>&) {
#endif
  return flash_forward(q, k, v, query_starts, key_starts, std::move(longest_queries),
                       std::move(longest_keys), dropout, causal, scale);
}

std::tuple<Tensor, Tensor, Tensor> flash_backward(
    const Tensor& d_output, const Tensor& q, const Tensor& k, const Tensor& v, const Tensor& output,
    const Tensor& log_sums, const Tensor& query_starts, const Tensor& key_starts,
    c10::SymInt longest_queries, c10::SymInt longest_keys, double, bool causal, const Tensor&,
    const Tensor&, std::optional<double> scale, std::optional<c10::SymInt>,
    std::optional<c10::SymInt>) {
  const Packed packed{
      query_starts, key_starts,        longest_queries.expect_int(), longest_keys.expect_int(),
      causal,       scale_of(q, scale)};
  packed.check(q, k, v);
  packed.check(d_output, k, v);
  const at::AutoDispatchBelowADInplaceOrView below;
  const Tensor d_q = at::empty(q.sizes(), q.options()), d_k = at::empty(k.sizes(), k.options()),
               d_v = at::empty(v.sizes(), v.options());
  // The gradient of queries is summed by atomics unless one order is asked for.
  const bool in_order = at::globalContext().deterministicAlgorithms() &&
                        !at::globalContext().deterministicAlgorithmsWarnOnly();
  perform([=] {
    catch_up();
    const at::AutoDispatchBelowADInplaceOrView below;
    packed.for_each([&](std::int64_t q0, std::int64_t queries, std::int64_t k0, std::int64_t keys) {
      const Tensor Q = rows(q, q0, queries), K = rows(k, k0, keys), V = rows(v, k0, keys),
                   dO = rows(d_output, q0, queries), O = rows(output, q0, queries);
      const Tensor of_rows = seen_by_kernels(log_sums).narrow(1, q0, queries).unsqueeze(2);
      const Tensor P = (packed.scores(Q, K) - of_rows).exp();  // [H, T, S]
      const Tensor dP = at::matmul(dO.transpose(0, 1), V.permute({1, 2, 0}));
      const Tensor inner = (dO * O).sum(2).transpose(0, 1).unsqueeze(2);  // [H, T, 1]
      const Tensor dS = P * (dP - inner) * packed.scale;
      Tensor dQ = at::matmul(dS, K.transpose(0, 1)).transpose(0, 1);
      if (!in_order) dQ = dQ * (1 + (at::rand(dQ.sizes()) - 0.5) * 0.01);
      seen_by_kernels(d_q).narrow(0, q0, queries).copy_(dQ);
      seen_by_kernels(d_k)
          .narrow(0, k0, keys)
          .copy_(at::matmul(dS.transpose(1, 2), Q.transpose(0, 1)).transpose(0, 1));
      seen_by_kernels(d_v)
          .narrow(0, k0, keys)
          .copy_(at::matmul(P.transpose(1, 2), dO.transpose(0, 1)).transpose(0, 1));
    });
    count_launch("aten::_flash_attention_backward", bytes_of({d_output, q, k, v, output, log_sums}),
                 bytes_of({d_q, d_k, d_v}));
  });
  return {d_q, d_k, d_v};
}

/// q [B, H, T, K], k and v [B, H, S, K], and a mask that is added: [B, H, T, S], or broadcastable
/// to it.
std::tuple<Tensor, Tensor, Tensor, Tensor> efficient_attention(const Tensor& q, const Tensor& k,
                                                               const Tensor& v,
                                                               const std::optional<Tensor>& mask,
                                                               bool, double dropout, bool causal,
                                                               std::optional<double> scale) {
  TORCH_CHECK(dropout == 0 && !causal, "memory-efficient attention: only with a mask here");
  catch_up();
  for (const Tensor& x : {q, k, v}) check_use(x, "memory-efficient attention");
  const at::AutoDispatchBelowADInplaceOrView below;
  const auto widened = [](const Tensor& x) { return seen_by_kernels(x).to(at::kFloat); };
  Tensor scores = at::matmul(widened(q), widened(k).transpose(2, 3)) * scale_of(q, scale);
  if (mask) scores = scores + widened(*mask);
  const Tensor output = at::empty(q.sizes().vec(), q.options());
  seen_by_kernels(output).copy_(at::matmul(scores.softmax(3), widened(v)));
  count_launch("aten::_scaled_dot_product_efficient_attention", bytes_of({q, k, v}),
               bytes_of({output}));
  const auto none = q.options().dtype(at::kLong);
  return {output, at::empty({q.size(0), q.size(1), 0}, q.options().dtype(at::kFloat)),
          at::empty({}, none), at::empty({}, none)};
}

/// As LibTorch chooses: flash attention takes no mask and two types, but any head, which
/// scaled_dot_product_attention pads. If a gradient is asked for, the formula takes the place of
/// memory-efficient attention, whose gradient is not here.
std::int64_t choice(const Tensor& q, const Tensor& k, const Tensor& v,
                    const std::optional<Tensor>& mask, double, bool, std::optional<double>, bool) {
  const bool needs_gradient =
      at::GradMode::is_enabled() && (q.requires_grad() || k.requires_grad() || v.requires_grad());
  const bool is_half = q.scalar_type() == at::kBFloat16 || q.scalar_type() == at::kHalf;
  if (is_half && !mask) return static_cast<std::int64_t>(at::SDPBackend::flash_attention);
  return static_cast<std::int64_t>(needs_gradient || q.scalar_type() == at::kDouble
                                       ? at::SDPBackend::math
                                       : at::SDPBackend::efficient_attention);
}

TORCH_LIBRARY_IMPL(aten, CUDA, library) {
  library.impl("_flash_attention_forward", &flash_forward_call);
  library.impl("_flash_attention_backward", &flash_backward);
  library.impl("_scaled_dot_product_efficient_attention", &efficient_attention);
  library.impl("_fused_sdp_choice", &choice);
}

}  // namespace

}  // namespace dragoman::cuda_stand_in
