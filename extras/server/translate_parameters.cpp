#include "extras/server/translate_parameters.h"

#include "base/utf8.h"

namespace dragoman {

std::int64_t count_characters(std::string_view text) {
  return static_cast<std::int64_t>(count_code_points(text));
}

std::int64_t count_characters(const std::vector<std::string>& texts) {
  std::int64_t sum = 0;
  for (const std::string& text : texts) sum += count_characters(text);
  return sum;
}

}  // namespace dragoman
