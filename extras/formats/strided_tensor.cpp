#include "extras/formats/strided_tensor.h"

#include <cstring>
#include <utility>

#include "base/error.h"
#include "model/file/safetensors.h"

namespace dragoman {

namespace {

std::int64_t checked_product(std::int64_t a, std::int64_t b) {
  std::int64_t product;
  if (__builtin_mul_overflow(a, b, &product)) throw Error("its shape is too large");
  return product;
}

void check_sizes(const std::vector<std::int64_t>& sizes) {
  if (sizes.size() > kMaxDimensions)
    throw Error("it has ", sizes.size(), " dimensions; at most ", kMaxDimensions, " are read");
  for (const std::int64_t size : sizes)
    if (size < 0) throw Error("a size or a stride is negative (", size, ")");
}

/// Bytes from the first element to the end of the last one. Sizes and strides are not negative.
std::int64_t extent(const StridedTensor& tensor) {
  const auto element = static_cast<std::int64_t>(size_of(tensor.type));
  std::int64_t elements = element, last = 0;
  for (std::size_t i = 0; i < tensor.shape.size(); ++i) {
    const std::int64_t size = tensor.shape[i];
    elements = checked_product(elements, size);
    const std::int64_t step = size > 0 ? checked_product(size - 1, tensor.strides[i]) : 0;
    if (__builtin_add_overflow(last, step, &last)) throw Error("its shape is too large");
  }
  if (__builtin_add_overflow(last, 1, &last)) throw Error("its shape is too large");
  return elements == 0 ? 0 : checked_product(last, element);
}

/// Appends, row by row, the elements that share the first `depth` indices, whose sum is `offset`.
/// The tensor must have been checked.
void gather(const StridedTensor& tensor, std::size_t depth, std::int64_t offset,
            std::string& bytes) {
  const std::size_t element = size_of(tensor.type);
  if (depth == tensor.shape.size()) {
    bytes += tensor.bytes.substr(static_cast<std::size_t>(offset) * element, element);
    return;
  }
  for (std::int64_t i = 0; i < tensor.shape[depth]; ++i)
    gather(tensor, depth + 1, offset + i * tensor.strides[depth], bytes);
}

void check_repeats(const StridedTensor& tensor) {
  if (static_cast<std::uint64_t>(tensor.elements()) > tensor.bytes.size() / size_of(tensor.type))
    throw Error("it repeats its elements (a stride of 0), which is not supported");
}

template <class T>
std::vector<float> convert(std::string_view bytes) {
  std::vector<float> values(bytes.size() / sizeof(T));
  for (std::size_t i = 0; i < values.size(); ++i) {
    T value;
    std::memcpy(&value, bytes.data() + i * sizeof value, sizeof value);
    values[i] = static_cast<float>(value);
  }
  return values;
}

std::vector<float> convert_floats(Dtype type, std::string_view bytes) {
  const auto count = bytes.size() / size_of(type);
  std::vector<float> values(count);
  copy_as_floats({"", type, {static_cast<std::int64_t>(count)}, bytes.data()}, values);
  return values;
}

}  // namespace

std::int64_t StridedTensor::elements() const {
  std::int64_t product = 1;
  for (const std::int64_t size : shape) product *= size;
  return product;
}

bool StridedTensor::is_contiguous() const {
  if (elements() == 0) return true;
  std::int64_t expected = 1;
  for (std::size_t i = shape.size(); i-- > 0;) {
    if (shape[i] != 1 && strides[i] != expected) return false;
    expected *= shape[i];
  }
  return true;
}

StridedTensor strided_tensor(ForeignDtype type, std::vector<std::int64_t> shape,
                             std::vector<std::int64_t> strides, std::string_view bytes) {
  check_sizes(shape);
  check_sizes(strides);
  if (shape.size() != strides.size())
    throw Error("it has ", shape.size(), " sizes but ", strides.size(), " strides");
  StridedTensor tensor{type, std::move(shape), std::move(strides), bytes};
  const std::int64_t needed = extent(tensor);
  if (static_cast<std::uint64_t>(needed) > bytes.size())
    throw Error("its shape needs ", needed, " bytes, ", bytes.size(), " are there");
  return tensor;
}

std::vector<std::int64_t> dense_strides(const std::vector<std::int64_t>& shape, Order order) {
  check_sizes(shape);
  std::vector<std::int64_t> strides(shape.size());
  std::int64_t stride = 1;
  for (std::size_t i = 0; i < shape.size(); ++i) {
    const std::size_t dimension = order == Order::Fortran ? i : shape.size() - 1 - i;
    strides[dimension] = stride;
    stride = checked_product(stride, shape[dimension]);
  }
  return strides;
}

std::string contiguous_bytes(const StridedTensor& tensor) {
  check_repeats(tensor);
  const auto size = static_cast<std::size_t>(tensor.elements()) * size_of(tensor.type);
  if (tensor.is_contiguous()) return std::string(tensor.bytes.substr(0, size));
  std::string bytes;
  bytes.reserve(size);
  gather(tensor, 0, 0, bytes);
  return bytes;
}

std::vector<float> contiguous_floats(const StridedTensor& tensor) {
  std::string gathered;
  std::string_view bytes = tensor.bytes;
  if (tensor.is_contiguous()) {
    check_repeats(tensor);
    bytes = bytes.substr(0, static_cast<std::size_t>(tensor.elements()) * size_of(tensor.type));
  } else {
    bytes = gathered = contiguous_bytes(tensor);
  }
  switch (tensor.type) {
    case ForeignDtype::F16:
      return convert_floats(Dtype::F16, bytes);
    case ForeignDtype::BF16:
      return convert_floats(Dtype::BF16, bytes);
    case ForeignDtype::F32:
      return convert_floats(Dtype::F32, bytes);
    case ForeignDtype::F64:
      return convert<double>(bytes);
    case ForeignDtype::I8:
      return convert<std::int8_t>(bytes);
    case ForeignDtype::I16:
      return convert<std::int16_t>(bytes);
    case ForeignDtype::I32:
      return convert<std::int32_t>(bytes);
    case ForeignDtype::I64:
      return convert<std::int64_t>(bytes);
    case ForeignDtype::U8:
    case ForeignDtype::Bool:
      return convert<std::uint8_t>(bytes);
    case ForeignDtype::U16:
      return convert<std::uint16_t>(bytes);
    case ForeignDtype::U32:
      return convert<std::uint32_t>(bytes);
    case ForeignDtype::U64:
      return convert<std::uint64_t>(bytes);
  }
  return {};
}

}  // namespace dragoman
