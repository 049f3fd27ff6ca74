#include "model/file/parameters.h"

#include <algorithm>
#include <cstdint>

#include "base/error.h"

namespace dragoman {

namespace {

/// `tensors` as ParameterReader::stored() gives them.
void copy_stored(const std::vector<TensorData>& tensors, std::span<float> values) {
  if (tensors.size() == 1) return copy_as_floats(tensors[0], values);
  const auto* whole = static_cast<const std::int8_t*>(tensors[0].data);
  const auto* scales = static_cast<const float*>(tensors[1].data);
  const auto columns = static_cast<std::size_t>(tensors[0].shape[1]);
  for (std::size_t i = 0; i < values.size(); ++i)
    values[i] = static_cast<float>(whole[i]) * scales[i / columns];
}

}  // namespace

bool ParameterReader::is_int8(std::string_view parameter) const {
  const TensorData* found = find(parameter);
  return found != nullptr && found->dtype == Dtype::I8;
}

std::vector<TensorData> ParameterReader::stored(std::string_view parameter) const {
  std::vector<TensorData> tensors = {tensor(parameter)};
  if (is_int8(parameter)) tensors.push_back(tensor(scales_name(parameter)));
  return tensors;
}

void ParameterReader::read_floats(std::string_view parameter, std::span<float> values) const {
  copy_stored(stored(parameter), values);
}

std::vector<float> ParameterReader::floats(std::string_view parameter) const {
  const std::vector<TensorData> tensors = stored(parameter);
  std::vector<float> values(static_cast<std::size_t>(tensors.front().elements()));
  copy_stored(tensors, values);
  return values;
}

const TensorData* ParametersInMemory::find(std::string_view name) const {
  const auto found = std::ranges::find(tensors_, name, &TensorData::name);
  return found == tensors_.end() ? nullptr : &*found;
}

TensorData ParametersInMemory::tensor(std::string_view name) const {
  const TensorData* found = find(name);
  if (found == nullptr) throw Error("there is no tensor ", name);
  return *found;
}

}  // namespace dragoman
