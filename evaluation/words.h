// Words as Python's str.split() finds them, since sacreBLEU's metrics count these.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace dragoman {

/// The words of `text`: they stand between white space (is_space), and none is empty. They point
/// into `text`, which must be valid UTF-8.
std::vector<std::string_view> split_words(std::string_view text);

/// Python's str.rstrip(). `text` must be valid UTF-8.
std::string_view strip_right(std::string_view text);

/// The lines of a file as sacreBLEU's program takes them: without white space at their ends. Its
/// metrics take lines as they are, and with white space chrF counts these ends.
std::vector<std::string> stripped_lines(std::vector<std::string> lines);

/// The line with U+FFFD in place of invalid UTF-8.
std::string valid_line(const std::string& line);

/// Numbers for the words of one line's references, so that n-grams of words are n-grams of numbers.
class WordNumbering {
 public:
  static constexpr std::uint32_t kUnknown = 0xFFFFFFFF;

  /// The words must outlive the vocabulary or its next clear().
  std::vector<std::uint32_t> add(const std::vector<std::string_view>& words);
  /// kUnknown for words that were never added.
  std::vector<std::uint32_t> find(const std::vector<std::string_view>& words) const;
  void clear() { numbers_.clear(); }

 private:
  std::unordered_map<std::string_view, std::uint32_t> numbers_;
};

}  // namespace dragoman
