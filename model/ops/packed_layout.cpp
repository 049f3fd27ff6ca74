#include "model/ops/packed_layout.h"

#include <torch/csrc/autograd/custom_function.h>

#include <vector>

namespace dragoman {

namespace {

template <class T>
torch::Tensor to_tensor(const std::vector<T>& values, torch::ScalarType type,
                        torch::Device device) {
  const auto size = static_cast<std::int64_t>(values.size());
  return torch::from_blob(const_cast<T*>(values.data()), {size}, type).clone().to(device);
}

/// PadHeads and UnpadHeads are the backward pass of each other. So no direction has to add up rows
/// that collide: three are gathers (index_select), one is a scatter without collisions.
struct PadHeads : torch::autograd::Function<PadHeads> {
  static torch::Tensor forward(torch::autograd::AutogradContext* context, const torch::Tensor& rows,
                               const torch::Tensor& head_rows, const torch::Tensor& head_places) {
    context->save_for_backward({head_places});
    return rows.index_select(0, head_rows);
  }
  static torch::autograd::variable_list backward(torch::autograd::AutogradContext* context,
                                                 torch::autograd::variable_list gradients) {
    const auto saved = context->get_saved_variables();
    return {gradients[0].index_select(0, saved[0]), {}, {}};
  }
};

struct UnpadHeads : torch::autograd::Function<UnpadHeads> {
  static torch::Tensor forward(torch::autograd::AutogradContext* context,
                               const torch::Tensor& places, const torch::Tensor& head_places) {
    context->save_for_backward({head_places});
    context->saved_data["places"] = places.size(0);
    return places.index_select(0, head_places);
  }
  static torch::autograd::variable_list backward(torch::autograd::AutogradContext* context,
                                                 torch::autograd::variable_list gradients) {
    const auto saved = context->get_saved_variables();
    const std::int64_t places = context->saved_data["places"].toInt();
    auto gradient = gradients[0].new_zeros({places, gradients[0].size(1)});
    gradient.index_copy_(0, saved[0], gradients[0]);
    return {gradient, {}};
  }
};

}  // namespace

PackedLayout PackedLayout::from_starts(std::span<const std::int32_t> starts, std::int64_t heads,
                                       torch::Device device, std::int64_t row_multiple) {
  const auto sentences = static_cast<std::int64_t>(starts.size()) - 1;
  const std::int32_t first = starts.front();
  const std::int64_t tokens = starts.back() - first;
  const std::int64_t rows = (tokens + row_multiple - 1) / row_multiple * row_multiple;
  std::vector<std::int32_t> from_zero(starts.begin(), starts.end());
  for (std::int32_t& start : from_zero) start -= first;
  std::vector<std::int32_t> lengths(static_cast<std::size_t>(sentences));
  std::int64_t longest = 0;
  for (std::int64_t b = 0; b < sentences; ++b) {
    lengths[b] = starts[b + 1] - starts[b];
    longest = std::max<std::int64_t>(longest, lengths[b]);
  }
  std::vector<std::int64_t> positions(static_cast<std::size_t>(rows), 0);
  std::vector<std::int64_t> head_rows(static_cast<std::size_t>(sentences * heads * longest), 0);
  std::vector<std::int64_t> head_places(static_cast<std::size_t>(tokens * heads));
  for (std::int64_t b = 0; b < sentences; ++b)
    for (std::int64_t t = 0; t < lengths[b]; ++t) {
      const std::int64_t n = from_zero[b] + t;
      positions[n] = t;
      for (std::int64_t h = 0; h < heads; ++h) {
        const std::int64_t place = (b * heads + h) * longest + t;
        head_rows[place] = n * heads + h;
        head_places[n * heads + h] = place;
      }
    }
  return {.sentences = sentences,
          .tokens = tokens,
          .rows = rows,
          .longest = longest,
          .heads = heads,
          .starts = to_tensor(from_zero, torch::kInt32, device),
          .lengths = to_tensor(lengths, torch::kInt32, device),
          .positions = to_tensor(positions, torch::kInt64, device),
          .head_rows = to_tensor(head_rows, torch::kInt64, device),
          .head_places = to_tensor(head_places, torch::kInt64, device),
          .row_keys = {},
          .padded_row_keys = {}};
}

void PackedLayout::set_row_keys(std::span<const std::int32_t> keys) {
  std::vector<std::int32_t> padded(keys.begin(), keys.end());
  padded.resize(static_cast<std::size_t>(rows), 0);
  row_keys = to_tensor(padded, torch::kInt32, positions.device());
  const auto first_head = head_rows.view({sentences, heads, longest}).select(1, 0).reshape({-1});
  padded_row_keys = row_keys.index_select(0, first_head.floor_divide(heads));
}

torch::Tensor pad_heads(const torch::Tensor& x, const PackedLayout& layout) {
  const std::int64_t d_k = x.size(1) / layout.heads;
  const auto rows = x.narrow(0, 0, layout.tokens).reshape({-1, d_k});  // [tokens*H, K]
  return PadHeads::apply(rows, layout.head_rows, layout.head_places)
      .view({layout.sentences * layout.heads, layout.longest, d_k});  // [B*H, L, K]
}

torch::Tensor unpad_heads(const torch::Tensor& x, const PackedLayout& layout) {
  const std::int64_t d_k = x.size(2);
  const auto places = x.reshape({-1, d_k});  // [B*H*L, K]
  const auto packed = UnpadHeads::apply(places, layout.head_places)
                          .view({layout.tokens, layout.heads * d_k});  // [tokens, D]
  if (layout.rows == layout.tokens) return packed;
  return torch::constant_pad_nd(packed, {0, 0, 0, layout.rows - layout.tokens});  // [N, D]
}

}  // namespace dragoman
