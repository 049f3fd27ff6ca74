// UTF-8 (RFC 3629): checking and repairing it, walking over its code points, their case and kinds,
// and other bytes written as UTF-8.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace dragoman {

inline constexpr char32_t kReplacementCharacter = 0xFFFD;
inline constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";

// ---- bytes ----

/// Bytes [begin, end) of a text.
struct ByteRange {
  std::size_t begin = 0, end = 0;

  std::size_t size() const { return end - begin; }
  bool empty() const { return begin >= end; }
  std::string_view of(std::string_view text) const { return text.substr(begin, size()); }
  bool operator==(const ByteRange&) const = default;
};

/// The offset of the first byte that belongs to no valid UTF-8 sequence (no overlong forms, no
/// surrogates, nothing above U+10FFFF), or npos.
std::size_t find_invalid_utf8(std::string_view text);

/// Replaces each maximal invalid part of a sequence by U+FFFD: the Unicode standard's recommended
/// practice, as Python's errors="replace".
std::string replace_invalid_utf8(std::string_view text);

/// The offset of the character that the byte at `offset` belongs to; the size of the text is
/// returned as it is. Goes back at most 3 bytes if `text` is not valid UTF-8.
std::size_t character_start(std::string_view text, std::size_t offset);

/// Any bytes, for example the name of a file, as UTF-8 for records in JSON and TOML. Valid UTF-8
/// stays as it is. Each byte 80 to FF of an invalid sequence becomes one of U+100080 to U+1000FF,
/// and so does each byte of these code points themselves.
std::string utf8_of_bytes(std::string_view bytes);
/// The inverse of utf8_of_bytes(). `text` must be valid UTF-8.
std::string bytes_of_utf8(std::string_view text);

// ---- code points; all texts must be valid UTF-8 ----

/// The code point that starts at `offset`. `offset` is moved to the next one. If the text ends
/// within it, as no valid text does, U+FFFD.
char32_t next_code_point(std::string_view text, std::size_t& offset);

std::u32string code_points(std::string_view text);
std::size_t count_code_points(std::string_view text);
void append_utf8(std::string& text, char32_t code_point);
std::string to_utf8(std::u32string_view code_points);

/// Unicode's general category as two letters, for example "Lu"; "Cn" for unassigned.
std::string_view general_category(char32_t code_point);

/// Unicode's White_Space property and U+001C..U+001F: the characters at which Python's str.split()
/// splits.
bool is_space(char32_t code_point);

/// Whether the text has a control character (Unicode's category Cc), or a line or paragraph
/// separator.
bool has_control_character(std::string_view text);

/// The words between white space (is_space), in their order.
std::vector<ByteRange> words_between_spaces(std::string_view text);

/// The text without the white space (is_space) at both ends: Python's str.strip().
std::string_view strip(std::string_view text);
/// Without that at its beginning, at its end: Python's str.lstrip() and str.rstrip().
std::string_view strip_left(std::string_view text);
std::string_view strip_right(std::string_view text);

/// Whether the character is part of a word. A character of a script without spaces between words is
/// not: it is a word of its own.
bool is_word_character(char32_t code_point);
/// Whether the character belongs to a script that writes no spaces between words.
bool is_unspaced(char32_t code_point);

// ---- upper and lower case ----

/// The letters A to Z in lower case, a to z in upper case; all other bytes stay. Any bytes will do.
std::string ascii_lower(std::string_view text);
std::string ascii_upper(std::string_view text);

/// Python's str.lower(): full lower-casing, with the final sigma rule.
std::string lower_case(std::string_view text);

/// Unicode's simple upper case of each character; ß becomes SS.
std::string upper_case(std::string_view text);

/// The first letter of each word in title case; all other characters stay. A word is the text
/// between white space, without punctuation at its start.
std::string title_case(std::string_view text);

}  // namespace dragoman
