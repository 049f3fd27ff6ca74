// A file for one test, removed at its end.
#pragma once

#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>

namespace dragoman {

class ScratchFile {
 public:
  /// Only a path: nothing is written.
  explicit ScratchFile(const std::string& name)
      : folder_(std::filesystem::temp_directory_path() /
                ("dragoman-" + std::to_string(getpid()) + "-" + name)) {
    std::filesystem::create_directories(folder_);
    path_ = folder_ / name;
  }
  ScratchFile(const std::string& name, const std::string& bytes) : ScratchFile(name) {
    write(bytes);
  }
  ScratchFile(const ScratchFile&) = delete;
  ScratchFile& operator=(const ScratchFile&) = delete;
  ~ScratchFile() { std::filesystem::remove_all(folder_); }

  const std::filesystem::path& path() const { return path_; }
  const std::filesystem::path& folder() const { return folder_; }
  void write(const std::string& bytes) const {
    std::ofstream(path_, std::ios::binary | std::ios::trunc) << bytes;
  }

 private:
  std::filesystem::path folder_, path_;
};

}  // namespace dragoman
