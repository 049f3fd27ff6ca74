#include "evaluation/words.h"

#include "base/utf8.h"

namespace dragoman {

std::vector<std::string_view> split_words(std::string_view text) {
  std::vector<std::string_view> words;
  std::size_t begin = 0;
  for (std::size_t offset = 0; offset < text.size();) {
    const std::size_t start = offset;
    if (!is_space(next_code_point(text, offset))) continue;
    if (start > begin) words.push_back(text.substr(begin, start - begin));
    begin = offset;
  }
  if (begin < text.size()) words.push_back(text.substr(begin));
  return words;
}

std::string_view strip_right(std::string_view text) {
  while (!text.empty()) {
    const std::size_t start = character_start(text, text.size() - 1);
    std::size_t offset = start;
    if (!is_space(next_code_point(text, offset))) break;
    text = text.substr(0, start);
  }
  return text;
}

std::vector<std::string> stripped_lines(std::vector<std::string> lines) {
  for (std::string& line : lines) line.resize(strip_right(line).size());
  return lines;
}

std::string valid_line(const std::string& line) {
  return find_invalid_utf8(line) == std::string::npos ? line : replace_invalid_utf8(line);
}

std::vector<std::uint32_t> WordNumbering::add(const std::vector<std::string_view>& words) {
  std::vector<std::uint32_t> numbers;
  numbers.reserve(words.size());
  for (std::string_view word : words) {
    const auto next = static_cast<std::uint32_t>(numbers_.size());
    numbers.push_back(numbers_.try_emplace(word, next).first->second);
  }
  return numbers;
}

std::vector<std::uint32_t> WordNumbering::find(const std::vector<std::string_view>& words) const {
  std::vector<std::uint32_t> numbers;
  numbers.reserve(words.size());
  for (std::string_view word : words) {
    const auto found = numbers_.find(word);
    numbers.push_back(found == numbers_.end() ? kUnknown : found->second);
  }
  return numbers;
}

}  // namespace dragoman
