#include <cstddef>
#include <cstdint>

#include "data/alignment/links.h"
#include "data/alignment/words.h"
#include "tests/fuzz/read_or_refused.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(bytes), size);
  const std::string_view line = text.substr(0, text.find('\n'));
  for (const dragoman::ByteRange& word : dragoman::word_places(line))
    if (word.begin >= word.end || word.end > line.size()) std::abort();
  dragoman::read_or_refused([&] {
    for (const dragoman::WordLink& link : dragoman::parse_links(line))
      if (link.source < 0 || link.target < 0) std::abort();
  });
  return 0;
}
