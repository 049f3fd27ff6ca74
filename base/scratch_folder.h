// A temporary folder.
#pragma once

#include <filesystem>

namespace dragoman {

/// A new folder, which is removed with all that is in it when the object dies.
class ScratchFolder {
 public:
  /// The folder gets the name `begin` and six more characters, and did not exist before. Only
  /// this user may read it. Throws Error that names it.
  explicit ScratchFolder(const std::filesystem::path& begin);
  ScratchFolder(const ScratchFolder&) = delete;
  ScratchFolder& operator=(const ScratchFolder&) = delete;
  ~ScratchFolder();

  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

}  // namespace dragoman
