// Markdown, translated by words.
#pragma once

#include <string>
#include <vector>

#include "extras/markup/markdown.h"
#include "tests/extras/markup/word_translators.h"

namespace dragoman {

using Texts = std::vector<std::string>;

inline Texts texts_of(const std::string& markdown) {
  Texts texts;
  for (const Passage& passage : parse_markdown(markdown).passages) texts.push_back(passage.text);
  return texts;
}

inline std::string turned(const std::string& markdown) {
  return translated(parse_markdown(markdown), reversed);
}

inline std::string same(const std::string& markdown) {
  return translated(parse_markdown(markdown), in_order);
}

}  // namespace dragoman
