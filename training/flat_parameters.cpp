#include "training/flat_parameters.h"

#include <functional>
#include <numeric>

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
    size_ += (count(parameter.shape) + kAlignment - 1) / kAlignment * kAlignment;
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

void FlatLayout::bind_gradients(Transformer& model, const torch::Tensor& gradients) const {
  auto parameters = model->named_parameters();
  for (const View& view : views(gradients)) parameters[view.name].mutable_grad() = view.tensor;
}

}  // namespace dragoman
