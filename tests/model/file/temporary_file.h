// A file for one test, removed at its end.
#pragma once

#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>

namespace dragoman {

class TemporaryFile {
 public:
  /// Only a path: nothing is written.
  explicit TemporaryFile(const std::string& name)
      : folder_(std::filesystem::temp_directory_path() /
                ("dragoman-" + std::to_string(getpid()) + "-" + name)) {
    std::filesystem::create_directories(folder_);
    path_ = folder_ / name;
  }
  TemporaryFile(const std::string& name, const std::string& bytes) : TemporaryFile(name) {
    write(bytes);
  }
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;
  ~TemporaryFile() { std::filesystem::remove_all(folder_); }

  const std::filesystem::path& path() const { return path_; }
  const std::filesystem::path& folder() const { return folder_; }
  void write(const std::string& bytes) const {
    std::ofstream(path_, std::ios::binary | std::ios::trunc) << bytes;
  }

 private:
  std::filesystem::path folder_, path_;
};

}  // namespace dragoman
