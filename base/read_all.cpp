#include "base/read_all.h"

#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <vector>

#include "base/error.h"

namespace dragoman {

std::string read_all(int descriptor, std::string_view name) {
  std::string bytes;
  std::vector<char> block(1 << 16);
  while (true) {
    const ssize_t size = read(descriptor, block.data(), block.size());
    if (size == 0) return bytes;
    if (size > 0)
      bytes.append(block.data(), static_cast<std::size_t>(size));
    else if (errno != EINTR)
      throw Error(name, ": cannot read: ", std::strerror(errno));
  }
}

}  // namespace dragoman
