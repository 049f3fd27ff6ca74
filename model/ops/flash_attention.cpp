#include "model/ops/flash_attention.h"

#include <ATen/Context.h>
#include <ATen/SDPBackend.h>
#include <ATen/ops/_flash_attention_backward.h>
#include <ATen/ops/_flash_attention_forward.h>
#include <ATen/ops/_fused_sdp_choice.h>

#include <cstdint>
#include <map>
#include <mutex>
#include <tuple>
#include <vector>

#include "model/ops/kernel_call.h"
#include "model/ops/packed_layout.h"

namespace dragoman {

#ifdef DRAGOMAN_FLASH_ATTENTION

namespace {

/// LibTorch's choice allows every head, as its scaled_dot_product_attention pads heads. The kernel
/// itself takes heads of such a multiple alone.
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
/// one order; else by atomics, in any order. What LibTorch does beside that for algorithms of one
/// order, filling fresh memory, is left out.
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
  const bool chosen = is_chosen(type, device, d_k);  // throws where memory has run out
  return known[key] = chosen;
}

torch::Tensor flash_attention(const torch::Tensor& q, const torch::Tensor& k,
                              const torch::Tensor& v, const AttentionPattern& pattern) {
  const PackedLayout &queries = pattern.queries, &keys = pattern.keys;
  return FlashAttentionFunction::apply(
      q, k, v, queries.starts, keys.starts,
      FlashNumbers{queries.tokens, keys.tokens, queries.longest, keys.longest,
                   pattern.mask == AttentionMask::Causal});
}

#else

bool has_flash_attention(torch::ScalarType, torch::Device, std::int64_t) { return false; }

torch::Tensor flash_attention(const torch::Tensor&, const torch::Tensor&, const torch::Tensor&,
                              const AttentionPattern&) {
  TORCH_CHECK(false, "this build has no flash attention");
}

#endif

}  // namespace dragoman
