// A file without a name, for data that do not fit into memory. It disappears when its process ends,
// however that happens.
#pragma once

#include <cstddef>
#include <cstdio>
#include <filesystem>

#include "base/files.h"

namespace dragoman {

class UnnamedFile {
 public:
  /// Creates the file in this folder, which errors name.
  explicit UnnamedFile(const std::filesystem::path& folder);
  UnnamedFile(const UnnamedFile&) = delete;
  UnnamedFile& operator=(const UnnamedFile&) = delete;
  ~UnnamedFile();

  void append(const void* bytes, std::size_t size);
  /// All that was appended, mapped.
  MappedFile map();

 private:
  std::filesystem::path folder_;
  std::FILE* file_;
};

}  // namespace dragoman
