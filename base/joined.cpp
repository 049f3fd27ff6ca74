#include "base/joined.h"

namespace dragoman {

std::string joined(std::span<const std::string> texts, std::string_view separator) {
  std::string all;
  for (const std::string& text : texts) {
    if (!all.empty()) all += separator;
    all += text;
  }
  return all;
}

std::string lines_text(std::span<const std::int64_t> numbers, std::int64_t all) {
  std::string text = all == 1 ? "line" : "lines";
  for (std::size_t i = 0; i < numbers.size(); ++i)
    text += (i == 0 ? " " : ", ") + std::to_string(numbers[i]);
  return static_cast<std::int64_t>(numbers.size()) < all ? text + ", ..." : text;
}

}  // namespace dragoman
