#include "base/utf8.h"

#include <utf8proc.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>

namespace dragoman {

// ---- bytes ----

namespace {

bool is_continuation(unsigned char byte) { return (byte & 0xC0) == 0x80; }

/// The length of the valid sequence at text[0]. If there is none, 0, and `invalid` is the number of
/// bytes of the maximal invalid run (at least 1).
std::size_t sequence_length(std::string_view text, std::size_t& invalid) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char lead = byte(0);
  invalid = 1;
  if (lead < 0x80) return 1;
  if (lead < 0xC2 || lead > 0xF4) return 0;
  const std::size_t length = lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : 4;
  for (std::size_t i = 1; i < length; ++i) {
    if (i >= text.size() || !is_continuation(byte(i))) return 0;
    if (i == 1 && ((lead == 0xE0 && byte(1) < 0xA0) || (lead == 0xED && byte(1) > 0x9F) ||
                   (lead == 0xF0 && byte(1) < 0x90) || (lead == 0xF4 && byte(1) > 0x8F)))
      return 0;
    invalid = i + 1;
  }
  return length;
}

}  // namespace

std::size_t find_invalid_utf8(std::string_view text) {
  std::size_t offset = 0;
  while (offset < text.size()) {
    if (offset + 8 <= text.size()) {
      std::uint64_t eight;
      __builtin_memcpy(&eight, text.data() + offset, 8);
      if ((eight & 0x8080808080808080u) == 0) {
        offset += 8;
        continue;
      }
    }
    std::size_t invalid;
    const std::size_t length = sequence_length(text.substr(offset), invalid);
    if (length == 0) return offset;
    offset += length;
  }
  return std::string_view::npos;
}

std::string replace_invalid_utf8(std::string_view text) {
  std::string result;
  result.reserve(text.size());
  for (std::size_t offset = 0; offset < text.size();) {
    std::size_t invalid;
    const std::size_t length = sequence_length(text.substr(offset), invalid);
    if (length == 0) {
      append_utf8(result, kReplacementCharacter);
      offset += invalid;
    } else {
      result.append(text, offset, length);
      offset += length;
    }
  }
  return result;
}

std::size_t character_start(std::string_view text, std::size_t offset) {
  const std::size_t least = offset - std::min<std::size_t>(offset, 3);
  while (offset > least && offset < text.size() &&
         is_continuation(static_cast<unsigned char>(text[offset])))
    --offset;
  return offset;
}

namespace {

/// The start of Unicode's last private area, in which 80 to FF stand for bytes.
constexpr char32_t kBytes = 0x100000;

bool stands_for_byte(char32_t c) { return c >= kBytes + 0x80 && c <= kBytes + 0xFF; }

/// The number of bytes at the start that may stay: valid UTF-8 in which nothing stands for a byte.
std::size_t plain_prefix(std::string_view bytes) {
  const std::size_t valid = std::min(find_invalid_utf8(bytes), bytes.size());
  for (std::size_t offset = 0; offset < valid;) {
    const std::size_t begin = offset;
    if (stands_for_byte(next_code_point(bytes, offset))) return begin;
  }
  return valid;
}

}  // namespace

std::string utf8_of_bytes(std::string_view bytes) {
  std::string text;
  while (!bytes.empty()) {
    const std::size_t plain = plain_prefix(bytes);
    text.append(bytes, 0, plain);
    bytes.remove_prefix(plain);
    if (bytes.empty()) break;
    const auto byte = static_cast<unsigned char>(bytes.front());
    append_utf8(text, kBytes + byte);
    bytes.remove_prefix(1);
  }
  return text;
}

std::string bytes_of_utf8(std::string_view text) {
  std::string bytes;
  for (std::size_t offset = 0; offset < text.size();) {
    const std::size_t begin = offset;
    const char32_t c = next_code_point(text, offset);
    if (stands_for_byte(c))
      bytes += static_cast<char>(c - kBytes);
    else
      bytes.append(text, begin, offset - begin);
  }
  return bytes;
}

