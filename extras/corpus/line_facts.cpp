#include "extras/corpus/line_facts.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <optional>
#include <utility>

#include "base/utf8.h"

namespace dragoman {

namespace {

constexpr std::u32string_view kMenuSeparators = U"|»›→·•¦";

bool is_ascii_letter(char32_t c) { return (c | 0x20) >= 'a' && (c | 0x20) <= 'z'; }

/// The general category's letters; 'L' and 'u' for a capital.
std::string_view category_of(char32_t c) {
  if (c >= 'a' && c <= 'z') return "Ll";
  if (c >= 'A' && c <= 'Z') return "Lu";
  if (c >= '0' && c <= '9') return "Nd";
  if (c < 0x80) return c < 0x20 || c == 0x7F ? "Cc" : "Po";
  return general_category(c);
}

/// The value of a decimal digit in the most common scripts; nothing for other characters.
std::optional<char> digit_of(char32_t c) {
  for (const char32_t zero : {U'0', U'\u0660', U'\u06F0', U'\u0966', U'\u09E6', U'\uFF10'})
    if (c >= zero && c < zero + 10) return static_cast<char>('0' + (c - zero));
  return std::nullopt;
}

// ---- UTF-8 that was read as another code ----

/// The byte that Windows-1252 writes as this character; 0 if there is none above 7F.
unsigned windows_byte(char32_t c) {
  if (c >= 0x80 && c <= 0xFF) return c;
  constexpr std::u32string_view kFrom80 =
      U"€\u0081‚ƒ„…†‡ˆ‰Š‹Œ\u008DŽ\u008F\u0090‘’“”•–—˜™š›œ\u009DžŸ";
  const std::size_t place = kFrom80.find(c);
  return place == kFrom80.npos ? 0 : 0x80 + static_cast<unsigned>(place);
}

bool is_continuation(std::u32string_view text, std::size_t place) {
  return place < text.size() && (windows_byte(text[place]) & 0xC0) == 0x80;
}

/// Whether characters in a row are the bytes of a sequence of UTF-8. The first bytes of Latin
/// letters and of quotes decide at once. Others, which may stand before such signs by chance,
/// must occur twice.
bool has_mojibake(std::u32string_view text) {
  int found = 0;
  for (std::size_t i = 0; i + 1 < text.size(); ++i) {
    if (text[i] < 0xC2 || text[i] > 0xF4 || !is_continuation(text, i + 1)) continue;
    const std::size_t more = text[i] < 0xE0 ? 1 : text[i] < 0xF0 ? 2 : 3;
    if ((more > 1 && !is_continuation(text, i + 2)) || (more > 2 && !is_continuation(text, i + 3)))
      continue;
    const bool is_common = text[i] <= 0xC3 || (text[i] == 0xE2 && text[i + 1] == U'€');
    if (is_common || ++found == 2) return true;
  }
  return false;
}

// ---- markup ----

/// "&amp;", "&#39;", "&#x27;" at the beginning of the text.
bool begins_with_entity(std::string_view text) {
  const std::size_t end = text.find(';');
  constexpr std::size_t kLongest = 10;
  if (end == text.npos || end < 3 || end > kLongest) return false;
  std::string_view name = text.substr(1, end - 1);
  const bool is_number = name.starts_with('#');
  if (is_number) name.remove_prefix(1);
  const auto fits = [is_number](char c) {
    const bool is_digit = c >= '0' && c <= '9';
    return is_digit || (is_number ? c == 'x' || c == 'X' || ((c | 0x20) >= 'a' && (c | 0x20) <= 'f')
                                  : is_ascii_letter(static_cast<unsigned char>(c)));
  };
  return !name.empty() && std::ranges::all_of(name, fits) &&
         (is_number || is_ascii_letter(static_cast<unsigned char>(name[0])));
}

/// "<b>", "</p>", "<br/>", "<!--" at the beginning of the text.
bool begins_with_tag(std::string_view text) {
  if (text.starts_with("<!--")) return true;
  const std::size_t end = text.find_first_of("<>", 1);
  constexpr std::size_t kLongest = 300;
  if (end == text.npos || end > kLongest || text[end] != '>') return false;
  const std::size_t name = text[1] == '/' ? 2 : 1;
  return name < end && is_ascii_letter(static_cast<unsigned char>(text[name]));
}

bool has_markup(std::string_view line) {
  for (std::size_t at = 0; (at = line.find_first_of("&<", at)) != line.npos; ++at) {
    const std::string_view rest = line.substr(at);
    if (rest[0] == '&' ? begins_with_entity(rest) : begins_with_tag(rest)) return true;
  }
  return false;
}

// ---- links and numbers ----

/// The host of a link without "www." and the label of a language ("de.wikipedia.org").
std::string host_of(std::string_view link) {
  if (const std::size_t scheme = link.find("://"); scheme != link.npos)
    link.remove_prefix(scheme + 3);
  std::string host = ascii_lower(link.substr(0, link.find_first_of("/?#:")));
  while (!host.empty() &&
         std::string_view(".,;!)]}'\"").find(host.back()) != std::string_view::npos)
    host.pop_back();
  if (host.starts_with("www.")) host.erase(0, 4);
  if (host.size() > 3 && host[2] == '.' && host.find('.', 3) != std::string::npos) host.erase(0, 3);
  return host;
}

std::vector<std::string> links_in(std::string_view line) {
  std::vector<std::string> links;
  if (line.find("://") == line.npos && line.find("www.") == line.npos &&
      line.find('@') == line.npos)
    return links;
  for (const ByteRange& range : words_between_spaces(line)) {
    const std::string_view word = range.of(line);
    std::size_t begin = word.npos;
    for (const std::string_view mark : {"http://", "https://", "ftp://", "www."})
      begin = std::min(begin, word.find(mark));
    const std::size_t at = word.find('@');
    if (begin != word.npos)
      links.push_back(host_of(word.substr(begin)));
    else if (at != word.npos && at > 0 && word.find('.', at) != word.npos)
      links.push_back(host_of(word.substr(at + 1)));
  }
  std::ranges::sort(links);
  return links;
}

/// Whether a sign may stand between the digits of one number.
bool joins_digits(std::u32string_view text, std::size_t place) {
  constexpr std::u32string_view kSigns = U".,'’\u00A0\u2009\u202F٬٫";
  if (place + 1 >= text.size() || !digit_of(text[place + 1])) return false;
  if (kSigns.find(text[place]) != kSigns.npos) return true;
  // A space stands before groups of three digits.
  return text[place] == U' ' && place + 3 < text.size() && digit_of(text[place + 2]) &&
         digit_of(text[place + 3]) && (place + 4 == text.size() || !digit_of(text[place + 4]));
}

/// Without the zeros at both ends.
std::string trimmed(std::string digits) {
  digits.erase(0, std::min(digits.find_first_not_of('0'), digits.size()));
  while (digits.ends_with('0')) digits.pop_back();
  return digits;
}

void add_numbers(std::u32string_view text, LineFacts& facts) {
  for (std::size_t i = 0; i < text.size();) {
    if (!digit_of(text[i])) {
      ++i;
      continue;
    }
    std::string number;
    while (i < text.size()) {
      if (const auto digit = digit_of(text[i]))
        number += *digit;
      else if (!joins_digits(text, i))
        break;
      ++i;
    }
    for (const char digit : number)
      if (digit != '0') facts.digits += digit;
    if (number = trimmed(std::move(number)); !number.empty())
      facts.numbers.push_back(std::move(number));
  }
  std::ranges::sort(facts.numbers);
}

// ---- letters ----

/// Whether words of the three scripts have letters that look alike.
bool is_alphabet(Script script) { return script >= kLatinScript && script <= kCyrillicScript; }

/// Whether a word of the line has letters of two alphabets; words of two letters count as formulas.
bool has_mixed_word(std::u32string_view text) {
  std::array<int, 256> letters{};
  int length = 0;
  const auto is_mixed = [&] {
    const int kinds =
        (letters[kLatinScript] > 0) + (letters[kGreekScript] > 0) + (letters[kCyrillicScript] > 0);
    return length > 2 && kinds > 1;
  };
  for (const char32_t c : text) {
    const bool is_letter = c < 0x80 ? is_ascii_letter(c) : general_category(c)[0] == 'L';
    if (is_letter) {
      ++length;
      if (const Script script = script_of(c); is_alphabet(script)) ++letters[script];
      continue;
    }
    if (is_mixed()) return true;
    letters = {};
    length = 0;
  }
  return is_mixed();
}

/// Whether the question mark stands for a letter: at the beginning of a word or within it, and the
/// word is no link. In "who?Me" a space is missing.
bool replaces_letter(std::u32string_view text, std::size_t place) {
  if (text[place] != U'?' || place + 1 >= text.size()) return false;
  const auto is_space_at = [&](std::size_t i) { return is_space(text[i]); };
  const std::string_view after = category_of(text[place + 1]);
  const std::string_view before =
      place == 0 || is_space_at(place - 1) ? " " : category_of(text[place - 1]);
  if (before == " " ? after != "Ll" : before[0] != 'L' || after[0] != 'L') return false;
  if (before == "Ll" && after == "Lu") return false;
  std::size_t begin = place, end = place;
  while (begin > 0 && !is_space_at(begin - 1)) --begin;
  while (end < text.size() && !is_space_at(end)) ++end;
  constexpr std::u32string_view kEnds = U".,;:!";
  while (kEnds.find(text[end - 1]) != kEnds.npos) --end;
  return text.substr(begin, end - begin).find_first_of(U"/=&@.") == text.npos;
}

}  // namespace

LineFacts facts_of_line(std::string_view line) {
  const std::u32string text = code_points(line);
  LineFacts facts;
  facts.characters = std::ssize(text);
  bool is_plain = true;  // only ASCII
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char32_t c = text[i];
    const std::string_view category = category_of(c);
    is_plain = is_plain && c < 0x80;
    facts.letters += category[0] == 'L' ? 1 : 0;
    facts.capitals += category == "Lu" ? 1 : 0;
    facts.small_letters += category == "Ll" ? 1 : 0;
    facts.menu_separators += kMenuSeparators.find(c) != kMenuSeparators.npos ? 1 : 0;
    if (category == "Co" || (category == "Cc" && c != U'\t')) facts.has_control = true;
    if (c == kReplacementCharacter || replaces_letter(text, i)) facts.has_lost_character = true;
  }
  facts.script = script_of(line);
  if (!is_plain) {
    facts.has_mojibake = has_mojibake(text);
    facts.has_mixed_word = has_mixed_word(text);
  }
  facts.has_markup = has_markup(line);
  facts.links = links_in(line);
  add_numbers(text, facts);
  return facts;
}

}  // namespace dragoman
