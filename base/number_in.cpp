#include "base/number_in.h"

#include <fstream>
#include <string>

namespace dragoman {

std::optional<std::int64_t> number_in(const std::filesystem::path& path, std::string_view name) {
  std::ifstream file(path);
  for (std::string word, rest; file >> word; std::getline(file, rest))
    if (word == name)
      if (std::int64_t number = 0; file >> number) return number;
  return std::nullopt;
}

}  // namespace dragoman
