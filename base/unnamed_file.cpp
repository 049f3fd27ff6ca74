#include "base/unnamed_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

#include "base/error.h"

namespace dragoman {

UnnamedFile::UnnamedFile(const std::filesystem::path& folder) : folder_(folder) {
  std::string name = (folder / "unnamed.XXXXXX").string();
  const int descriptor = mkostemp(name.data(), O_CLOEXEC);
  if (descriptor < 0) throw Error(folder.string(), ": cannot write: ", std::strerror(errno));
  unlink(name.c_str());
  file_ = fdopen(descriptor, "w+");
  if (file_ == nullptr) {
    const int why = errno;
    close(descriptor);
    throw Error(folder.string(), ": cannot write: ", std::strerror(why));
  }
}

UnnamedFile::~UnnamedFile() { std::fclose(file_); }

void UnnamedFile::append(const void* bytes, std::size_t size) {
  if (std::fwrite(bytes, 1, size, file_) != size)
    throw Error(folder_.string(), ": cannot write: ", std::strerror(errno));
}

MappedFile UnnamedFile::map() {
  if (std::fflush(file_) != 0)
    throw Error(folder_.string(), ": cannot write: ", std::strerror(errno));
  return MappedFile("/proc/self/fd/" + std::to_string(fileno(file_)));
}

}  // namespace dragoman
