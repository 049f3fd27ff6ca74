// Documents of Markdown, translated by the translators of word_translators.h.
#pragma once

#include <string>
#include <vector>

#include "extras/markup/markup_formats.h"
#include "extras/markup/writing.h"
#include "tests/extras/markup/word_translators.h"

namespace dragoman {

inline std::vector<std::string> texts_of(const std::string& markdown) {
  return texts_of(parse_markdown(markdown));
}

inline std::string turned(const std::string& markdown) {
  return translated(parse_markdown(markdown), reversed);
}

inline std::string same(const std::string& markdown) {
  return translated(parse_markdown(markdown), in_order);
}

}  // namespace dragoman
