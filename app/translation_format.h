// A line of translate's input as it is understood, and a translation as it is written: plain text
// with fields behind " ||| " as Marian writes them, or JSON.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "inference/translation_queue.h"

namespace dragoman {

/// Word alignment in Pharaoh format.
enum class AlignmentFormat {
  None,
  Hard,  ///< "0-0 1-2": for each target word the source word with most attention
  Soft,  ///< for each target word its attention to all source words: "0.9,0.1 0.2,0.8"
};
constexpr std::array<std::string_view, 3> names_of(AlignmentFormat) {
  return {"none", "hard", "soft"};
}

struct TranslationFormat {
  bool json = false;
  bool all = false;  ///< of the n best
  bool scores = false;
  bool word_scores = false;
  AlignmentFormat alignment = AlignmentFormat::None;

  /// The line of output, or the lines where `all`.
  std::vector<std::string> lines(const Translation& translation) const;
};

/// An object with the field "text" and perhaps "prefix", which goes along as payload. Throws Error
/// that begins with `place`.
LineInput read_json_line(const std::string& line, const std::string& place);

}  // namespace dragoman
