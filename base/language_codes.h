// Codes of languages, and their names.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace dragoman {

/// Codes are those of ISO 639, followed by a hyphen and a script or region if one is meant ("de",
/// "pt-BR", "zh-Hant").
struct LanguagePair {
  std::string source, target;
  auto operator<=>(const LanguagePair&) const = default;

  std::string name() const { return source + "-" + target; }  ///< "en-de"
};

/// "en-de", "zh-Hant-en", "en-pt-BR"; nothing for other texts.
std::optional<LanguagePair> parse_language_pair(std::string_view text);

bool is_language_code(std::string_view text);

/// The code as others write it, in our spelling: "pt-BR" for "PT_br"; empty for other texts.
std::string normal_code(std::string_view text);

/// Throws UsageError that names the flag if normal_code() does not know the text.
void check_language_code(std::string_view flag, std::string_view text);

/// The language that the ending of a file's name gives, or the one before an ending of compressed
/// text: "en" for "train.en" and "news.en.gz". Empty if it is not the code of a language that has a
/// name here.
std::string language_of_file(const std::string& path);

/// The code without script and region: "pt" for "pt-BR". LibreTranslate's "pb" and "zt" give "pt"
/// and "zh".
std::string language_of(std::string_view code);

/// The one of `known` that `code` means: the same, in upper or lower case, or else the same
/// language by LibreTranslate's other code for it ("pb" is "pt-BR", "zh" is "zh-Hans", "zt" is
/// "zh-Hant"), or by the region of Chinese ("zh-CN" is "zh-Hans", "zh-TW" is "zh-Hant"). Empty if
/// there is none.
std::string find_language_code(std::string_view code, const std::vector<std::string>& known);

/// The one of `known` that find_language_code() finds, or else the one without the region ("en" for
/// "EN-US"), or else, for a code without a region, one with ("pt-BR" for "PT"). Empty if there is
/// none.
std::string find_served_code(std::string_view code, const std::vector<std::string>& known);

/// In English: "German"; the code itself if it is not known.
std::string language_name(std::string_view code);

}  // namespace dragoman
