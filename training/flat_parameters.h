// All parameters of a model in one flat buffer. A parameter is a view of it. So the optimizer,
// clipping and the sum over ranks work on plain vectors.
#pragma once

#include <torch/types.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

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
  /// no other parameter than those with elements in the range.
  void add_gradients(const std::vector<torch::Tensor>& parameters, std::int64_t begin,
                     const torch::Tensor& sums) const;

  /// All parameters, from the last to the first, in the shortest ranges that have at least
  /// `elements` each; the last range may have fewer.
  std::vector<FlatRange> slices_from_the_end(std::int64_t elements) const;

 private:
  std::vector<ParameterShape> shapes_;
  std::vector<std::int64_t> offsets_;
  std::int64_t size_ = 0, parameters_ = 0;
};

}  // namespace dragoman
