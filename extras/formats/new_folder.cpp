#include "extras/formats/new_folder.h"

#include <system_error>
#include <utility>

#include "base/error.h"
#include "base/files.h"

namespace dragoman {

namespace fs = std::filesystem;

NewFolder::NewFolder(fs::path folder) : folder_(std::move(folder)) {
  if (!folder_.has_filename()) folder_ = folder_.parent_path();
  folder_ = resolved_links(folder_);
  std::error_code ignored;
  if (fs::exists(folder_, ignored) &&
      !(fs::is_directory(folder_, ignored) && fs::is_empty(folder_, ignored)))
    throw Error(folder_.string(), ": is there and not empty; name a new folder");
  if (folder_.has_parent_path()) fs::create_directories(folder_.parent_path(), ignored);
  part_.emplace(folder_.string() + ".");
  fs::permissions(path(), fs::perms(0755), ignored);  // of a ScratchFolder 0700
}

void NewFolder::commit() {
  std::error_code failure;
  fs::rename(path(), folder_, failure);  // also over an empty folder
  if (failure) throw Error(folder_.string(), ": cannot be put in place: ", failure.message());
  sync_folder(folder_of(folder_));
}

}  // namespace dragoman
