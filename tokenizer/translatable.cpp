#include "tokenizer/translatable.h"

#include <re2/re2.h>

#include <algorithm>
#include <memory>
#include <vector>

#include "base/fields.h"
#include "base/utf8.h"

namespace dragoman {

namespace {

bool is_in(char32_t c, char32_t first, char32_t last) { return c >= first && c <= last; }

/// A letter of a script. Not the letterlike signs (U+2139 is an emoji), nor Hangul's fillers, which
/// are blank.
bool is_script_letter(char32_t c) {
  return general_category(c)[0] == 'L' && !is_in(c, 0x2100, 0x214F) && !is_in(c, 0x115F, 0x1160) &&
         c != 0x3164 && c != 0xFFA0;
}

bool is_number(char32_t c) { return general_category(c)[0] == 'N'; }

/// Emoji, bullets, notes, arrows, stars, ticks, and the blank of Braille, with which some fill
/// lines. Not the quotation marks and brackets among the dingbats.
bool is_sign(char32_t c) {
  constexpr std::u32string_view kSigns = U"©®™·•‣⁃∙⋅・⠀";
  return kSigns.find(c) != kSigns.npos || is_in(c, 0x2190, 0x21FF) || is_in(c, 0x2300, 0x23FF) ||
         is_in(c, 0x2460, 0x24FF) || is_in(c, 0x2500, 0x275A) || is_in(c, 0x2761, 0x2767) ||
         is_in(c, 0x2776, 0x27BF) || is_in(c, 0x27F0, 0x27FF) || is_in(c, 0x2900, 0x297F) ||
         is_in(c, 0x2B00, 0x2BFF) || is_in(c, 0x1D100, 0x1D1FF) || is_in(c, 0x1F000, 0x1FBFF);
}

constexpr char32_t kJoiner = 0x200D, kKeycap = 0x20E3, kEmojiSelector = 0xFE0F;

/// Whether the character belongs to the sign before it: selectors, joiners, keycaps, tags of flags.
bool continues_sign(char32_t c) {
  return c == kJoiner || c == kKeycap || is_in(c, 0xFE00, kEmojiSelector) ||
         is_in(c, 0xE0020, 0xE007F);
}

/// The length of the sign that begins `text`, with all that belongs to it: a keycap and an emoji
/// may have several characters. 0 if there is none.
std::size_t sign_length(std::u32string_view text) {
  if (text.empty()) return 0;
  std::size_t end = 1;
  bool is_emoji = is_sign(text[0]) || continues_sign(text[0]);
  for (; end < text.size() && (continues_sign(text[end]) || text[end - 1] == kJoiner); ++end)
    is_emoji = is_emoji || text[end] == kKeycap ||
               (text[end] == kEmojiSelector && !is_script_letter(text[0]) && !is_number(text[0]));
  return is_emoji ? end : 0;
}

/// Whether a dash with white space after it begins `text`: the bullet of a list, or the mark of a
/// speaker.
bool begins_with_dash(std::u32string_view text) {
  constexpr std::u32string_view kDashes = U"-‐‒–—―";
  return text.size() > 1 && kDashes.find(text[0]) != kDashes.npos && is_space(text[1]);
}

/// The end of the signs at the beginning, and of the white space after them.
std::size_t leading_signs(std::u32string_view text) {
  std::size_t end = 0;
  for (std::size_t place = 0; place < text.size();) {
    const std::u32string_view rest = text.substr(place);
    const std::size_t length = begins_with_dash(rest) ? 1
                               : is_space(rest[0])    ? 0
                                                      : sign_length(rest);
    if (length == 0 && !is_space(rest[0])) break;
    place += std::max<std::size_t>(length, 1);
    if (length > 0) end = place;
  }
  while (end > 0 && end < text.size() && is_space(text[end])) ++end;
  return end;
}

/// The position at which the signs at the end begin.
std::size_t trailing_signs(std::u32string_view text) {
  std::size_t begin = text.size(), place = text.size();
  while (place > 0) {
    if (is_space(text[place - 1])) {
      --place;
      continue;
    }
    std::size_t first = place - 1;
    while (first > 0 && (continues_sign(text[first]) || text[first - 1] == kJoiner)) --first;
    if (sign_length(text.substr(first, place - first)) != place - first) break;
    begin = place = first;
  }
  while (begin < text.size() && begin > 0 && is_space(text[begin - 1])) --begin;
  return begin;
}

/// A form of words that are copied, as a pattern of the whole text between white space.
struct CopiedForm {
  CopiedKind kind;
  const char* pattern;
};

constexpr CopiedForm kCopiedForms[] = {
    {CopiedKind::Url, R"((?i)(?:[a-z][a-z0-9+.-]*://|www\.|mailto:)\S+)"},
    {CopiedKind::Url, R"((?:[A-Za-z0-9-]+\.)+[a-z]{2,}(?::\d+)?/\S*)"},
    {CopiedKind::Email, R"([A-Za-z0-9._%+-]+@[A-Za-z0-9-]+(?:\.[A-Za-z0-9-]+)+)"},
    {CopiedKind::Path, R"((?:/[^/\s]+){2,}/?)"},
    {CopiedKind::Path, R"((?:~|\.\.?)(?:/[^/\s]+)+/?)"},
    {CopiedKind::Path, R"((?:[A-Za-z]:[\\/]|\\\\[^\\\s]+\\)\S*)"},
    // Names in braces, printf's, Python's, tags and entities, with anything but letters around.
    {CopiedKind::Placeholder,
     R"((?:[^\pL]|\$?\{\{?[!-z|~]{1,64}\}?\}|%\([A-Za-z_][A-Za-z0-9_]*\)[a-z])"
     R"(|%(?:\d+\$)?[-+#0]*\d*(?:\.\d+)?(?:hh?|ll?|[jztL])?[a-zA-Z@])"
     R"(|</?[A-Za-z][^\s<>]{0,64}>|&(?:[A-Za-z]{2,8}|#\d{1,7}|#x[0-9a-fA-F]{1,6});)+)"},
    {CopiedKind::Identifier, R"([\pL\pN_.:#+-]*[\pL\pN]_+[\pL\pN][\pL\pN_.:#+-]*)"},
    {CopiedKind::Identifier, R"([A-Za-z0-9]+(?:[-.:#+/][A-Za-z0-9]+)*)"},  // if is_identifier()
};

/// Whether a part between the hyphens of a token of letters and digits may be part of a name. A
/// word ("year") and a number with its unit ("20th", "10am") may not. Capitals alone may
/// ("COVID-19").
bool is_part_of_identifier(std::string_view text) {
  const re2::StringPiece part(text.data(), text.size());
  static const RE2 word("[A-Za-z]*[a-z][A-Za-z]*");
  static const RE2 inner_capital("[A-Za-z]*[a-z][A-Z][A-Za-z]*");
  static const RE2 inclusive(".*[a-z]In(?:nen)?");  // "StudentInnen"
  static const RE2 quantity(R"(\d[\d.,:]*(?:[a-z]+|(?i:am|pm|st|nd|rd|th)))");
  // "p.5", "Nr.5", "5.Mai": a blank is missing.
  static const RE2 abbreviation(R"([A-Za-z]+\.\d+[a-z]?|\d+\.[A-Za-z]+)");
  const auto is = [part](const RE2& pattern) { return RE2::FullMatch(part, pattern); };
  if (is(word)) return is(inner_capital) && !is(inclusive);
  return !is(quantity) && !is(abbreviation);
}

bool is_identifier(std::string_view token) {
  static const RE2 inner("[a-z][A-Z]|[0-9]");
  if (!RE2::PartialMatch(re2::StringPiece(token.data(), token.size()), inner)) return false;
  while (true) {
    const std::size_t hyphen = std::min(token.find_first_of("-/"), token.size());
    if (!is_part_of_identifier(token.substr(0, hyphen))) return false;
    if (hyphen == token.size()) return true;
    token.remove_prefix(hyphen + 1);
  }
}

/// The kind of a token with letters, if it has one of the forms.
std::optional<CopiedKind> kind_of_form(std::string_view token) {
  static const std::vector<std::unique_ptr<RE2>> patterns = [] {
    std::vector<std::unique_ptr<RE2>> all;
    for (const CopiedForm& form : kCopiedForms) all.push_back(std::make_unique<RE2>(form.pattern));
    return all;
  }();
  const re2::StringPiece piece(token.data(), token.size());
  for (std::size_t f = 0; f < patterns.size(); ++f) {
    const bool is_last = f + 1 == patterns.size();
    if (RE2::FullMatch(piece, *patterns[f]) && (!is_last || is_identifier(token)))
      return kCopiedForms[f].kind;
  }
  return std::nullopt;
}

/// The token without signs and punctuation around it: "(https://example.org)." and "✓x86_64".
std::string_view without_punctuation(std::string_view token) {
  const auto [begin, end] = between_signs(token);
  re2::StringPiece all(token.data() + begin, end - begin), inner;
  static const RE2 pattern(R"([(\["'«»„“”‘’‚¿¡]*(.*?)[.,;:!?)\]"'«»“”‘’…。、！？]*)");
  RE2::FullMatch(all, pattern, &inner);
  return {inner.data(), inner.size()};
}

/// The kind of a text without white space.
std::optional<CopiedKind> kind_of_token(std::string_view token) {
  bool has_letter = false, has_number = false, is_word = true;
  char32_t before = 0;
  for (std::size_t offset = 0; offset < token.size();) {
    const std::size_t begin = offset;
    const char32_t c = next_code_point(token, offset);
    has_letter = has_letter || is_script_letter(c);
    has_number = has_number || is_number(c);
    // If a script has no spaces between words, the characters that touch an address are text.
    if (is_script_letter(c) && is_unspaced(c)) return std::nullopt;
    const bool has_inner_capital = is_in(before, 'a', 'z') && is_in(c, 'A', 'Z');
    const bool ends_sentence = begin > 0 && offset == token.size() && c != '>' && c < 0x80;
    is_word = is_word && !has_inner_capital &&
              (is_script_letter(c) || c == '\'' || c == '-' || (ends_sentence && !is_number(c)));
    before = c;
  }
  if (!has_letter) return has_number ? CopiedKind::Number : CopiedKind::Signs;
  if (is_word) return std::nullopt;        // most tokens: no form need be tried
  constexpr std::size_t kLongest = 2'000;  // bytes of a token that a form is looked for in
  if (token.size() > kLongest) return std::nullopt;
  if (const auto kind = kind_of_form(token)) return kind;
  return kind_of_form(without_punctuation(token));
}

/// The bytes of the first characters of a text.
std::size_t bytes_of(std::u32string_view characters) { return to_utf8(characters).size(); }

}  // namespace

