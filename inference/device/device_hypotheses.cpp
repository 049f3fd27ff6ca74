// What a search has found, on the host.
#include <ATen/ops/zeros.h>

#include "inference/device/device_search.h"

namespace dragoman {

namespace {

/// A copy of one group's part.
struct HostTree {
  const HypothesisNode* nodes;  // [T, B]
  const float* attention;       // [T, B, S], or null
  std::int64_t width;           // B
  std::int64_t source_columns, source_length;
};

Hypothesis hypothesis_of(const HostTree& tree, const SearchEnd& end) {
  const auto count = static_cast<std::size_t>(end.count);
  const auto source = tree.attention == nullptr ? 0 : static_cast<std::size_t>(tree.source_length);
  Hypothesis hypothesis{
      .tokens = std::vector<TokenId>(count),
      .length = end.length,
      .sum = end.sum,
      .coverage_penalty = end.penalty,
      .score = end.score,
      .cut = end.cut,
      .log_probabilities = std::vector<float>(static_cast<std::size_t>(end.length)),
      .attention = std::vector<float>(count * source)};
  double before_eos = 0;
  std::int64_t row = end.row;
  for (std::size_t t = count; t-- > 0;) {
    const std::int64_t at = static_cast<std::int64_t>(t) * tree.width + row;
    const HypothesisNode& node = tree.nodes[at];
    hypothesis.tokens[t] = node.token;
    hypothesis.log_probabilities[t] = node.log_probability;
    before_eos += node.log_probability;
    if (source > 0)
      std::copy_n(tree.attention + at * tree.source_columns, source,
                  hypothesis.attention.begin() + static_cast<std::ptrdiff_t>(t * source));
    row = node.parent;
  }
  if (hypothesis.log_probabilities.size() > count)
    hypothesis.log_probabilities[count] = static_cast<float>(end.sum - before_eos);
  return hypothesis;
}

template <class T>
const T* structs_of(const torch::Tensor& tensor) {
  return static_cast<const T*>(tensor.const_data_ptr());
}

}  // namespace

torch::Tensor widened(const torch::Tensor& tensor, std::int64_t dim, std::int64_t size) {
  std::vector<std::int64_t> shape = tensor.sizes().vec();
  shape[static_cast<std::size_t>(dim)] = size;
  auto wide = torch::zeros(shape, tensor.options());
  wide.narrow(dim, 0, tensor.size(dim)).copy_(tensor);
  return wide;
}

std::vector<std::int64_t> DeviceSearch::ends() const {
  const auto states = states_.cpu();
  std::vector<std::int64_t> ends;
  for (const SearchGroup& state :
       std::span(structs_of<SearchGroup>(states), static_cast<std::size_t>(groups_)))
    ends.push_back(state.end);
  return ends;
}

std::vector<std::vector<Hypothesis>> DeviceSearch::best(
    std::span<const std::int64_t> groups) const {
  const auto index = indices_of(groups);
  const auto on_host = [&index](const torch::Tensor& tensor) {
    return tensor.index_select(0, index).cpu();
  };
  const auto states = on_host(states_), ends = on_host(ends_), nodes = on_host(nodes_);
  const auto attention = keeps_attention_ ? on_host(attention_of_nodes_) : torch::Tensor();
  std::vector<std::vector<Hypothesis>> best;
  for (std::int64_t g = 0; g < std::ssize(groups); ++g) {
    const SearchGroup& state = structs_of<SearchGroup>(states)[g];
    const std::int64_t first_node = g * columns_ * width_;
    const HostTree tree{
        .nodes = structs_of<HypothesisNode>(nodes) + first_node,
        .attention = keeps_attention_ ? structs_of<float>(attention) + first_node * source_capacity_
                                      : nullptr,
        .width = width_,
        .source_columns = source_capacity_,
        .source_length = state.source_length};
    const std::span ended(structs_of<SearchEnd>(ends) + g * most_ended_,
                          static_cast<std::size_t>(state.ended));
    auto& found = best.emplace_back();
    for (const SearchEnd& end :
         ended.first(std::min(ended.size(), static_cast<std::size_t>(config_.n_best))))
      found.push_back(hypothesis_of(tree, end));
  }
  return best;
}

}  // namespace dragoman
