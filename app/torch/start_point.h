// The start of a run: its locked folder, and the checkpoint that it goes on from. Rank 0 alone does
// this, before any rank works in the folder.
#pragma once

#include <memory>
#include <optional>
#include <utility>

#include "base/files.h"
#include "training/checkpoint.h"

namespace dragoman {

/// A folder that this command has made. It is removed at the end if it is still empty.
class MadeFolder {
 public:
  explicit MadeFolder(RunFolder folder) : folder_(std::move(folder)) {}
  MadeFolder(const MadeFolder&) = delete;
  MadeFolder& operator=(const MadeFolder&) = delete;
  ~MadeFolder();

 private:
  RunFolder folder_;
};

struct StartPoint {
  std::unique_ptr<MadeFolder> made;
  std::unique_ptr<FolderLock> lock;
  std::optional<FoundCheckpoint> found;
};

/// Throws Error where a run without a checkpoint would write over another run's results.
void require_nothing_to_lose(const RunFolder& folder);

/// Where the folder exists, locks it and finds its checkpoint; otherwise returns nothing. Throws
/// Error where the folder has results that the run would write over.
StartPoint find_start(const RunFolder& folder);

/// Makes and locks the folder, once the settings have been checked, and removes the remains of
/// killed processes.
void lock_folder(const RunFolder& folder, StartPoint& start);

}  // namespace dragoman
