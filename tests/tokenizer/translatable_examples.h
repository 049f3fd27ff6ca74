// translatable_examples.tsv: texts of one line, each with the kind as which it is copied, or
// "translated".
#pragma once

#include <string>
#include <vector>

#include "base/lines.h"

namespace dragoman {

struct TranslatableExample {
  std::string kind;  ///< the name of a CopiedKind, or "translated"
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
