// NumPy's files (numpy.lib.format): .npy, one array, and .npz, a ZIP archive of them. Marian's
// models are .npz files; their member "special:model.yml" is a YAML text as an array of int8.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/files.h"
#include "extras/formats/strided_tensor.h"
#include "extras/formats/zip_archive.h"

namespace dragoman {

/// The array of a .npy file, a view of its bytes. Versions 1 to 3, C and Fortran order, little
/// endian: f2 f4 f8 i1 i2 i4 i8 u1 u2 u4 u8 b1. Throws Error, without a file's name, for anything
/// else: other types (objects, texts, records, big endian), a damaged header, missing bytes or too
/// many.
StridedTensor parse_npy(std::string_view bytes);

class NpzFile {
 public:
  /// The arguments are those of ZipArchive. Members are decompressed and parsed when they are read.
  NpzFile(const std::string& name, std::string_view bytes, std::size_t limit);

  /// Without ".npy", in the order of the file.
  const std::vector<std::string>& names() const { return names_; }
  bool contains(std::string_view name) const { return archive_.contains(member(name)); }
  /// Valid as long as this object and the bytes of the file. Throws Error that names file and
  /// member if there is no such member, or if it is damaged.
  StridedTensor read(std::string_view name);

 private:
  static std::string member(std::string_view name);

  std::string name_;
  ZipArchive archive_;
  std::vector<std::string> names_;
};

/// Writes a .npz file of stored members, none compressed, as numpy.savez does.
class NpzWriter {
 public:
  /// The file has nothing in it yet, and must outlive the object.
  explicit NpzWriter(AtomicFile& file) : file_(file) {}

  /// Throws Error if the archive would be larger than 4 GiB, which Marian's reader cannot read.
  void add(const std::string& name, const std::vector<std::int64_t>& shape,
           std::span<const float> values);
  /// An array of bytes.
  void add_text(const std::string& name, std::string_view text);
  /// Writes the archive's directory. The file is then complete, and the caller commits it.
  void finish();

 private:
  void add_entry(const std::string& name, const std::string& header, std::string_view data);

  AtomicFile& file_;
  std::string directory_;
  std::uint16_t entries_ = 0;
};

}  // namespace dragoman
