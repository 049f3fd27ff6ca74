#include "app/torch/start_point.h"

#include <filesystem>
#include <system_error>

#include "app/frame/log.h"
#include "base/error.h"

namespace dragoman {

void require_nothing_to_lose(const RunFolder& folder) {
  for (const auto& path : {folder.model(), folder.best(), folder.log()})
    if (std::filesystem::is_regular_file(path))
      throw Error(path.string(),
                  ": is there, but no checkpoint to go on from; give another -o for another run, "
                  "or remove it");
}

MadeFolder::~MadeFolder() {
  std::error_code not_empty;
  std::filesystem::remove(folder_.corpus(), not_empty);
  std::filesystem::remove(folder_.root, not_empty);
}

void lock_folder(const RunFolder& folder, StartPoint& start) {
  if (start.lock) return;
  if (!std::filesystem::exists(folder.root)) start.made = std::make_unique<MadeFolder>(folder);
  create_folders(folder.root);
  start.lock = std::make_unique<FolderLock>(
      folder.root, "another training is at work here; wait for its end, or give another -o");
  for (const auto& part : {folder.root, folder.checkpoints(), folder.corpus()})
    remove_leftovers(part);
}

StartPoint find_start(const RunFolder& folder) {
  StartPoint start;
  if (!std::filesystem::exists(folder.root)) return start;
  lock_folder(folder, start);
  start.found = find_checkpoint_to_resume(folder, log_warning);
  if (!start.found) require_nothing_to_lose(folder);
  return start;
}

}  // namespace dragoman
