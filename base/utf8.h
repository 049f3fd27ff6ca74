// UTF-8: checking, replacing invalid bytes, walking over code points, changing case.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace dragoman {

inline constexpr char32_t kReplacementCharacter = 0xFFFD;
inline constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";

/// The offset of the first byte that belongs to no valid UTF-8 sequence (RFC 3629: no overlong
/// forms, no surrogates, nothing above U+10FFFF), or npos.
std::size_t find_invalid_utf8(std::string_view text);

/// Replaces each maximal invalid part of a sequence by U+FFFD: the Unicode standard's recommended
/// practice, as Python's errors="replace".
std::string replace_invalid_utf8(std::string_view text);

/// The offset at which the character starts that the byte at `offset` belongs to; the
/// size of the text stays. `text` must be valid UTF-8; otherwise at most 3 bytes are passed.
std::size_t character_start(std::string_view text, std::size_t offset);

/// The code point that starts at `offset`. `offset` is moved behind it. `text` must be valid UTF-8.
char32_t next_code_point(std::string_view text, std::size_t& offset);

/// `text` must be valid UTF-8.
std::u32string code_points(std::string_view text);
std::size_t count_code_points(std::string_view text);
void append_utf8(std::string& text, char32_t code_point);
std::string to_utf8(std::u32string_view code_points);

/// The letters A to Z in lower case, a to z in upper case; all other bytes stay.
std::string ascii_lower(std::string_view text);
std::string ascii_upper(std::string_view text);

/// Python's str.lower(): full lower-casing, with the final sigma rule. `text` must be valid UTF-8.
std::string lower_case(std::string_view text);

/// Unicode's simple upper case of each character; ß becomes SS. `text` must be valid UTF-8.
std::string upper_case(std::string_view text);

/// The first letter of each word in title case; all other characters stay. A word is the text
/// between white space, without punctuation at its start. `text` must be valid UTF-8.
std::string title_case(std::string_view text);

/// Unicode's general category as two letters, for example "Lu"; "Cn" for unassigned.
std::string_view general_category(char32_t code_point);

/// Unicode's White_Space property and U+001C..U+001F: the characters at which Python's str.split()
/// splits.
bool is_space(char32_t code_point);

/// Whether the text has a control character (Unicode's category Cc), or a line or paragraph
/// separator. `text` must be valid UTF-8.
bool has_control_character(std::string_view text);

/// The text without the white space (is_space) at both ends. `text` must be valid UTF-8.
std::string_view strip(std::string_view text);

}  // namespace dragoman
