// A glossary; then, after a line of "==", a source line that is searched for its terms.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/utf8.h"
#include "tests/fuzz/read_or_refused.h"
#include "tokenizer/terms.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  constexpr std::string_view kBorder = "\n==\n";
  const std::string_view text(reinterpret_cast<const char*>(bytes), size);
  const std::size_t border = std::min(text.find(kBorder), text.size());
  const std::string_view line = text.substr(std::min(border + kBorder.size(), text.size()));
  if (dragoman::find_invalid_utf8(line) != line.npos) return 0;  // lines are repaired before
  const dragoman::MemoryFile file(text.substr(0, border));
  dragoman::read_or_refused([&] {
    const dragoman::Terms terms(file.path());
    const auto found = terms.find(line);
    for (const dragoman::RequiredText& required : found)
      if (required.begin >= required.end || required.end > line.size()) std::abort();
    dragoman::unmet_texts(found, line);
  });
  return 0;
}
