// A folder that gets its name when it is complete.
#pragma once

#include <filesystem>

namespace dragoman {

/// Files are written into path(); commit() puts the folder in place. Without commit() it is
/// removed. A link to an empty folder stays a link.
class NewFolder {
 public:
  /// Throws Error where `folder` exists and is not empty, or cannot be made.
  explicit NewFolder(std::filesystem::path folder);
  NewFolder(const NewFolder&) = delete;
  NewFolder& operator=(const NewFolder&) = delete;
  ~NewFolder();

  const std::filesystem::path& path() const { return part_; }
  void commit();  ///< throws Error

 private:
  std::filesystem::path folder_, part_;
  bool committed_ = false;
};

}  // namespace dragoman
