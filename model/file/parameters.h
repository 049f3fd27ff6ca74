// The parameters of a model by name, in a file or in the memory of a training.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "model/file/model_config.h"
#include "model/file/safetensors.h"

namespace dragoman {

/// The tensor of an I8 matrix's scales, F32 [rows].
inline std::string scales_name(std::string_view parameter) {
  return std::string(parameter) + ".scales";
}

class ParameterReader {
 public:
  virtual ~ParameterReader() = default;
  virtual const ModelConfig& config() const = 0;
  /// The tensor as it is stored, unchecked; null where there is none.
  virtual const TensorData* find(std::string_view name) const = 0;
  /// The same, checked. Throws Error where there is none, or it is damaged.
  virtual TensorData tensor(std::string_view name) const = 0;
  /// The caller has read the tensor. Its bytes may leave memory where they can be read again.
  virtual void give_back(const TensorData&) const {}

  bool has(std::string_view name) const { return find(name) != nullptr; }
  bool is_int8(std::string_view parameter) const;
  /// The tensors of a parameter: itself, and its scales where it is I8.
  std::vector<TensorData> stored(std::string_view parameter) const;
  /// A parameter's elements as floats, from any stored type. `values` must have as many elements.
  void read_floats(std::string_view parameter, std::span<float> values) const;
  std::vector<float> floats(std::string_view parameter) const;
};

/// The memory that the tensors view must outlive the object.
class ParametersInMemory : public ParameterReader {
 public:
  ParametersInMemory(const ModelConfig& config, std::vector<TensorData> tensors)
      : config_(config), tensors_(std::move(tensors)) {}

  const ModelConfig& config() const override { return config_; }
  const TensorData* find(std::string_view name) const override;
  TensorData tensor(std::string_view name) const override;

 private:
  ModelConfig config_;
  std::vector<TensorData> tensors_;
};

}  // namespace dragoman
