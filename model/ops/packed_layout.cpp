#include "model/ops/packed_layout.h"

#include <c10/core/Event.h>
#include <c10/core/StreamGuard.h>
#include <c10/core/impl/VirtualGuardImpl.h>
#include <torch/csrc/autograd/custom_function.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "base/threads.h"

namespace dragoman {

namespace {

/// PadHeads and UnpadHeads are the backward pass of each other. So no direction has to add up rows
/// that collide: three are gathers (index_select), one is a scatter without collisions.
struct PadHeads : torch::autograd::Function<PadHeads> {
  static torch::Tensor forward(torch::autograd::AutogradContext* context, const torch::Tensor& rows,
                               const torch::Tensor& pad_index, const torch::Tensor& unpad_index) {
    context->save_for_backward({unpad_index});
    return rows.index_select(0, pad_index);
  }
  static torch::autograd::variable_list backward(torch::autograd::AutogradContext* context,
                                                 torch::autograd::variable_list gradients) {
    const auto saved = context->get_saved_variables();
    return {gradients[0].index_select(0, saved[0]), {}, {}};
  }
};

struct UnpadHeads : torch::autograd::Function<UnpadHeads> {
  static torch::Tensor forward(torch::autograd::AutogradContext* context,
                               const torch::Tensor& padded, const torch::Tensor& unpad_index) {
    context->save_for_backward({unpad_index});
    context->saved_data["rows"] = padded.size(0);
    return padded.index_select(0, unpad_index);
  }
  static torch::autograd::variable_list backward(torch::autograd::AutogradContext* context,
                                                 torch::autograd::variable_list gradients) {
    const auto saved = context->get_saved_variables();
    const std::int64_t rows = context->saved_data["rows"].toInt();
    auto gradient = gradients[0].new_zeros({rows, gradients[0].size(1)});
    gradient.index_copy_(0, saved[0], gradients[0]);
    return {gradient, {}};
  }
};

}  // namespace

PackedLayout PackedLayout::from_starts(std::span<const std::int32_t> starts, std::int64_t heads,
                                       torch::Device device, std::int64_t row_multiple,
                                       std::int64_t least_longest) {
  const auto sentences = std::ssize(starts) - 1;
  const std::int32_t first = starts.front();
  const std::int64_t tokens = starts.back() - first;
  const std::int64_t rows = divide_up(tokens, row_multiple) * row_multiple;
  std::vector<std::int32_t> from_zero(starts.begin(), starts.end());
  for (std::int32_t& start : from_zero) start -= first;
  std::vector<std::int32_t> lengths(static_cast<std::size_t>(sentences));
  std::int64_t longest = least_longest;
  for (std::int64_t b = 0; b < sentences; ++b) {
    lengths[b] = starts[b + 1] - starts[b];
    longest = std::max<std::int64_t>(longest, lengths[b]);
  }
  std::vector<std::int64_t> positions(static_cast<std::size_t>(rows), 0);
  for (std::int64_t b = 0; b < sentences; ++b)
    for (std::int64_t t = 0; t < lengths[b]; ++t) positions[from_zero[b] + t] = t;
  return {.sentences = sentences,
          .tokens = tokens,
          .rows = rows,
          .longest = longest,
          .heads = heads,
          .starts = to_device(from_zero, device),
          .lengths = to_device(lengths, device),
          .positions = to_device(positions, device),
          .row_keys = {}};
}

void PackedLayout::set_row_keys(std::span<const std::int32_t> keys) {
  std::vector<std::int32_t> padded(keys.begin(), keys.end());
  padded.resize(static_cast<std::size_t>(rows), 0);
  row_keys = to_device(padded, positions.device());
  padded_layout.reset();
}

const PaddedLayout& PackedLayout::padded() const {
  if (padded_layout) return *padded_layout;
  const auto options = positions.options();
  const auto sentence = torch::searchsorted(
      starts.narrow(0, 1, sentences), torch::arange(tokens, starts.options()), /*out_int32=*/false,
      /*right=*/true);  // [tokens]: the sentences that end before each
  const auto head = sentence.unsqueeze(1) * heads + torch::arange(heads, options);
  const auto unpad_index =
      (head * longest + positions.narrow(0, 0, tokens).unsqueeze(1)).view({-1});
  const auto pad_index = torch::zeros({sentences * heads * longest}, options)
                             .index_copy_(0, unpad_index, torch::arange(tokens * heads, options));
  PaddedLayout padded{.pad_index = pad_index, .unpad_index = unpad_index, .row_keys = {}};
  if (row_keys.defined()) {
    const auto first_head = pad_index.view({sentences, heads, longest}).select(1, 0).reshape({-1});
    padded.row_keys = row_keys.index_select(0, first_head.floor_divide(heads));
  }
  padded_layout = std::make_shared<const PaddedLayout>(std::move(padded));
  return *padded_layout;
}

torch::Tensor with_zero_filler(torch::Tensor x, std::int64_t tokens) {
  if (tokens < x.size(0)) x.narrow(0, tokens, x.size(0) - tokens).zero_();
  return x;
}

torch::Tensor pad_heads(const torch::Tensor& x, const PackedLayout& layout) {
  const std::int64_t d_k = x.size(1) / layout.heads;
  const auto rows = x.narrow(0, 0, layout.tokens).reshape({-1, d_k});  // [tokens*H, K]
  return PadHeads::apply(rows, layout.padded().pad_index, layout.padded().unpad_index)
      .view({layout.sentences * layout.heads, layout.longest, d_k});  // [B*H, L, K]
}

torch::Tensor unpad_heads(const torch::Tensor& x, const PackedLayout& layout) {
  const std::int64_t d_k = x.size(2);
  const auto padded = x.reshape({-1, d_k});  // [B*H*L, K]
  const auto packed = UnpadHeads::apply(padded, layout.padded().unpad_index)
                          .view({layout.tokens, layout.heads * d_k});  // [tokens, D]
  if (layout.rows == layout.tokens) return packed;
  return torch::constant_pad_nd(packed, {0, 0, 0, layout.rows - layout.tokens});  // [N, D]
}

torch::Tensor copied_to_gpu(const torch::Tensor& locked, torch::Device device) {
  const c10::impl::VirtualGuardImpl gpu(device.type());
  const c10::Stream computing = gpu.getStream(device);
  thread_local std::optional<c10::Stream> of_thread;
  if (!of_thread || of_thread->device() != computing.device())
    of_thread = gpu.getStreamFromGlobalPool(computing.device());
  const c10::Stream for_copies = *of_thread;
  c10::Event copied(device.type());
  torch::Tensor copy;
  {
    const c10::StreamGuard guard(for_copies);
    copy = locked.to(device, /*non_blocking=*/true);
    copied.record(for_copies);
  }
  copied.block(computing);
  copy.record_stream(computing);  // its memory is reused only after `computing` has read it
  return copy;
}

}  // namespace dragoman
