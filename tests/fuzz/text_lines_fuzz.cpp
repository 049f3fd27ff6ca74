// Lines of text, as references and glossaries are read: plain, or compressed with gzip, zstd or xz.
#include <cstddef>
#include <cstdint>

#include "base/lines.h"
#include "base/utf8.h"
#include "tests/fuzz/read_or_refused.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  const dragoman::MemoryFile file({reinterpret_cast<const char*>(bytes), size});
  dragoman::read_or_refused([&] {
    for (const std::string& line : dragoman::read_lines(file.path()))
      if (dragoman::find_invalid_utf8(line) != std::string::npos) std::abort();
  });
  return 0;
}
