// All parameters of a model in one flat buffer. A parameter is a view of it, so the optimizer,
// clipping and the sum over ranks work on plain vectors. The gradient of an update is handed over
// in slices while its last backward pass still computes the rest: the ranks sum the first slices
// meanwhile.
#pragma once

#include <torch/types.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "base/mutex.h"
#include "model/file/safetensors.h"
#include "model/transformer.h"

namespace dragoman {

/// Neighbouring parameters: their numbers, and their elements in the buffer.
struct FlatRange {
  std::size_t first_parameter = 0, parameters_end = 0;
  std::int64_t begin = 0, end = 0;
};

/// The offset of each parameter in the buffer. Parameters are in the order of parameter_shapes(),
/// each aligned to 32 elements (64 bytes in bf16). The weights of query, key and value of a layer
/// lie side by side as one matrix.
class FlatLayout {
 public:
  explicit FlatLayout(const ModelConfig& config);

  std::int64_t size() const { return size_; }              ///< elements, gaps included
  std::int64_t parameters() const { return parameters_; }  ///< elements without the gaps
  torch::Tensor zeros(torch::ScalarType type, torch::Device device) const;

  struct View {
    std::string name;
    torch::Tensor tensor;
  };
  /// Views of a flat buffer, one per parameter.
  std::vector<View> views(const torch::Tensor& flat) const;

  /// The same views of a contiguous fp32 buffer on the CPU, with the names of the model file. The
  /// buffer must outlive them.
  std::vector<TensorData> tensors(const torch::Tensor& flat) const;

  /// Makes the model's parameters views of `values`, whose type and device they take.
  void bind_values(Transformer& model, const torch::Tensor& values) const;
  /// Adds the gradients of elements [begin, begin + p) of a flat buffer to `sums` [p], a tensor of
  /// any type. `parameters` are in the order of views(); one without a gradient adds nothing. Reads
  /// only the parameters that have elements in the range.
  void add_gradients(const std::vector<torch::Tensor>& parameters, std::int64_t begin,
                     const torch::Tensor& sums) const;
  /// The same for sums that begin with these gradients, whatever stands in `sums`: it is neither
  /// cleared before nor read. Elements between two parameters must be 0.
  void copy_gradients(const std::vector<torch::Tensor>& parameters, std::int64_t begin,
                      const torch::Tensor& sums) const;

  /// All parameters, from the last to the first, in the shortest ranges that have at least
  /// `elements` each; the last range may have fewer.
  std::vector<FlatRange> slices_from_the_end(std::int64_t elements) const;

 private:
  /// Calls visit(part of a gradient, its place in [begin, end), its size) for each parameter that
  /// has elements there. The part is undefined if the parameter has no gradient.
  void for_each_gradient(const std::vector<torch::Tensor>& parameters, std::int64_t begin,
                         std::int64_t end, const auto& visit) const;

  std::vector<ParameterShape> shapes_;
  std::vector<std::int64_t> offsets_;
  std::int64_t size_ = 0, parameters_ = 0;
};

/// The least elements of a slice that is sent over a network: 32 MiB, or a quarter of a small
/// model's gradient.
inline std::int64_t slice_to_send(std::int64_t gradient) {
  return std::min<std::int64_t>(8 << 20, gradient / 4);
}

/// A backward pass goes from the last parameters to the first, so slices are handed over from the
/// end of the flat buffer to its beginning. They always come in this order: all ranks must agree on
/// it.
class GradientSlices {
 public:
  /// `take` gets each slice once in an update, on the thread that has completed it.
  GradientSlices(std::vector<FlatRange> slices, std::function<void(const FlatRange&)> take);

  /// Call it before a backward pass. The last pass of an update computes the gradient of each
  /// parameter `times` times, on as many threads; 0: this is not the last pass. If memory has run
  /// out, the last pass may be announced again.
  void expect(std::size_t times);
  /// The gradient of a parameter has been computed once. Any thread may call it.
  void computed(std::size_t parameter);
  /// Hands over the slices that are left. Call it after the last backward pass.
  void hand_over_rest();
  /// Elements [0, left) have not been handed over. Call it while no backward pass is under
  /// way.
  std::int64_t left() const;
  /// Begins the next update.
  void restart();

 private:
  /// Hands over the next slices while `is_ready`. The lock is released meanwhile.
  template <class IsReady>
  void hand_over(MutexLock& lock, IsReady&& is_ready) REQUIRES(mutex_);

  const std::vector<FlatRange> slices_;
  const std::function<void(const FlatRange&)> take_;
  std::vector<std::size_t> slice_of_;  // [parameters]

  mutable Mutex mutex_;
  bool expects_ GUARDED_BY(mutex_) = false;
  std::vector<std::size_t> missing_ GUARDED_BY(mutex_);  // gradients, by slice
  std::size_t next_ GUARDED_BY(mutex_) = 0;              // slice to hand over
  bool is_handing_over_ GUARDED_BY(mutex_) = false;
};

}  // namespace dragoman
