// The safetensors format (Hugging Face, https://github.com/huggingface/safetensors): eight bytes of
// header length, a JSON header of names, types, shapes and offsets, then the raw data, little
// endian. Read by memory map and never trusted; written so that the data are aligned.
#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/files.h"

namespace dragoman {

enum class Dtype { F32, BF16, F16, I8, U8, I32, I64, U64 };
constexpr std::array<std::string_view, 8> names_of(Dtype) {
  return {"F32", "BF16", "F16", "I8", "U8", "I32", "I64", "U64"};
}
/// Bytes of one element.
std::size_t size_of(Dtype dtype);

/// A named view of a tensor, row-major. The maker of the view owns the bytes.
struct TensorData {
  std::string name;
  Dtype dtype = Dtype::F32;
  std::vector<std::int64_t> shape;  ///< empty for a scalar
  const void* data = nullptr;       ///< little endian

  std::int64_t elements() const;
  std::size_t bytes() const { return static_cast<std::size_t>(elements()) * size_of(dtype); }
  std::string_view raw() const { return {static_cast<const char*>(data), bytes()}; }
};

/// Copies the elements of an F32, BF16 or F16 tensor, exactly. The data may be unaligned. Throws
/// Error naming the tensor for other types. `values` must have elements() elements.
void copy_as_floats(const TensorData& tensor, std::span<float> values);

using Metadata = std::map<std::string, std::string>;

/// An open file. Views stay valid as long as it lives. In files that this program wrote, data are
/// aligned to their type; in others they may lie anywhere.
class SafetensorsFile {
 public:
  /// Throws Error, one line that names the file, for any file that is not well-formed safetensors:
  /// too short, truncated, not JSON, names or keys twice, unknown types, or offsets that overlap,
  /// leave holes, or do not fit the shape or the file.
  explicit SafetensorsFile(const std::filesystem::path& path);

  const std::filesystem::path& path() const { return path_; }
  std::size_t size() const { return file_.size(); }  ///< bytes of the file
  const Metadata& metadata() const { return metadata_; }
  /// In the order of the data.
  const std::vector<TensorData>& tensors() const { return tensors_; }
  /// Null if there is none of that name.
  const TensorData* find(std::string_view name) const;

 private:
  std::filesystem::path path_;
  MappedFile file_;
  Metadata metadata_;
  std::vector<TensorData> tensors_;
  std::map<std::string, std::size_t, std::less<>> index_;
};

/// Writes through AtomicFile, tensor by tensor, without a copy of the data. The data start at a
/// multiple of 64 bytes. Tensors whose size is a multiple of 64 come first, so all of them are
/// aligned to 64; the others follow by falling alignment (the format allows no holes). Equal
/// contents give equal bytes. Returns the size of the file in bytes. Throws Error when writing
/// fails, a name occurs twice or is `__metadata__`.
std::size_t write_safetensors(const std::filesystem::path& path,
                              std::span<const TensorData> tensors, const Metadata& metadata);

}  // namespace dragoman
