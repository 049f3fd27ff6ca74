// The forms come from utf8proc.
#include "base/unicode.h"

#include <utf8proc.h>

#include <algorithm>
#include <bit>
#include <charconv>
#include <cstdlib>
#include <memory>
#include <new>
#include <optional>

#include "base/bytes.h"
#include "base/error.h"
#include "base/utf8.h"

namespace dragoman {

namespace {

constexpr char32_t kLast = 0x10FFFF;

bool is_ascii(std::string_view text) {
  return std::ranges::all_of(text, [](char c) { return static_cast<unsigned char>(c) < 0x80; });
}

/// Whether the form of a text that begins with this character is the same after any other text: it
/// neither combines with a character before it nor is left out. Hangul's vowels and final
/// consonants, in three blocks, combine.
bool stands_alone(char32_t c) {
  if (c < 0x80) return true;
  const bool is_jamo =
      (c >= 0x115F && c <= 0x11FF) || (c >= 0x3130 && c <= 0x318F) || (c >= 0xFFA0 && c <= 0xFFDC);
  const std::string_view category = general_category(c);
  return !is_jamo && category[0] != 'M' && category[0] != 'C' && category != "Lm";
}

/// The text as utf8proc maps it in one go.
std::string mapped(std::string_view text, int options) {
  utf8proc_uint8_t* bytes = nullptr;
  const auto size = utf8proc_map(reinterpret_cast<const utf8proc_uint8_t*>(text.data()),
                                 static_cast<utf8proc_ssize_t>(text.size()), &bytes,
                                 static_cast<utf8proc_option_t>(options | UTF8PROC_STABLE));
  const std::unique_ptr<utf8proc_uint8_t, decltype(&std::free)> owner(bytes, &std::free);
  if (size == UTF8PROC_ERROR_NOMEM) throw std::bad_alloc();
  if (size < 0) return std::string(text);  // not valid UTF-8
  return {reinterpret_cast<const char*>(bytes), static_cast<std::size_t>(size)};
}

/// The text in the form that utf8proc's options ask for. utf8proc takes time that grows with the
/// square of a run of marks. So a long text is mapped in parts, which begin with characters that
/// stand alone; a run of marks that is too long is cut between any two of them.
std::string in_form(std::string_view text, int options) {
  constexpr std::size_t kShort = 256, kLongest = 1024;  // bytes of a part
  std::string form;
  while (!text.empty()) {
    std::size_t end = std::min(text.size(), kShort);
    if (end < text.size()) end = character_start(text, end);
    for (std::size_t next = end; end < text.size() && end < kLongest; end = next)
      if (stands_alone(next_code_point(text, next))) break;
    form += mapped(text.substr(0, end), options);
    text.remove_prefix(end);
  }
  return form;
}

}  // namespace

std::string normalised(std::string_view text, NormalForm form) {
  int options = form == NormalForm::Nfd ? UTF8PROC_DECOMPOSE : UTF8PROC_COMPOSE;
  if (form == NormalForm::Nfkc) options |= UTF8PROC_COMPAT;
  return in_form(text, options);
}

std::string folded(std::string_view text) {
  const std::string form =
      is_ascii(text)
          ? ascii_lower(text)
          : in_form(text, UTF8PROC_COMPAT | UTF8PROC_COMPOSE | UTF8PROC_CASEFOLD | UTF8PROC_IGNORE);
  std::string result;
  result.reserve(form.size());
  bool after_space = false;
  for (std::size_t offset = 0; offset < form.size();) {
    const char32_t c = next_code_point(form, offset);
    if (!is_space(c)) {
      if (after_space && !result.empty()) result += ' ';
      append_utf8(result, c);
    }
    after_space = is_space(c);
  }
  return result;
}

std::string letters_and_digits(std::string_view text) {
  std::string result;
  result.reserve(text.size());
  if (is_ascii(text)) {
    for (const char c : ascii_lower(text))
      if ((c >= 'a' && c <= 'z') || (c >= '0' && c <= '9')) result += c;
    return result;
  }
  const std::string form = in_form(text, UTF8PROC_COMPAT | UTF8PROC_DECOMPOSE | UTF8PROC_CASEFOLD |
                                             UTF8PROC_IGNORE | UTF8PROC_STRIPMARK);
  for (std::size_t offset = 0; offset < form.size();) {
    const char32_t c = next_code_point(form, offset);
    const char kind = general_category(c)[0];
    if (kind == 'L' || kind == 'N') append_utf8(result, c);
  }
  return result;
}

int combining_class(char32_t code_point) {
  return utf8proc_get_property(static_cast<utf8proc_int32_t>(code_point))->combining_class;
}

std::string hexadecimal(char32_t code_point) {
  char digits[8];
  const auto [end, error] = std::to_chars(std::begin(digits), std::end(digits),
                                          static_cast<std::uint32_t>(code_point), 16);
  return ascii_upper({digits, end});
}

void CharacterSet::add(char32_t c) {
  const std::size_t word = c / 64;
  if (word >= words_.size()) words_.resize(word + 1);
  words_[word] |= std::uint64_t{1} << (c % 64);
}

void CharacterSet::add_all(std::string_view text) {
  for (std::size_t offset = 0; offset < text.size();) {
    const char32_t c = next_code_point(text, offset);
    if (!contains(c)) add(c);
  }
}

void CharacterSet::join(const CharacterSet& other) {
  words_.resize(std::max(words_.size(), other.words_.size()));
  for (std::size_t word = 0; word < other.words_.size(); ++word) words_[word] |= other.words_[word];
}

void CharacterSet::intersect(const CharacterSet& other) {
  words_.resize(std::min(words_.size(), other.words_.size()));
  for (std::size_t word = 0; word < words_.size(); ++word) words_[word] &= other.words_[word];
  while (!words_.empty() && words_.back() == 0) words_.pop_back();
}

bool CharacterSet::contains_all(std::string_view text) const {
  for (std::size_t offset = 0; offset < text.size();)
    if (!contains(next_code_point(text, offset))) return false;
  return true;
}

std::int64_t CharacterSet::count() const {
  std::int64_t count = 0;
  for (const std::uint64_t word : words_) count += std::popcount(word);
  return count;
}

std::u32string CharacterSet::characters() const {
  std::u32string all;
  for (char32_t c = 0; c < words_.size() * 64; ++c)
    if (contains(c)) all.push_back(c);
  return all;
}

std::string CharacterSet::ranges() const {
  const std::u32string all = characters();
  std::string text;
  for (std::size_t begin = 0, end = 0; begin < all.size(); begin = end) {
    for (end = begin + 1; end < all.size() && all[end] == all[end - 1] + 1;) ++end;
    if (!text.empty()) text += ',';
    text += hexadecimal(all[begin]);
    if (end > begin + 1) text += '-' + hexadecimal(all[end - 1]);
  }
  return text;
}

namespace {

/// The code point that the hexadecimal digits are; nothing for other texts.
std::optional<char32_t> code_point_of(std::string_view text) {
  const std::optional<std::uint32_t> c = number_from<std::uint32_t>(text, 16);
  return c && *c <= kLast ? c : std::nullopt;
}

}  // namespace

CharacterSet CharacterSet::from_ranges(std::string_view text) {
  CharacterSet set;
  std::optional<char32_t> before;  // the ranges rise, so no text takes long
  while (!text.empty()) {
    const std::string_view range = text.substr(0, text.find(','));
    const std::size_t dash = range.find('-');
    const auto first = code_point_of(range.substr(0, dash));
    const auto last = dash == range.npos ? first : code_point_of(range.substr(dash + 1));
    const bool is_last = range.size() == text.size();
    if (!first || !last || *last < *first || (before && *first <= *before) ||
        (!is_last && range.size() + 1 == text.size()))
      throw Error("characters: '", range, "' is not a range of code points");
    for (char32_t c = *first; c <= *last; ++c) set.add(c);
    before = last;
    text.remove_prefix(is_last ? text.size() : range.size() + 1);
  }
  return set;
}

}  // namespace dragoman
