#include "extras/markup/space_reference.h"

#include <array>
#include <charconv>
#include <cstdint>

#include "base/utf8.h"

namespace dragoman {

namespace {

std::size_t number_length(std::string_view text) {
  const bool is_hex = text.starts_with("&#x") || text.starts_with("&#X");
  const char* const last = text.data() + text.size();
  std::uint32_t number = 0;
  const auto [end, fault] =
      std::from_chars(text.data() + (is_hex ? 3 : 2), last, number, is_hex ? 16 : 10);
  // HTML reads these as signs of Windows-1252.
  const bool is_sign = number >= 0x80 && number <= 0x9F;
  if (fault != std::errc() || is_sign || !is_space(number)) return 0;
  return static_cast<std::size_t>(end - text.data()) + (end != last && *end == ';' ? 1 : 0);
}

}  // namespace

std::size_t space_reference_length(std::string_view text) {
  // One that begins another stands behind it.
  static constexpr std::array<std::string_view, 17> kNames = {
      "&nbsp;",      "&nbsp",    "&NonBreakingSpace;", "&Tab;",         "&NewLine;",   "&ensp;",
      "&emsp;",      "&emsp13;", "&emsp14;",           "&numsp;",       "&puncsp;",    "&thinsp;",
      "&ThinSpace;", "&hairsp;", "&VeryThinSpace;",    "&MediumSpace;", "&ThickSpace;"};
  if (text.starts_with("&#")) return number_length(text);
  for (const std::string_view name : kNames)
    if (text.starts_with(name)) return name.size();
  return 0;
}

}  // namespace dragoman
