// The tensors of another system's file, taken one by one, so that none is forgotten.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "extras/formats/strided_tensor.h"

namespace dragoman {

class ForeignTensors {
 public:
  /// The views must stay valid. `file` is for messages.
  ForeignTensors(std::string file, const std::map<std::string, StridedTensor>& tensors);

  const std::string& file() const { return file_; }
  bool has(std::string_view name) const { return tensors_.contains(name); }
  /// Its elements as floats. Throws Error naming the tensor: it is missing, has another shape, is
  /// of a type without fractions, or has a number that is not finite.
  std::vector<float> take(const std::string& name, const std::vector<std::int64_t>& shape);
  /// These names mean one matrix. It is taken as `name`, whichever of them is there.
  void join(const std::string& name, std::initializer_list<const char*> others);
  void ignore(std::string_view name) { taken_.emplace(name); }
  /// Throws Error naming the first tensor that has not been taken: the model has a part that this
  /// program does not know.
  void check_all_taken() const;

 private:
  const StridedTensor& find(std::string_view name) const;

  std::string file_;
  std::map<std::string, StridedTensor, std::less<>> tensors_;
  std::set<std::string, std::less<>> taken_;
};

}  // namespace dragoman
