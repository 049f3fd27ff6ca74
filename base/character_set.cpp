#include "base/character_set.h"

#include <utf8proc.h>

#include <algorithm>
#include <bit>
#include <charconv>
#include <cstdlib>
#include <memory>
#include <new>
#include <optional>

#include "base/error.h"
#include "base/utf8.h"

namespace dragoman {

namespace {

constexpr char32_t kLast = 0x10FFFF;

std::string hexadecimal(char32_t c) {
  char digits[8];
  const auto [end, error] =
      std::to_chars(std::begin(digits), std::end(digits), static_cast<std::uint32_t>(c), 16);
  return ascii_upper({digits, end});
}

/// The code point that `text` is; none where it is none.
std::optional<char32_t> code_point_of(std::string_view text) {
  std::uint32_t c = 0;
  const char* end = text.data() + text.size();
  const auto [behind, error] = std::from_chars(text.data(), end, c, 16);
  if (error != std::errc() || behind != end || c > kLast) return std::nullopt;
  return c;
}

}  // namespace

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
      throw Error("characters: '", range, "' is no range of code points");
    for (char32_t c = *first; c <= *last; ++c) set.add(c);
    before = last;
    text.remove_prefix(is_last ? text.size() : range.size() + 1);
  }
  return set;
}

std::string normalised(std::string_view text, NormalForm form) {
  int options = UTF8PROC_STABLE;
  options |= form == NormalForm::Nfd ? UTF8PROC_DECOMPOSE : UTF8PROC_COMPOSE;
  if (form == NormalForm::Nfkc) options |= UTF8PROC_COMPAT;
  utf8proc_uint8_t* made = nullptr;
  const utf8proc_ssize_t size = utf8proc_map(reinterpret_cast<const utf8proc_uint8_t*>(text.data()),
                                             static_cast<utf8proc_ssize_t>(text.size()), &made,
                                             static_cast<utf8proc_option_t>(options));
  const std::unique_ptr<utf8proc_uint8_t, decltype(&std::free)> owner(made, &std::free);
  if (size < 0) throw std::bad_alloc();  // the only error of valid UTF-8
  return {reinterpret_cast<const char*>(made), static_cast<std::size_t>(size)};
}

int combining_class(char32_t code_point) {
  return utf8proc_get_property(static_cast<utf8proc_int32_t>(code_point))->combining_class;
}

}  // namespace dragoman
