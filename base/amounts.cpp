#include "base/amounts.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstdio>

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
  char text[32];
  std::snprintf(text, sizeof text, unit > 0 && number < 9.95 ? "%.1f %s" : "%.0f %s", number,
                std::array{"B", "KB", "MB", "GB", "TB"}[static_cast<std::size_t>(unit)]);
  return text;
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

}  // namespace dragoman
