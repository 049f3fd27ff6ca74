#include "training/flat_parameters.h"

#include <ATen/ops/_foreach_copy.h>

#include <algorithm>
#include <utility>

#include "base/threads.h"

namespace dragoman {

namespace {

constexpr std::int64_t kAlignment = 32;

}  // namespace

FlatLayout::FlatLayout(const ModelConfig& config) : shapes_(parameter_shapes(config)) {
  for (const ParameterShape& parameter : shapes_) {
    offsets_.push_back(size_);
    parameters_ += parameter.elements();
    size_ += divide_up(parameter.elements(), kAlignment) * kAlignment;
  }
}

torch::Tensor FlatLayout::zeros(torch::ScalarType type, torch::Device device) const {
  return torch::zeros({size_}, torch::TensorOptions(type).device(device));
}

std::vector<FlatLayout::View> FlatLayout::views(const torch::Tensor& flat) const {
  std::vector<View> views;
  for (std::size_t i = 0; i < shapes_.size(); ++i)
    views.push_back({shapes_[i].name,
                     flat.narrow(0, offsets_[i], shapes_[i].elements()).view(shapes_[i].shape)});
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

void FlatLayout::for_each_gradient(const std::vector<torch::Tensor>& parameters, std::int64_t begin,
                                   std::int64_t end, const auto& visit) const {
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    const std::int64_t offset = offsets_[i];
    const std::int64_t first = std::max(begin, offset),
                       size = std::min(end, offset + shapes_[i].elements()) - first;
    if (size <= 0) continue;
    const torch::Tensor& gradient = parameters[i].grad();
    visit(gradient.defined() ? gradient.view(-1).narrow(0, first - offset, size) : gradient,
          first - begin, size);
  }
}

/// On a device other than the CPU, where each operation costs a launch, the gradients are
/// joined first, and added as one.
void FlatLayout::add_gradients(const std::vector<torch::Tensor>& parameters, std::int64_t begin,
                               const torch::Tensor& sums) const {
  std::int64_t joined_end = 0;
  std::vector<torch::Tensor> joined;  // the gradients of [0, joined_end), unless on the CPU
  const auto join_zeros = [&](std::int64_t end) {
    if (joined_end < end)
      joined.push_back(torch::zeros({end - joined_end}, parameters.front().options()));
  };
  for_each_gradient(parameters, begin, begin + sums.numel(),
                    [&](const torch::Tensor& gradient, std::int64_t place, std::int64_t size) {
                      if (!gradient.defined()) return;
                      if (sums.is_cpu()) {
                        sums.narrow(0, place, size).add_(gradient);
                        return;
                      }
                      join_zeros(place);
                      joined.push_back(gradient);
                      joined_end = place + size;
                    });
  if (joined.empty()) return;
  join_zeros(sums.numel());
  sums.add_(torch::cat(joined));
}

void FlatLayout::copy_gradients(const std::vector<torch::Tensor>& parameters, std::int64_t begin,
                                const torch::Tensor& sums) const {
  std::vector<torch::Tensor> gradients, places;
  bool complete = true;
  for_each_gradient(parameters, begin, begin + sums.numel(),
                    [&](const torch::Tensor& gradient, std::int64_t place, std::int64_t size) {
                      complete = complete && gradient.defined();
                      if (!gradient.defined()) return;
                      gradients.push_back(gradient);
                      places.push_back(sums.narrow(0, place, size));
                    });
  if (!complete) sums.zero_();
  if (!gradients.empty()) at::_foreach_copy_(places, gradients);
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

// ---- slices of the gradient ---------------------------------------------------------------------

GradientSlices::GradientSlices(std::vector<FlatRange> slices,
                               std::function<void(const FlatRange&)> take)
    : slices_(std::move(slices)), take_(std::move(take)), missing_(slices_.size()) {
  slice_of_.resize(slices_.front().parameters_end);
  for (std::size_t slice = 0; slice < slices_.size(); ++slice)
    for (std::size_t i = slices_[slice].first_parameter; i < slices_[slice].parameters_end; ++i)
      slice_of_[i] = slice;
}

void GradientSlices::expect(std::size_t times) {
  const MutexLock lock(mutex_);
  expects_ = times > 0;
  for (std::size_t slice = 0; slice < slices_.size(); ++slice)
    missing_[slice] = times * (slices_[slice].parameters_end - slices_[slice].first_parameter);
}

void GradientSlices::computed(std::size_t parameter) {
  MutexLock lock(mutex_);
  if (!expects_) return;
  --missing_[slice_of_[parameter]];
  hand_over(lock, [this]() REQUIRES(mutex_) { return missing_[next_] == 0; });
}

void GradientSlices::hand_over_rest() {
  MutexLock lock(mutex_);
  hand_over(lock, [] { return true; });
}

/// One thread hands over at a time. The others do not wait: that thread looks again when it is
/// done.
template <class IsReady>
void GradientSlices::hand_over(MutexLock& lock, IsReady&& is_ready) {
  if (is_handing_over_) return;
  is_handing_over_ = true;
  while (next_ < slices_.size() && is_ready()) {
    const FlatRange& slice = slices_[next_];
    lock.unlock();
    try {
      take_(slice);
    } catch (...) {
      lock.lock();
      is_handing_over_ = false;
      throw;
    }
    lock.lock();
    ++next_;
  }
  is_handing_over_ = false;
}

std::int64_t GradientSlices::left() const {
  const MutexLock lock(mutex_);
  return next_ < slices_.size() ? slices_[next_].end : 0;
}

void GradientSlices::restart() {
  const MutexLock lock(mutex_);
  expects_ = false;
  next_ = 0;
}

}  // namespace dragoman
