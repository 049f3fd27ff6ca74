// A file for one test, removed at its end.
#pragma once

#include <filesystem>
#include <fstream>
#include <string>

#include "base/files.h"

namespace dragoman {

class ScratchFile {
 public:
  /// Only a path: nothing is written.
  explicit ScratchFile(const std::string& name) : path_(folder() / name) {}
  ScratchFile(const std::string& name, const std::string& bytes) : ScratchFile(name) {
    write(bytes);
  }

  const std::filesystem::path& path() const { return path_; }
  const std::filesystem::path& folder() const { return folder_.path(); }
  void write(const std::string& bytes) const {
    std::ofstream(path_, std::ios::binary | std::ios::trunc) << bytes;
  }

 private:
  ScratchFolder folder_{std::filesystem::temp_directory_path() / "dragoman-"};
  std::filesystem::path path_;
};

}  // namespace dragoman
