#include "base/scratch_folder.h"

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <string>
#include <system_error>

#include "base/error.h"
#include "base/unfinished.h"

namespace dragoman {

ScratchFolder::ScratchFolder(const std::filesystem::path& begin) {
  std::string name = begin.string() + "XXXXXX";
  if (mkdtemp(name.data()) == nullptr)
    throw Error(name, ": cannot create the folder: ", std::strerror(errno));
  path_ = name;
  add_unfinished(path_);
}

ScratchFolder::~ScratchFolder() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
  forget_unfinished(path_);
}

}  // namespace dragoman
