#include "extras/server/language_detector.h"

#include <cstdio>  // which the header of CLD2 needs

#include <cld2/public/compact_lang_det.h>
#include <cld2/public/encodings.h>

#include <algorithm>
#include <optional>

#include "base/utf8.h"
#include "extras/server/language_codes.h"

namespace dragoman {

namespace {

enum class Hint { None, Languages };
enum class Effort { Reliable, Best };

/// CLD2's code of a language of ours.
std::string cld_code(const std::string& code) {
  if (code == "zt" || code == "zh-Hant" || code == "zh-TW") return "zh-Hant";
  if (code == "nb") return "no";
  if (code == "he") return "iw";
  if (code == "jv") return "jw";
  return language_of(code);
}

std::string hint_of(const std::vector<std::string>& languages) {
  std::string hint;
  for (const std::string& language : languages)
    hint.append(hint.empty() ? "" : ",").append(cld_code(language));
  return hint;
}

std::optional<DetectedLanguage> find(std::string_view text,
                                     const std::vector<std::string>& languages, Hint hint,
                                     Effort effort) {
  const std::string names = hint_of(languages);
  const CLD2::CLDHints hints{hint == Hint::Languages ? names.c_str() : nullptr, nullptr,
                             CLD2::UNKNOWN_ENCODING, CLD2::UNKNOWN_LANGUAGE};
  CLD2::Language found[3];
  int percent[3], bytes = 0;
  double scores[3];
  bool is_reliable = false;
  CLD2::ExtDetectLanguageSummary(text.data(), static_cast<int>(text.size()), true, &hints,
                                 effort == Effort::Best ? CLD2::kCLDFlagBestEffort : 0, found,
                                 percent, scores, nullptr, &bytes, &is_reliable);
  if (!is_reliable) return std::nullopt;
  const std::string code = CLD2::LanguageCode(found[0]);
  for (const std::string& language : languages)
    if (cld_code(language) == code)
      return DetectedLanguage{.language = language, .confidence = static_cast<double>(percent[0])};
  return std::nullopt;
}

}  // namespace

DetectedLanguage detect_language(std::string_view text, const std::vector<std::string>& languages) {
  constexpr std::size_t kEnough = 65'536;  // bytes
  text = text.substr(0, character_start(text, std::min(text.size(), kEnough)));
  if (auto sure = find(text, languages, Hint::None, Effort::Reliable)) return *sure;
  for (const Hint hint : {Hint::None, Hint::Languages})
    if (auto likely = find(text, languages, hint, Effort::Best)) {
      likely->confidence /= 2;
      return *likely;
    }
  return {.language = languages.front()};
}

}  // namespace dragoman
