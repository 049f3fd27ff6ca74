// The language of a text, and of a line.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/language_codes.h"

namespace dragoman {

struct DetectedLanguage {
  std::string language;   ///< one of the languages that were asked for
  double confidence = 0;  ///< in percent; 0: nothing speaks for it
};

/// The language of `text` (valid UTF-8) among `languages` (at least one), codes of ISO 639, by
/// CLD2's statistics of letters and words. A few words leave doubt, and the confidence says so: it
/// is halved if CLD2 calls its finding unreliable, or finds the language only when it is told which
/// ones there are. If the text gives no hint, it is the first of `languages`.
DetectedLanguage detect_language(std::string_view text, const std::vector<std::string>& languages);

/// The code of the language of a long text, "de"; empty if CLD2 is not sure. The text must be valid
/// UTF-8.
std::string language_of_text(std::string_view text);

/// The code of the language of most of a line if it is certainly not `expected` (a code of ISO 639,
/// with or without a region); empty otherwise. Languages that CLD2 mistakes for each other in
/// single lines ("da" and "no") count as one. The line must be valid UTF-8.
std::string other_language(std::string_view line, const std::string& expected);

}  // namespace dragoman
