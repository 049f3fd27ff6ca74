// A range of bytes in a text.
#pragma once

#include <cstddef>
#include <string_view>

namespace dragoman {

struct ByteRange {
  std::size_t begin = 0, end = 0;

  std::size_t size() const { return end - begin; }
  std::string_view of(std::string_view text) const { return text.substr(begin, size()); }
  bool operator==(const ByteRange&) const = default;
};

}  // namespace dragoman
