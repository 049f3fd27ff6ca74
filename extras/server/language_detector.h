// Finds the language of a text, by CLD2's statistics of letters and words.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace dragoman {

struct DetectedLanguage {
  std::string language;   ///< one of the languages that were asked for
  double confidence = 0;  ///< in percent; 0: nothing speaks for it
};

/// The language of `text` (valid UTF-8) among `languages` (at least one), codes of ISO 639. A few
/// words leave doubt, and the confidence says so: it is halved where CLD2 calls its finding
/// unreliable, or finds the language only when it is told which ones there are. The first of
/// `languages` where the text gives no hint.
DetectedLanguage detect_language(std::string_view text, const std::vector<std::string>& languages);

}  // namespace dragoman
