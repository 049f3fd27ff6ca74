#include "base/language_codes.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <utility>

#include "base/compressed_text.h"
#include "base/error.h"
#include "base/utf8.h"

namespace dragoman {

namespace {

using Entry = std::pair<std::string_view, std::string_view>;

constexpr auto kLanguageNames = std::to_array<Entry>({
    {"af", "Afrikaans"},
    {"am", "Amharic"},
    {"ar", "Arabic"},
    {"az", "Azerbaijani"},
    {"be", "Belarusian"},
    {"bg", "Bulgarian"},
    {"bn", "Bengali"},
    {"bs", "Bosnian"},
    {"ca", "Catalan"},
    {"cs", "Czech"},
    {"cy", "Welsh"},
    {"da", "Danish"},
    {"de", "German"},
    {"el", "Greek"},
    {"en", "English"},
    {"eo", "Esperanto"},
    {"es", "Spanish"},
    {"et", "Estonian"},
    {"eu", "Basque"},
    {"fa", "Persian"},
    {"fi", "Finnish"},
    {"fo", "Faroese"},
    {"fr", "French"},
    {"fy", "Western Frisian"},
    {"ga", "Irish"},
    {"gd", "Scottish Gaelic"},
    {"gl", "Galician"},
    {"gu", "Gujarati"},
    {"ha", "Hausa"},
    {"he", "Hebrew"},
    {"hi", "Hindi"},
    {"hr", "Croatian"},
    {"hsb", "Upper Sorbian"},
    {"ht", "Haitian Creole"},
    {"hu", "Hungarian"},
    {"hy", "Armenian"},
    {"id", "Indonesian"},
    {"ig", "Igbo"},
    {"is", "Icelandic"},
    {"it", "Italian"},
    {"ja", "Japanese"},
    {"jv", "Javanese"},
    {"ka", "Georgian"},
    {"kk", "Kazakh"},
    {"km", "Khmer"},
    {"kn", "Kannada"},
    {"ko", "Korean"},
    {"ku", "Kurdish"},
    {"ky", "Kyrgyz"},
    {"la", "Latin"},
    {"lb", "Luxembourgish"},
    {"lo", "Lao"},
    {"lt", "Lithuanian"},
    {"lv", "Latvian"},
    {"mg", "Malagasy"},
    {"mi", "Maori"},
    {"mk", "Macedonian"},
    {"ml", "Malayalam"},
    {"mn", "Mongolian"},
    {"mr", "Marathi"},
    {"ms", "Malay"},
    {"mt", "Maltese"},
    {"my", "Burmese"},
    {"nb", "Norwegian Bokmål"},
    {"ne", "Nepali"},
    {"nl", "Dutch"},
    {"nn", "Norwegian Nynorsk"},
    {"no", "Norwegian"},
    {"oc", "Occitan"},
    {"or", "Odia"},
    {"pa", "Punjabi"},
    {"pb", "Portuguese (Brazil)"},
    {"pl", "Polish"},
    {"ps", "Pashto"},
    {"pt", "Portuguese"},
    {"pt-BR", "Portuguese (Brazil)"},
    {"pt-PT", "Portuguese (Portugal)"},
    {"ro", "Romanian"},
    {"ru", "Russian"},
    {"rw", "Kinyarwanda"},
    {"sd", "Sindhi"},
    {"si", "Sinhala"},
    {"sk", "Slovak"},
    {"sl", "Slovenian"},
    {"sn", "Shona"},
    {"so", "Somali"},
    {"sq", "Albanian"},
    {"sr", "Serbian"},
    {"sv", "Swedish"},
    {"sw", "Swahili"},
    {"ta", "Tamil"},
    {"te", "Telugu"},
    {"tg", "Tajik"},
    {"th", "Thai"},
    {"tk", "Turkmen"},
    {"tl", "Tagalog"},
    {"tr", "Turkish"},
    {"tt", "Tatar"},
    {"ug", "Uyghur"},
    {"uk", "Ukrainian"},
    {"ur", "Urdu"},
    {"uz", "Uzbek"},
    {"vi", "Vietnamese"},
    {"wo", "Wolof"},
    {"xh", "Xhosa"},
    {"yi", "Yiddish"},
    {"yo", "Yoruba"},
    {"zh", "Chinese"},
    {"zh-Hans", "Chinese (simplified)"},
    {"zh-Hant", "Chinese (traditional)"},
    {"zt", "Chinese (traditional)"},
    {"zu", "Zulu"},
});

/// Two codes of the same language, in lower case; as LibreTranslate's language.py has them.
constexpr auto kAliases =
    std::to_array<Entry>({{"pb", "pt-br"}, {"zh", "zh-hans"}, {"zt", "zh-hant"}});

/// Codes by region, as Google has them, and those by script, in lower case.
constexpr auto kScripts = std::to_array<Entry>(
    {{"zh-cn", "zh-hans"}, {"zh-hk", "zh-hant"}, {"zh-sg", "zh-hans"}, {"zh-tw", "zh-hant"}});

/// The other code of the language; empty if there is none.
std::string_view alias_of(std::string_view lower_code) {
  for (const auto& [one, other] : kAliases) {
    if (one == lower_code) return other;
    if (other == lower_code) return one;
  }
  return {};
}

bool all_of_range(std::string_view text, char first, char last) {
  return std::ranges::all_of(text, [=](char c) { return c >= first && c <= last; });
}

/// A script ("Hant") or a region ("BR", "419").
bool is_subtag(std::string_view text) {
  if (text.size() == 4)
    return all_of_range(text.substr(0, 1), 'A', 'Z') && all_of_range(text.substr(1), 'a', 'z');
  return (text.size() == 2 && all_of_range(text, 'A', 'Z')) ||
         (text.size() == 3 && all_of_range(text, '0', '9'));
}

}  // namespace

bool is_language_code(std::string_view text) {
  const std::string_view language = text.substr(0, text.find('-'));
  if (language.size() < 2 || language.size() > 3 || !all_of_range(language, 'a', 'z')) return false;
  for (text.remove_prefix(language.size()); !text.empty();) {
    text.remove_prefix(1);
    const std::string_view subtag = text.substr(0, text.find('-'));
    if (!is_subtag(subtag)) return false;
    text.remove_prefix(subtag.size());
  }
  return true;
}

std::optional<LanguagePair> parse_language_pair(std::string_view text) {
  for (std::size_t at = 0; (at = text.find('-', at)) != std::string_view::npos; ++at)
    if (is_language_code(text.substr(0, at)) && is_language_code(text.substr(at + 1)))
      return LanguagePair{std::string(text.substr(0, at)), std::string(text.substr(at + 1))};
  return std::nullopt;
}

std::string normal_code(std::string_view text) {
  std::string code = ascii_lower(text);
  std::ranges::replace(code, '_', '-');
  for (std::size_t begin = code.find('-'); begin < code.size();) {
    const std::size_t end = std::min(code.find('-', ++begin), code.size());
    const std::size_t capitals = end - begin == 2 ? 2 : end - begin == 4 ? 1 : 0;
    for (std::size_t i = begin; i < begin + capitals; ++i)
      if (code[i] >= 'a' && code[i] <= 'z') code[i] = static_cast<char>(code[i] - 'a' + 'A');
    begin = end;
  }
  return is_language_code(code) ? code : "";
}

void check_language_code(std::string_view flag, std::string_view text) {
  if (normal_code(text).empty())
    throw UsageError("--", flag, ": '", text,
                     "' is not the code of a language; write de for German, or pt-BR for the "
                     "Portuguese of Brazil");
}

std::string language_of_file(const std::string& path) {
  const std::string ending = std::filesystem::path(plain_name(path)).extension().string();
  const std::string code = normal_code(ending.empty() ? "" : ending.substr(1));
  const bool is_known =
      std::ranges::find(kLanguageNames, language_of(code), &Entry::first) != kLanguageNames.end();
  return is_known ? code : "";
}

std::string language_of(std::string_view code) {
  if (const std::string_view alias = alias_of(code); code.find('-') == code.npos && !alias.empty())
    code = alias;
  return std::string(code.substr(0, code.find('-')));
}

std::string find_language_code(std::string_view code, const std::vector<std::string>& known) {
  const std::string lower = ascii_lower(code);
  const auto* by_region = std::ranges::find(kScripts, lower, &Entry::first);
  const std::string_view script = by_region == kScripts.end() ? "" : by_region->second;
  for (const std::string_view spelling :
       {std::string_view(lower), alias_of(lower), script, alias_of(script)})
    for (const std::string& candidate : known)
      if (ascii_lower(candidate) == spelling) return candidate;
  return {};
}

std::string find_served_code(std::string_view code, const std::vector<std::string>& known) {
  if (std::string found = find_language_code(code, known); !found.empty()) return found;
  const std::string lower = ascii_lower(code), language = language_of(lower);
  for (const std::string& candidate : known)
    if (ascii_lower(candidate) == language) return candidate;
  for (const std::string& candidate : known)
    if (lower == language && language_of(ascii_lower(candidate)) == language) return candidate;
  return {};
}

std::string language_name(std::string_view code) {
  const auto* found = std::ranges::find(kLanguageNames, code, &Entry::first);
  return std::string(found == kLanguageNames.end() ? code : found->second);
}

}  // namespace dragoman
