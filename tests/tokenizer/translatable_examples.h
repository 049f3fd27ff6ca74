// Texts of one line, and whether they are translated or, as what, copied:
// translatable_examples.tsv.
#pragma once

#include <string>
#include <vector>

#include "base/text_lines.h"

namespace dragoman {

struct TranslatableExample {
  std::string kind;  ///< of CopiedKind; "translated": none
  std::string text;
  bool is_copied() const { return kind != "translated"; }
};

inline std::vector<TranslatableExample> translatable_examples(const std::string& path) {
  std::vector<TranslatableExample> examples;
  for (const std::string& line : read_lines(path)) {
    const std::size_t tab = line.find('\t');
    examples.push_back({line.substr(0, tab), line.substr(tab + 1)});
  }
  return examples;
}

}  // namespace dragoman
