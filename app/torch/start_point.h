// Where a run starts: its folder, locked, and the checkpoint that it goes on from. Rank 0 alone
// does this, while no rank is at work in the folder yet.
#pragma once

#include <memory>
#include <optional>
#include <utility>

#include "base/files.h"
#include "training/checkpoint.h"

namespace dragoman {

/// A folder that this command has made. One that fails before the first update leaves no empty
/// folders.
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

/// Of a folder that is there, locked; nothing where there is none. Throws Error where the folder
/// has results that the run would write over.
StartPoint find_start(const RunFolder& folder);

/// Makes and locks the folder, once the settings have been checked, and removes what killed
/// processes have left there.
void lock_folder(const RunFolder& folder, StartPoint& start);

}  // namespace dragoman
