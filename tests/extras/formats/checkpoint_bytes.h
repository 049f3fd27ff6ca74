// Checkpoints of whole models for tests, as other PyTorch systems save them.
#pragma once

#include <functional>
#include <map>
#include <numeric>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "extras/formats/foreign_model.h"
#include "extras/formats/name_table.h"
#include "tests/extras/formats/pickle_bytes.h"

namespace dragoman {

/// Collects tensors; opcodes() is their state dict, storages() their memory.
class StateDict {
 public:
  StateDict& add(const std::string& name, const std::vector<int>& shape,
                 const std::vector<float>& values) {
    items_.push_back(text_op(name));
    items_.push_back(tensor(shape, values).opcodes());
    return *this;
  }
  /// A tensor that has its storage here, but is no item of the dict.
  TensorOp tensor(const std::vector<int>& shape, const std::vector<float>& values) {
    std::vector<int> strides(shape.size(), 1);
    for (std::size_t axis = shape.size(); axis-- > 1;)
      strides[axis - 1] = strides[axis] * shape[axis];
    storages_.emplace_back(reinterpret_cast<const char*>(values.data()),
                           values.size() * sizeof(float));
    return {.storage = {.key = std::to_string(storages_.size() - 1),
                        .elements = static_cast<int>(values.size())},
            .shape = shape,
            .strides = strides};
  }

  std::string opcodes() const { return dict_op(items_); }
  const std::vector<std::string>& storages() const { return storages_; }

 private:
  std::vector<std::string> items_, storages_;
};

/// The parameters of a model under the names that `name` gives them; those that it gives none are
/// left out.
inline StateDict state_dict_of(const ForeignModel& model,
                               const std::function<std::string(const std::string&)>& name) {
  StateDict dict;
  for (const ParameterShape& parameter : parameter_shapes(model.config)) {
    const std::string theirs = name(parameter.name);
    if (theirs.empty()) continue;
    dict.add(theirs, std::vector<int>(parameter.shape.begin(), parameter.shape.end()),
             model.parameters.at(parameter.name));
  }
  return dict;
}

/// The options that a package stores beside a model: the opcodes of each value.
using Options = std::map<std::string, std::string>;

inline std::string dict_of(const Options& options) {
  std::vector<std::string> items;
  for (const auto& [name, opcodes] : options) items.insert(items.end(), {text_op(name), opcodes});
  return dict_op(items);
}

/// argparse.Namespace(...)
inline std::string namespace_of(const Options& options) {
  return global_op("argparse", "Namespace") + ")\x81" + dict_of(options) + "b";
}

}  // namespace dragoman
