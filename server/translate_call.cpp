#include "server/translate_call.h"

#include <algorithm>

namespace dragoman {

std::int64_t count_characters(std::string_view text) {
  return std::ranges::count_if(
      text, [](char c) { return (static_cast<unsigned char>(c) & 0xC0U) != 0x80U; });
}

std::int64_t count_characters(const std::vector<std::string>& texts) {
  std::int64_t sum = 0;
  for (const std::string& text : texts) sum += count_characters(text);
  return sum;
}

}  // namespace dragoman
