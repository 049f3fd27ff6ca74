#include "data/languages.h"

#include <cstdio>  // which the header of CLD2 needs

#include <cld2/public/compact_lang_det.h>
#include <cld2/public/encodings.h>

#include <algorithm>
#include <array>
#include <optional>

#include "base/formatted_text.h"
#include "base/utf8.h"

namespace dragoman {

// ---- the language of a text, by CLD2 ------------------------------------------------------------

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

/// What CLD2 says about a text. The code is its own; empty if it is not sure.
struct Verdict {
  std::string code;
  int percent = 0;  ///< of the text
};

/// `hint`: codes with commas between, or null.
Verdict verdict_on(std::string_view text, const char* hint, Effort effort) {
  const CLD2::CLDHints hints{hint, nullptr, CLD2::UNKNOWN_ENCODING, CLD2::UNKNOWN_LANGUAGE};
  CLD2::Language found[3];
  int percent[3], bytes = 0;
  double scores[3];
  bool is_reliable = false;
  CLD2::ExtDetectLanguageSummary(text.data(), static_cast<int>(text.size()), true, &hints,
                                 effort == Effort::Best ? CLD2::kCLDFlagBestEffort : 0, found,
                                 percent, scores, nullptr, &bytes, &is_reliable);
  if (!is_reliable || found[0] == CLD2::UNKNOWN_LANGUAGE) return {};
  return {CLD2::LanguageCode(found[0]), percent[0]};
}

std::optional<DetectedLanguage> find(std::string_view text,
                                     const std::vector<std::string>& languages, Hint hint,
                                     Effort effort) {
  const std::string names = joined(languages, ",", cld_code);
  const Verdict verdict =
      verdict_on(text, hint == Hint::Languages ? names.c_str() : nullptr, effort);
  for (const std::string& language : languages)
    if (cld_code(language) == verdict.code)
      return DetectedLanguage{.language = language,
                              .confidence = static_cast<double>(verdict.percent)};
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

// ---- the languages of lines, by CLD2 ------------------------------------------------------------

namespace {

/// One code for all languages that are mistaken for each other; other codes stay, without a region.
std::string family_of(std::string_view code) {
  std::string language = ascii_lower(code.substr(0, code.find_first_of("-_")));
  constexpr std::array<std::string_view, 8> kFamilies = {
      "no nb nn da sv", "hr sr bs sl",       "cs sk", "id ms jw jv su",
      "es gl pt ca",    "ru uk be bg mk sr", "nl af", "iw he yi"};
  for (const std::string_view family : kFamilies)
    if (family.find(language) != family.npos) return std::string(family);
  return language;
}

}  // namespace

std::string language_of_text(std::string_view text) {
  return verdict_on(text, nullptr, Effort::Reliable).code;
}

std::string other_language(std::string_view line, const std::string& expected) {
  constexpr int kMost = 80;  // percent of the line
  const Verdict verdict = verdict_on(line, expected.c_str(), Effort::Reliable);
  if (verdict.percent < kMost || family_of(verdict.code) == family_of(expected)) return "";
  return verdict.code;
}

}  // namespace dragoman
