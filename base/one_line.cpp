#include "base/one_line.h"

#include <algorithm>

namespace dragoman {

std::string one_line(std::string text) {
  std::ranges::replace_if(
      text, [](char c) { return c == '\n' || c == '\r' || c == '\0'; }, ' ');
  return text;
}

}  // namespace dragoman
