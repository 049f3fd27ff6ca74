// Pages and XML in the charset that they declare: read, translated, and written in it again. The
// size of the input chooses the format.
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>

#include "base/utf8.h"
#include "extras/markup/charset.h"
#include "tests/extras/markup/word_translators.h"
#include "tests/fuzz/read_or_refused.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  using dragoman::MarkupFormat;
  const MarkupFormat format = size % 2 == 0 ? MarkupFormat::Html : MarkupFormat::Xml;
  dragoman::read_or_refused([&] {
    dragoman::FileText file =
        dragoman::file_text(format, {reinterpret_cast<const char*>(bytes), size});
    if (dragoman::find_invalid_utf8(file.text) != std::string::npos) return;
    dragoman::MarkupOptions options;
    options.charset = std::move(file.charset);
    dragoman::translated(dragoman::parse_document(format, std::move(file.text), options),
                         dragoman::reversed);
  });
  return 0;
}
