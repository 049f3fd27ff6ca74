// Writes NumPy's .npz: a ZIP archive of stored .npy files, none compressed, as numpy.savez makes
// it.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/files.h"

namespace dragoman {

class NpzWriter {
 public:
  /// The file must outlive the object.
  explicit NpzWriter(AtomicFile& file) : file_(file) {}

  /// Throws Error where the archive would be larger than 4 GiB, which Marian's reader cannot read.
  void add(const std::string& name, const std::vector<std::int64_t>& shape,
           std::span<const float> values);
  /// An array of bytes.
  void add_text(const std::string& name, std::string_view text);
  /// Writes the archive's directory. The file is then complete, and the caller commits it.
  void finish();

 private:
  void add_entry(const std::string& name, const std::string& header, std::string_view data);
  void write(const std::string& bytes);

  AtomicFile& file_;
  std::string directory_;
  std::uint64_t size_ = 0;
  std::uint16_t entries_ = 0;
};

}  // namespace dragoman
