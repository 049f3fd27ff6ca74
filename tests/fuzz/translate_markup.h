// Reads a document with markup and writes it with translations that any engine might give.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>

#include "base/utf8.h"
#include "extras/markup/document.h"
#include "tests/extras/markup/word_translators.h"
#include "tests/fuzz/read_or_refused.h"

namespace dragoman {

inline void translate_markup(MarkupFormat format, const std::uint8_t* bytes, std::size_t size) {
  const std::string text(reinterpret_cast<const char*>(bytes), size);
  if (find_invalid_utf8(text) != std::string::npos) return;  // which no caller passes on
  read_or_refused([&] {
    const MarkupDocument document = parse_document(format, text);
    // Messages and units are filled in if they have no translation, and labels beside links. A
    // <meta> of HTML declares UTF-8.
    const bool has_units = text.find("xliff") < size || text.find("tmx") < size;
    const bool adds = format == MarkupFormat::Po || format == MarkupFormat::Markdown ||
                      (format == MarkupFormat::Xml && has_units) ||
                      (format == MarkupFormat::Html && ascii_lower(text).find("<meta") < size);
    if (!adds && document.bytes != text) std::abort();
    for (const Passage& passage : document.passages)
      if (find_invalid_utf8(passage.text) != std::string::npos) std::abort();
    RandomStream random(1, size);
    const auto translate = [&](std::string_view line) { return random_translation(line, random); };
    for (const std::string& result :
         {translated(document, reversed), translated(document, translate)})
      if (find_invalid_utf8(result) != std::string::npos) std::abort();
  });
}

}  // namespace dragoman