// ---- code points ----

char32_t next_code_point(std::string_view text, std::size_t& offset) {
  const auto byte = [&](std::size_t i) {
    return static_cast<char32_t>(static_cast<unsigned char>(text[offset + i]));
  };
  const char32_t lead = byte(0);
  const std::size_t length = lead < 0x80 ? 1 : lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : 4;
  if (length > text.size() - offset) {
    offset = text.size();
    return kReplacementCharacter;
  }
  char32_t code = length == 1 ? lead : lead & (0x7FU >> length);
  for (std::size_t i = 1; i < length; ++i) code = code << 6 | (byte(i) & 0x3F);
  offset += length;
  return code;
}

std::u32string code_points(std::string_view text) {
  std::u32string result;
  result.reserve(text.size());
  for (std::size_t offset = 0; offset < text.size();)
    result.push_back(next_code_point(text, offset));
  return result;
}

std::size_t count_code_points(std::string_view text) {
  return static_cast<std::size_t>(std::ranges::count_if(text, std::not_fn(is_continuation)));
}

void append_utf8(std::string& text, char32_t c) {
  utf8proc_uint8_t bytes[4];
  const auto size = utf8proc_encode_char(static_cast<utf8proc_int32_t>(c), bytes);
  text.append(reinterpret_cast<const char*>(bytes), static_cast<std::size_t>(size));
}

std::string to_utf8(std::u32string_view code_points) {
  std::string text;
  text.reserve(code_points.size());
  for (char32_t c : code_points) append_utf8(text, c);
  return text;
}

std::string_view general_category(char32_t code_point) {
  return utf8proc_category_string(static_cast<utf8proc_int32_t>(code_point));
}

bool is_space(char32_t c) {
  return (c >= 0x09 && c <= 0x0D) || (c >= 0x1C && c <= 0x20) || c == 0x85 || c == 0xA0 ||
         c == 0x1680 || (c >= 0x2000 && c <= 0x200A) || c == 0x2028 || c == 0x2029 || c == 0x202F ||
         c == 0x205F || c == 0x3000;
}

bool has_control_character(std::string_view text) {
  for (std::size_t offset = 0; offset < text.size();) {
    const char32_t c = next_code_point(text, offset);
    if (c < 0x20 || (c >= 0x7F && c < 0xA0) || c == 0x2028 || c == 0x2029) return true;
  }
  return false;
}

std::vector<ByteRange> words_between_spaces(std::string_view text) {
  std::vector<ByteRange> words;
  bool in_word = false;
  for (std::size_t offset = 0; offset < text.size();) {
    const std::size_t begin = offset;
    const bool space = is_space(next_code_point(text, offset));
    if (!space && !in_word) words.push_back({begin, begin});
    if (!space) words.back().end = offset;
    in_word = !space;
  }
  return words;
}

std::string_view strip(std::string_view text) { return strip_right(strip_left(text)); }

std::string_view strip_left(std::string_view text) {
  std::size_t begin = 0;
  for (std::size_t next = 0; begin < text.size(); begin = next)
    if (!is_space(next_code_point(text, next))) break;
  return text.substr(begin);
}

std::string_view strip_right(std::string_view text) {
  while (!text.empty()) {
    const std::size_t last = character_start(text, text.size() - 1);
    std::size_t next = last;
    if (!is_space(next_code_point(text, next))) break;
    text.remove_suffix(text.size() - last);
  }
  return text;
}

bool is_word_character(char32_t c) {
  const char kind = general_category(c)[0];
  return (kind == 'L' || kind == 'N' || kind == 'M') && !is_unspaced(c);
}

bool is_unspaced(char32_t c) {
  const bool is_south_east_asian = (c >= 0x0E00 && c < 0x10A0) ||  // Thai, Lao, Tibetan, Myanmar
                                   (c >= 0x1780 && c < 0x1800);    // Khmer
  return is_south_east_asian || (c >= 0x2E80 && c < 0xE0000 && !(c >= 0xA000 && c < 0xF900));
}

