#include "base/folded_text.h"

#include <utf8proc.h>

#include <algorithm>
#include <cstdlib>
#include <memory>

#include "base/utf8.h"

namespace dragoman {

namespace {

bool is_ascii(std::string_view text) {
  return std::ranges::all_of(text, [](char c) { return static_cast<unsigned char>(c) < 0x80; });
}

/// The text, which is short, in the form that utf8proc's options ask for.
std::string short_in_form(std::string_view text, int options) {
  utf8proc_uint8_t* bytes = nullptr;
  const auto size = utf8proc_map(reinterpret_cast<const utf8proc_uint8_t*>(text.data()),
                                 static_cast<utf8proc_ssize_t>(text.size()), &bytes,
                                 static_cast<utf8proc_option_t>(options | UTF8PROC_STABLE));
  const std::unique_ptr<utf8proc_uint8_t, decltype(&std::free)> owner(bytes, &std::free);
  if (size < 0) return std::string(text);
  return {reinterpret_cast<const char*>(bytes), static_cast<std::size_t>(size)};
}

/// The text in the form that utf8proc's options ask for. utf8proc takes time that grows with the
/// square of a run of marks. So a long text is cut in front of ASCII characters, which join nothing
/// before them; one that has none is cut anywhere between characters.
std::string in_form(std::string_view text, int options) {
  constexpr std::size_t kShort = 256, kLongest = 1024;
  std::string form;
  while (!text.empty()) {
    std::size_t end = std::min(text.size(), kShort);
    while (end < text.size() && end < kLongest && static_cast<unsigned char>(text[end]) >= 0x80)
      ++end;
    if (end < text.size()) end = character_start(text, end);
    form += short_in_form(text.substr(0, end), options);
    text.remove_prefix(end);
  }
  return form;
}

}  // namespace

std::string folded(std::string_view text) {
  const std::string form =
      is_ascii(text)
          ? ascii_lower(text)
          : in_form(text, UTF8PROC_COMPAT | UTF8PROC_COMPOSE | UTF8PROC_CASEFOLD | UTF8PROC_IGNORE);
  std::string result;
  result.reserve(form.size());
  bool is_behind_space = false;
  for (std::size_t offset = 0; offset < form.size();) {
    const char32_t c = next_code_point(form, offset);
    if (!is_space(c)) {
      if (is_behind_space && !result.empty()) result += ' ';
      append_utf8(result, c);
    }
    is_behind_space = is_space(c);
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

}  // namespace dragoman
