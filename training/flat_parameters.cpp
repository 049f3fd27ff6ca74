#include "training/flat_parameters.h"

#include <algorithm>
#include <functional>
#include <numeric>

#include "base/divide_up.h"

namespace dragoman {

namespace {

constexpr std::int64_t kAlignment = 32;

std::int64_t count(const std::vector<std::int64_t>& shape) {
  return std::accumulate(shape.begin(), shape.end(), std::int64_t{1}, std::multiplies<>());
}

}  // namespace

FlatLayout::FlatLayout(const ModelConfig& config) : shapes_(parameter_shapes(config)) {
  for (const ParameterShape& parameter : shapes_) {
    offsets_.push_back(size_);
    parameters_ += count(parameter.shape);
    size_ += divide_up(count(parameter.shape), kAlignment) * kAlignment;
  }
}

torch::Tensor FlatLayout::zeros(torch::ScalarType type, torch::Device device) const {
  return torch::zeros({size_}, torch::TensorOptions(type).device(device));
}

std::vector<FlatLayout::View> FlatLayout::views(const torch::Tensor& flat) const {
  std::vector<View> views;
  for (std::size_t i = 0; i < shapes_.size(); ++i)
    views.push_back({shapes_[i].name,
                     flat.narrow(0, offsets_[i], count(shapes_[i].shape)).view(shapes_[i].shape)});
  return views;
}

std::vector<TensorData> FlatLayout::tensors(const torch::Tensor& flat) const {
  std::vector<TensorData> tensors;
  for (std::size_t i = 0; i < shapes_.size(); ++i)
    tensors.push_back({shapes_[i].name, Dtype::F32, shapes_[i].shape,
                       flat.const_data_ptr<float>() + offsets_[i]});
  return tensors;
}

void FlatLayout::bind_values(Transformer& model, const torch::Tensor& values) const {
  auto parameters = model->named_parameters();
  for (const View& view : views(values)) parameters[view.name].set_data(view.tensor);
}

void FlatLayout::add_gradients(const std::vector<torch::Tensor>& parameters, std::int64_t begin,
                               const torch::Tensor& sums) const {
  const std::int64_t end = begin + sums.numel();
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    const std::int64_t offset = offsets_[i], next = offset + count(shapes_[i].shape);
    const std::int64_t first = std::max(begin, offset), last = std::min(end, next);
    if (first >= last || !parameters[i].grad().defined()) continue;
    sums.narrow(0, first - begin, last - first)
        .add_(parameters[i].grad().view(-1).narrow(0, first - offset, last - first));
  }
}

std::vector<FlatRange> FlatLayout::slices_from_the_end(std::int64_t elements) const {
  std::vector<FlatRange> slices;
  FlatRange slice{shapes_.size(), shapes_.size(), size_, size_};
  for (std::size_t i = shapes_.size(); i-- > 0;) {
    slice.first_parameter = i;
    slice.begin = offsets_[i];
    if (slice.end - slice.begin < elements && i > 0) continue;
    slices.push_back(slice);
    slice = {i, i, slice.begin, slice.begin};
  }
  return slices;
}

}  // namespace dragoman
