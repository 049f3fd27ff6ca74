// A folder that gets its name when it is complete.
#pragma once

#include <filesystem>
#include <optional>

#include "base/scratch_folder.h"

namespace dragoman {

/// Files are written into path(); commit() puts the folder in place. Without commit() the
/// destructor removes it. A link to an empty folder stays a
/// link.
class NewFolder {
 public:
  /// Throws Error where `folder` exists and is not empty, or cannot be made.
  explicit NewFolder(std::filesystem::path folder);
  NewFolder(const NewFolder&) = delete;
  NewFolder& operator=(const NewFolder&) = delete;

  const std::filesystem::path& path() const { return part_->path(); }
  void commit();  ///< throws Error

 private:
  std::filesystem::path folder_;
  std::optional<ScratchFolder> part_;  ///< removes nothing once it has its name
};

}  // namespace dragoman
