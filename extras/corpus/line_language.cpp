#include "extras/corpus/line_facts.h"

#include <cstdio>  // which the header of CLD2 needs

#include <cld2/public/compact_lang_det.h>
#include <cld2/public/encodings.h>

#include <algorithm>
#include <array>

#include "base/utf8.h"

namespace dragoman {

namespace {

struct Verdict {
  std::string code;
  int percent = 0;  ///< of the text
};

Verdict verdict_on(std::string_view text, const char* hint) {
  const CLD2::CLDHints hints{hint, nullptr, CLD2::UNKNOWN_ENCODING, CLD2::UNKNOWN_LANGUAGE};
  CLD2::Language found[3];
  int percent[3], bytes = 0;
  double scores[3];
  bool is_reliable = false;
  CLD2::ExtDetectLanguageSummary(text.data(), static_cast<int>(text.size()), true, &hints, 0, found,
                                 percent, scores, nullptr, &bytes, &is_reliable);
  if (!is_reliable || found[0] == CLD2::UNKNOWN_LANGUAGE) return {};
  return {CLD2::LanguageCode(found[0]), percent[0]};
}

/// One of the languages that a line may be mistaken for stands for all; other codes stay, without
/// a region.
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

std::string language_of_text(std::string_view text) { return verdict_on(text, nullptr).code; }

std::string other_language(std::string_view line, const std::string& expected) {
  constexpr int kMost = 80;  // percent of the line
  const Verdict verdict = verdict_on(line, expected.c_str());
  if (verdict.percent < kMost || family_of(verdict.code) == family_of(expected)) return "";
  return verdict.code;
}

}  // namespace dragoman
