// The words of a translation as an answer reports them: where they stand, how probable each is, and
// the words of the source that they translate.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "inference/translation.h"

namespace dragoman {

/// Code points [begin, end) of a text.
struct TextSpan {
  std::size_t begin = 0, end = 0;
  bool empty() const { return begin == end; }
  bool operator==(const TextSpan&) const = default;
};

struct ReportedWord {
  TextSpan target = {};    ///< in the translation
  double probability = 0;  ///< of the word's pieces, after the words in front of it
  TextSpan source = {};    ///< the word that gets the most attention; empty: none, or not asked for
  bool operator==(const ReportedWord&) const = default;
};

/// The words of a line's translation. `source` is the line, valid UTF-8.
std::vector<ReportedWord> report_words(std::string_view source, const TranslatedText& translation);

/// The attention of the second of two models to the words of the first one's source. Without
/// attention where the words of the line between them are not those that the second model read.
std::vector<TranslatedWord> through_pivot(const std::vector<TranslatedWord>& first,
                                          std::vector<TranslatedWord> second);

}  // namespace dragoman