std::optional<CopiedKind> copied_kind(std::string_view text) {
  CopiedKind kind = CopiedKind::Signs;
  for (std::size_t begin = 0, offset = 0; offset <= text.size();) {
    const std::size_t end = offset;
    const bool ends = end == text.size() || is_space(next_code_point(text, offset));
    if (!ends) continue;
    if (end > begin) {
      const auto of_token = kind_of_token(text.substr(begin, end - begin));
      if (!of_token) return std::nullopt;
      kind = std::max(kind, *of_token);
    }
    if (end == text.size()) break;
    begin = offset;
  }
  return kind;
}

bool has_letter_or_digit(std::string_view text) {
  return std::ranges::any_of(code_points(text),
                             [](char32_t c) { return is_script_letter(c) || is_number(c); });
}

ByteRange between_signs(std::string_view text) {
  const std::u32string characters = code_points(text);
  const std::size_t begin = leading_signs(characters);
  const std::u32string_view rest = std::u32string_view(characters).substr(begin);
  const std::size_t first =
      begin == 0 ? 0 : bytes_of(std::u32string_view(characters).substr(0, begin));
  return {first, first + bytes_of(rest.substr(0, trailing_signs(rest)))};
}

CopiedFractions copied_fractions(const CopyCounts& counts) {
  constexpr std::int64_t kLeastPairs = 10;
  CopiedFractions fractions;
  for (std::size_t kind = 0; kind < counts.size(); ++kind)
    if (const auto [pairs, same] = counts[kind]; pairs >= kLeastPairs)
      fractions.emplace(names_of(CopiedKind())[kind],
                        static_cast<double>(same) / static_cast<double>(pairs));
  return fractions;
}

bool copies(CopiedKind kind, const CopiedFractions& fractions) {
  const auto found = fractions.find(name_of(kind));
  return found == fractions.end() || found->second >= 0.5;
}

}  // namespace dragoman
