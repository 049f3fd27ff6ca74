// Values as text that people, shells and browsers read: amounts and lists in messages, quoted words
// of a command, HTML.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace dragoman {

// ---- amounts ----

/// "63,082,496".
std::string with_separators(std::int64_t number);

/// "1 line", "0 lines", "1,000 lines"; `many` if the plural is more than an "s" after `one`.
std::string counted(std::int64_t number, std::string_view one, std::string_view many = "");

/// "512 B", "1.5 KB", "640 MB", "2.1 GB": each unit is 1,000 of the one before.
std::string bytes_text(std::int64_t bytes);

/// "38.20" with two decimals: printf's "%.{decimals}f" in the C locale, rounded to nearest.
std::string fixed_text(double number, int decimals);

/// A duration, rounded up to seconds: "0:59", "12:34", "3:12:34", "2d 03:12"; "long" from 1e9 s on.
std::string duration_text(double seconds);

// ---- lists and lines ----

/// text(item) of each item, with the separator between them. Items that are texts stand as they
/// are.
template <class Items, class Text = std::identity>
std::string joined(const Items& items, std::string_view separator, const Text& text = {}) {
  std::string all;
  bool is_first = true;
  for (const auto& item : items) {
    if (!is_first) all += separator;
    is_first = false;
    all += std::invoke(text, item);
  }
  return all;
}

/// "line 7", "lines 7, 9, 12"; "lines 7, 9, 12, ..." if there are more (`all`) than are listed.
std::string lines_text(std::span<const std::int64_t> numbers, std::int64_t all);
/// The most numbers that a message lists.
inline constexpr std::size_t kListedLines = 5;

bool is_among(std::string_view text, std::initializer_list<std::string_view> texts);

/// Replaces each `from`, which is not empty, by `to`, from the left.
void replace_all(std::string& text, std::string_view from, std::string_view to);

/// The parts of a text between separators: one more than there are separators. They point into it.
std::vector<std::string_view> split_at(std::string_view text, char separator);

/// The text with a space for each line end and NUL. A line of text has no line ends, and no
/// translation has a NUL.
std::string one_line(std::string text);

// ---- shell and HTML ----

/// A word of a command for a POSIX shell, in quotes if the shell would otherwise change it.
std::string shell_word(const std::string& word);

/// The text with a reference ("&amp;") in the place of each of these signs, which are among &<>"'{.
/// Any bytes will do.
std::string with_references(std::string_view text, std::string_view signs);

/// Escapes text for HTML and for attributes in double quotes. Invalid UTF-8 becomes U+FFFD.
std::string escaped(std::string_view text);

/// The template with a value for each {{name}}. Values are inserted as they are, so text must be
/// escaped() first. Throws std::logic_error if a name has no value.
std::string filled(std::string_view text,
                   const std::vector<std::pair<std::string_view, std::string>>& values);

}  // namespace dragoman
