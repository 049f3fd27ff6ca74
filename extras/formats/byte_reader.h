// Takes little-endian numbers and runs of bytes, one after the other, from bytes that are not
// trusted. The readers of arrays, pickles and CTranslate2's models use it.
#pragma once

#include <bit>
#include <cstddef>
#include <cstring>
#include <string_view>

#include "base/error.h"

namespace dragoman {

static_assert(std::endian::native == std::endian::little, "the files are little endian");

class ByteReader {
 public:
  explicit ByteReader(std::string_view bytes) : bytes_(bytes) {}

  std::size_t offset() const { return offset_; }
  std::size_t left() const { return bytes_.size() - offset_; }

  /// Throws Error, in which `what` names the bytes, if fewer are left.
  std::string_view take(std::size_t count, std::string_view what) {
    if (count > left())
      throw Error("ends within ", what, " (", count, " bytes are needed, ", left(), " are there)");
    const std::string_view taken = bytes_.substr(offset_, count);
    offset_ += count;
    return taken;
  }

  template <class T>
  T number(std::string_view what) {
    T value;
    std::memcpy(&value, take(sizeof value, what).data(), sizeof value);
    return value;
  }

  /// The bytes up to the next line feed, which is taken, too.
  std::string_view line(std::string_view what) {
    const std::size_t end = bytes_.find('\n', offset_);
    if (end == bytes_.npos) throw Error("ends within ", what);
    const std::string_view taken = take(end - offset_, what);
    ++offset_;
    return taken;
  }

 private:
  std::string_view bytes_;
  std::size_t offset_ = 0;
};

}  // namespace dragoman
