// NumPy's files (numpy.lib.format): .npy, one array, and .npz, a ZIP archive of them. Marian's
// models are .npz files; their member "special:model.yml" is a YAML text as an array of int8.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "extras/formats/strided_tensor.h"
#include "extras/formats/zip_archive.h"

namespace dragoman {

/// The array of a .npy file, a view of its bytes. Versions 1 to 3, C and Fortran order, little
/// endian: f2 f4 f8 i1 i2 i4 i8 u1 u2 u4 u8 b1. Throws Error, without a file's name, for anything
/// else: other types (objects, texts, records, big endian), a damaged header, bytes that are
/// missing or too many.
StridedTensor parse_npy(std::string_view bytes);

class NpzFile {
 public:
  /// As ZipArchive. Members are decompressed and parsed when they are read.
  NpzFile(const std::string& name, std::string_view bytes, std::size_t limit);

  /// Without ".npy", in the order of the file.
  const std::vector<std::string>& names() const { return names_; }
  bool contains(std::string_view name) const { return archive_.contains(member(name)); }
  /// Valid as long as this object and the bytes of the file. Throws Error that names file and
  /// member where there is none of that name, or it is damaged.
  StridedTensor read(std::string_view name);

 private:
  static std::string member(std::string_view name);

  std::string name_;
  ZipArchive archive_;
  std::vector<std::string> names_;
};

}  // namespace dragoman
