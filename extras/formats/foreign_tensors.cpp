#include "extras/formats/foreign_tensors.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/error.h"
#include "base/fields.h"

namespace dragoman {

namespace {

std::string shape_text(const std::vector<std::int64_t>& shape) {
  std::string text = "[";
  for (const std::int64_t size : shape)
    text += (text.size() > 1 ? ", " : "") + std::to_string(size);
  return text + "]";
}

bool has_fractions(ForeignDtype type) {
  return type == ForeignDtype::F16 || type == ForeignDtype::BF16 || type == ForeignDtype::F32 ||
         type == ForeignDtype::F64;
}

}  // namespace

ForeignTensors::ForeignTensors(std::string file,
                               const std::map<std::string, StridedTensor>& tensors)
    : file_(std::move(file)), tensors_(tensors.begin(), tensors.end()) {}

const StridedTensor& ForeignTensors::find(std::string_view name) const {
  const auto found = tensors_.find(name);
  if (found == tensors_.end()) throw Error(file_, ": has no tensor ", name);
  return found->second;
}

std::vector<float> ForeignTensors::take(const std::string& name,
                                        const std::vector<std::int64_t>& shape) {
  const StridedTensor& tensor = find(name);
  if (tensor.shape != shape)
    throw Error(file_, ": ", name, " has the shape ", shape_text(tensor.shape), ", not ",
                shape_text(shape));
  if (!has_fractions(tensor.type))
    throw Error(file_, ": ", name, " has whole numbers (", name_of(tensor.type), "), not weights");
  std::vector<float> values = contiguous_floats(tensor);
  if (!std::ranges::all_of(values, [](float value) { return std::isfinite(value); }))
    throw Error(file_, ": ", name, " has numbers that are not finite");
  taken_.insert(name);
  return values;
}

void ForeignTensors::join(const std::string& name, std::initializer_list<const char*> others) {
  for (const char* other : others) {
    const auto found = tensors_.find(other);
    if (found == tensors_.end()) continue;
    tensors_.emplace(name, found->second);
    ignore(other);
  }
}

void ForeignTensors::check_all_taken() const {
  for (const auto& [name, tensor] : tensors_)
    if (!taken_.contains(name))
      throw Error(file_, ": has a tensor ", name, ", which no model of this kind has here");
}

}  // namespace dragoman
