#include "formats/new_folder.h"

#include <cerrno>
#include <cstdlib>
#include <string>
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
  std::string name = folder_.string() + ".XXXXXX";
  if (::mkdtemp(name.data()) == nullptr)
    throw Error(folder_.string(),
                ": cannot make the folder: ", std::generic_category().message(errno));
  part_ = name;
  fs::permissions(part_, fs::perms(0777) & ~fs::perms(0022), ignored);  // mkdtemp's are 0700
}

NewFolder::~NewFolder() {
  std::error_code ignored;
  if (!committed_) fs::remove_all(part_, ignored);
}

void NewFolder::commit() {
  std::error_code failure;
  fs::rename(part_, folder_, failure);  // also over an empty folder
  if (failure) throw Error(folder_.string(), ": cannot be put in place: ", failure.message());
  committed_ = true;
}

}  // namespace dragoman
