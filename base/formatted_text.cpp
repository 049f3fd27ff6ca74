#include "base/formatted_text.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <stdexcept>

#include "base/error.h"
#include "base/utf8.h"

namespace dragoman {

std::string with_separators(std::int64_t number) {
  std::string digits = std::to_string(number);
  const std::size_t first = number < 0 ? 1 : 0;
  for (std::size_t i = digits.size(); i > first + 3; i -= 3) digits.insert(i - 3, 1, ',');
  return digits;
}

std::string counted(std::int64_t number, std::string_view one, std::string_view many) {
  std::string text = with_separators(number) + " ";
  if (number == 1) return text.append(one);
  return many.empty() ? text.append(one).append("s") : text.append(many);
}

std::string bytes_text(std::int64_t bytes) {
  auto number = static_cast<double>(bytes);
  int unit = 0;
  for (; number >= 999.5 && unit < 4; ++unit) number /= 1000;
  constexpr const char* kUnits[] = {" B", " KB", " MB", " GB", " TB"};
  return fixed_text(number, unit > 0 && number < 9.95 ? 1 : 0) + kUnits[unit];
}

std::string fixed_text(double number, int decimals) {
  // The largest double has 309 digits before the point.
  std::string text(static_cast<std::size_t>(decimals) + 312, '\0');
  const auto end = std::to_chars(text.data(), text.data() + text.size(), number,
                                 std::chars_format::fixed, decimals);
  text.resize(static_cast<std::size_t>(end.ptr - text.data()));
  return text;
}

std::string duration_text(double seconds) {
  if (!(seconds < 1e9)) return "long";
  const auto whole = static_cast<long long>(std::ceil(std::max(seconds, 0.0)));
  char text[48];
  if (whole >= 86'400)
    std::snprintf(text, sizeof text, "%lldd %02lld:%02lld", whole / 86'400, whole / 3'600 % 24,
                  whole / 60 % 60);
  else if (whole >= 3'600)
    std::snprintf(text, sizeof text, "%lld:%02lld:%02lld", whole / 3'600, whole / 60 % 60,
                  whole % 60);
  else
    std::snprintf(text, sizeof text, "%lld:%02lld", whole / 60, whole % 60);
  return text;
}

// ---- lists and lines ----

std::string lines_text(std::span<const std::int64_t> numbers, std::int64_t all) {
  std::string text = all == 1 ? "line" : "lines";
  for (std::size_t i = 0; i < numbers.size(); ++i)
    text += (i == 0 ? " " : ", ") + std::to_string(numbers[i]);
  return static_cast<std::int64_t>(numbers.size()) < all ? text + ", ..." : text;
}

bool is_among(std::string_view text, std::initializer_list<std::string_view> texts) {
  return std::ranges::find(texts, text) != texts.end();
}

void replace_all(std::string& text, std::string_view from, std::string_view to) {
  for (std::size_t at = 0; (at = text.find(from, at)) != text.npos; at += to.size())
    text.replace(at, from.size(), to);
}

std::vector<std::string_view> split_at(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  while (true) {
    const std::size_t end = text.find(separator);
    parts.push_back(text.substr(0, end));
    if (end == text.npos) return parts;
    text.remove_prefix(end + 1);
  }
}

std::string one_line(std::string text) {
  std::ranges::replace_if(
      text, [](char c) { return c == '\n' || c == '\r' || c == '\0'; }, ' ');
  return text;
}

// ---- shell and HTML ----

std::string shell_word(const std::string& word) {
  const auto plain = [](unsigned char c) {
    return std::isalnum(c) != 0 || std::strchr("@%+=:,./_-", c) != nullptr;
  };
  if (!word.empty() && std::all_of(word.begin(), word.end(), plain)) return word;
  std::string quoted = "'";
  for (const char c : word) quoted += c == '\'' ? "'\\''" : std::string(1, c);
  return quoted + "'";
}

std::string with_references(std::string_view text, std::string_view signs) {
  constexpr std::string_view kSigns = "&<>\"'{";
  constexpr std::array kReferences = {"&amp;", "&lt;", "&gt;", "&quot;", "&#39;", "&#123;"};
  std::string written;
  for (const char c : text) {
    if (signs.find(c) == signs.npos)
      written += c;
    else
      written += kReferences.at(kSigns.find(c));
  }
  return written;
}

std::string escaped(std::string_view text) {
  return with_references(replace_invalid_utf8(text), "&<>\"");
}

std::string filled(std::string_view text,
                   const std::vector<std::pair<std::string_view, std::string>>& values) {
  std::string result;
  for (std::size_t at; (at = text.find("{{")) != std::string_view::npos;) {
    const std::size_t end = text.find("}}", at);
    const std::string_view name = text.substr(at + 2, end - at - 2);
    const auto value =
        std::ranges::find_if(values, [&](const auto& entry) { return entry.first == name; });
    if (end == std::string_view::npos || value == values.end())
      throw std::logic_error(join_text("a template has no value for ", name));
    result.append(text.substr(0, at)).append(value->second);
    text.remove_prefix(end + 2);
  }
  return result.append(text);
}

}  // namespace dragoman