// ---- upper and lower case ----

std::string ascii_lower(std::string_view text) {
  std::string result(text);
  for (char& c : result)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c + 32);
  return result;
}

std::string ascii_upper(std::string_view text) {
  std::string result(text);
  for (char& c : result)
    if (c >= 'a' && c <= 'z') c = static_cast<char>(c - 32);
  return result;
}

namespace {

bool is_cased(char32_t c) {
  const std::string_view category = general_category(c);
  return category == "Lu" || category == "Ll" || category == "Lt" || c == 0x00AA || c == 0x00BA ||
         (c >= 0x2160 && c <= 0x217F) || (c >= 0x24B6 && c <= 0x24E9) ||
         (c >= 0x02B0 && c <= 0x02B8) || (c >= 0x02E0 && c <= 0x02E4) ||
         (c >= 0x1F130 && c <= 0x1F149) || (c >= 0x1F150 && c <= 0x1F169) ||
         (c >= 0x1F170 && c <= 0x1F189);
}

bool is_case_ignorable(char32_t c) {
  const std::string_view category = general_category(c);
  return category == "Mn" || category == "Me" || category == "Cf" || category == "Lm" ||
         category == "Sk" || c == '\'' || c == '.' || c == ':' || c == 0x00B7 || c == 0x0387 ||
         c == 0x055F || c == 0x05F4 || c == 0x2018 || c == 0x2019 || c == 0x2024 || c == 0x2027 ||
         c == 0xFE13 || c == 0xFE52 || c == 0xFE55 || c == 0xFF07 || c == 0xFF0E || c == 0xFF1A;
}

bool is_final_sigma(std::u32string_view text, std::size_t at) {
  std::size_t before = at;
  while (before > 0 && is_case_ignorable(text[before - 1])) --before;
  if (before == 0 || !is_cased(text[before - 1])) return false;
  std::size_t after = at + 1;
  while (after < text.size() && is_case_ignorable(text[after])) ++after;
  return after == text.size() || !is_cased(text[after]);
}

}  // namespace

std::string lower_case(std::string_view text) {
  const std::u32string source = code_points(text);
  std::string result;
  result.reserve(text.size());
  for (std::size_t i = 0; i < source.size(); ++i) {
    const char32_t c = source[i];
    if (c == 0x0130) {
      result += "i\xCC\x87";  // the one code point whose lower case is two: i, combining dot above
    } else if (c == 0x03A3) {
      append_utf8(result, is_final_sigma(source, i) ? 0x03C2 : 0x03C3);
    } else {
      append_utf8(result,
                  static_cast<char32_t>(utf8proc_tolower(static_cast<utf8proc_int32_t>(c))));
    }
  }
  return result;
}

std::string upper_case(std::string_view text) {
  std::string result;
  result.reserve(text.size());
  for (std::size_t offset = 0; offset < text.size();) {
    const char32_t c = next_code_point(text, offset);
    if (c == 0xDF)
      result += "SS";
    else
      append_utf8(result,
                  static_cast<char32_t>(utf8proc_toupper(static_cast<utf8proc_int32_t>(c))));
  }
  return result;
}

std::string title_case(std::string_view text) {
  std::string result;
  result.reserve(text.size());
  bool before_letter = true;
  for (std::size_t offset = 0; offset < text.size();) {
    char32_t c = next_code_point(text, offset);
    const char kind = general_category(c)[0];
    if (kind == 'L' && before_letter)
      c = static_cast<char32_t>(utf8proc_totitle(static_cast<utf8proc_int32_t>(c)));
    before_letter = is_space(c) || (before_letter && (kind == 'P' || kind == 'S'));
    append_utf8(result, c);
  }
  return result;
}

}  // namespace dragoman
