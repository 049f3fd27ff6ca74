// Codes of languages: those of ISO 639, with a script or region behind a hyphen where one is meant
// ("de", "pt-BR", "zh-Hant").
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace dragoman {

struct LanguagePair {
  std::string source, target;
  auto operator<=>(const LanguagePair&) const = default;

  std::string name() const { return source + "-" + target; }  ///< "en-de"
};

/// "en-de", "zh-Hant-en", "en-pt-BR"; nothing for other texts.
std::optional<LanguagePair> parse_language_pair(std::string_view text);

bool is_language_code(std::string_view text);

/// The code without script and region: "pt" of "pt-BR". Of LibreTranslate's "pb" and "zt", "pt" and
/// "zh".
std::string language_of(std::string_view code);

/// The one of `known` that `code` means: the same, in upper or lower case, or else the same
/// language by LibreTranslate's other code for it ("pb" is "pt-BR", "zh" is "zh-Hans", "zt" is
/// "zh-Hant"). Empty where there is none.
std::string find_language_code(std::string_view code, const std::vector<std::string>& known);

/// In English: "German"; the code itself where it is not known.
std::string language_name(std::string_view code);

}  // namespace dragoman
