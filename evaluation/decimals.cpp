#include "evaluation/decimals.h"

#include <charconv>

namespace dragoman {

std::string decimals(double value, int places) {
  // The largest double has 309 digits before the point.
  std::string text(static_cast<std::size_t>(places) + 312, '\0');
  const auto end = std::to_chars(text.data(), text.data() + text.size(), value,
                                 std::chars_format::fixed, places);
  text.resize(static_cast<std::size_t>(end.ptr - text.data()));
  return text;
}

}  // namespace dragoman
