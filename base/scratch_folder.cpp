#include "base/scratch_folder.h"

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <string>
#include <system_error>

#include "base/error.h"

namespace dragoman {

ScratchFolder::ScratchFolder(const std::filesystem::path& begin) {
  std::string name = begin.string() + "XXXXXX";
  if (mkdtemp(name.data()) == nullptr)
    throw Error(name, ": cannot create the folder: ", std::strerror(errno));
  path_ = name;
}

ScratchFolder::~ScratchFolder() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

}  // namespace dragoman
