// Tells texts that a model translates from texts that have nothing to translate and are copied:
// "42", "...", a URL, a placeholder. A model has seen hardly any of them alone, and makes up
// sentences from them. Translation asks for each line and each sentence, training counts what its
// pairs do with such texts, and documents leave them where they are.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "base/utf8.h"

namespace dragoman {

/// The kinds of texts that are copied. A text of several words has the highest kind of its words.
enum class CopiedKind {
  Signs,        ///< no letter and no digit: "...", "✓", U+2800
  Number,       ///< no letter: "42", "12:30", "$5", "2020-01-31"
  Url,          ///< "https://example.org/a", "www.example.org"
  Email,        ///< "name@example.org"
  Path,         ///< of several segments, with a root: "/usr/bin", "~/notes", "C:\temp"
  Placeholder,  ///< "{name}", "%s", "<b>", "&amp;"
  Identifier,   ///< with a digit, an underscore or an inner capital: "x86_64", "getName", "H2O"
};
constexpr std::array<std::string_view, 7> names_of(CopiedKind) {
  return {"signs", "number", "url", "email", "path", "placeholder", "identifier"};
}

/// The kind of a text that is copied; none if the text has a word and is translated. Letters of any
/// script make words; marks, signs, digits and emoji do not. `text` must be valid UTF-8.
std::optional<CopiedKind> copied_kind(std::string_view text);

/// Whether a text has a letter of any script or a digit. `text` must be valid UTF-8.
bool has_letter_or_digit(std::string_view text);

/// The bytes of a text without the emoji, bullets and notes at its ends, and the white space beside
/// them. Punctuation is text, and so is a sign before a number ("-5") or a word. Empty if the text
/// has nothing else. `text` must be valid UTF-8.
ByteRange between_signs(std::string_view text);

/// The pairs whose source is a text of a kind, and those of them whose target is the same text.
struct CopyCount {
  std::int64_t pairs = 0, copies = 0;
  bool operator==(const CopyCount&) const = default;
};
using CopyCounts = std::array<CopyCount, names_of(CopiedKind()).size()>;  ///< by kind

/// By the name of a kind: the fraction of copies among a model's training pairs of this kind.
using CopiedFractions = std::map<std::string, double, std::less<>>;
/// The fractions of the kinds that have ten pairs or more. Fewer say nothing.
CopiedFractions copied_fractions(const CopyCounts& counts);
/// Whether texts of a kind are copied: yes, unless most of the model's training pairs of that kind
/// are not copies.
bool copies(CopiedKind kind, const CopiedFractions& fractions);

}  // namespace dragoman
