// Files with both sides of a parallel text: TMX, XLIFF, tables, JSON lines, zip archives. The
// fuzzer asks for other languages and columns with each size of the input.
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "data/pair_files.h"
#include "tests/fuzz/read_or_refused.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  static const std::array<dragoman::PairFileOptions, 4> kOptions = {
      {{}, {"en", "de", {}}, {"", "", {"2", "1"}}, {"", "", {"source", "target"}}}};
  const dragoman::MemoryFile file({reinterpret_cast<const char*>(bytes), size});
  dragoman::read_or_refused([&] {
    std::int64_t pairs = 0;
    const auto facts = dragoman::read_pair_file(
        file.path(), kOptions[size % kOptions.size()],
        [&pairs](std::string_view source, std::string_view target) {
          ++pairs;
          for (const std::string_view side : {source, target})
            if (side.find('\n') != side.npos) std::abort();
        },
        [](std::int64_t) {});
    if (facts.pairs != pairs || facts.left_out < 0) std::abort();
  });
  return 0;
}
