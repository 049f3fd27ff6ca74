// A tensor of another system's file: a view of its bytes, with strides as in NumPy and PyTorch.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace dragoman {

enum class ForeignDtype { F16, BF16, F32, F64, I8, I16, I32, I64, U8, U16, U32, U64, Bool };
constexpr std::array<std::string_view, 13> names_of(ForeignDtype) {
  return {"float16", "bfloat16", "float32", "float64", "int8",   "int16", "int32",
          "int64",   "uint8",    "uint16",  "uint32",  "uint64", "bool"};
}
/// Bytes of one element.
constexpr std::size_t size_of(ForeignDtype type) {
  constexpr std::array<std::size_t, 13> kSizes = {2, 2, 4, 8, 1, 2, 4, 8, 1, 2, 4, 8, 1};
  return kSizes[static_cast<std::size_t>(type)];
}

inline constexpr std::size_t kMaxDimensions = 16;

struct StridedTensor {
  ForeignDtype type = ForeignDtype::F32;
  std::vector<std::int64_t> shape;    ///< empty for a scalar
  std::vector<std::int64_t> strides;  ///< in elements, never negative; one for each dimension
  std::string_view bytes;             ///< little endian, from element 0; the file reader owns them

  std::int64_t elements() const;
  /// Whether the elements lie one after the other, row by row.
  bool is_contiguous() const;
};

/// Makes a tensor whose offsets and elements() are known to fit 64 bits. `bytes` begin with its
/// first element and may be longer than the tensor. Throws Error if they are too short, if a size
/// or a stride is negative or too large, or if there are more than kMaxDimensions.
StridedTensor strided_tensor(ForeignDtype type, std::vector<std::int64_t> shape,
                             std::vector<std::int64_t> strides, std::string_view bytes);

/// Strides of a contiguous tensor; in Fortran order the first index runs fastest. Throws Error as
/// strided_tensor() does.
enum class Order { RowMajor, Fortran };
std::vector<std::int64_t> dense_strides(const std::vector<std::int64_t>& shape, Order order);

/// The elements row by row, of the tensor's own type. Throws Error for a tensor that repeats its
/// elements (a stride of 0), because the result would be larger than its bytes.
std::string contiguous_bytes(const StridedTensor& tensor);

/// The elements row by row as numbers. Half precision is exact, wider types are rounded. Throws
/// Error as contiguous_bytes() does.
std::vector<float> contiguous_floats(const StridedTensor& tensor);

}  // namespace dragoman
