// Protocol buffers on the wire (protobuf.dev/programming-guides/encoding), as far as
// SentencePiece's models and TensorBoard's events need them.
#pragma once

#include <bit>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/little_endian.h"

namespace dragoman {

struct Malformed {};

/// A field of a message: its number, its value or bytes, and the whole field as it is stored.
struct WireField {
  std::uint64_t number;
  std::uint64_t value = 0;
  std::string_view bytes = {};
  std::string_view stored = {};
};

/// Walks over the fields of a message. Throws Malformed.
class WireReader {
 public:
  explicit WireReader(std::string_view bytes) : rest_(bytes) {}

  std::optional<WireField> next() {
    enum WireType : std::uint64_t { kVarint = 0, kFixed64 = 1, kLength = 2, kFixed32 = 5 };
    if (rest_.empty()) return std::nullopt;
    const std::string_view from = rest_;
    const std::uint64_t tag = varint();
    WireField field{.number = tag >> 3};
    switch (tag & 7) {
      case kVarint:
        field.value = varint();
        break;
      case kFixed64:
        field.bytes = take(8);
        break;
      case kLength:
        field.bytes = take(varint());
        break;
      case kFixed32:
        field.bytes = take(4);
        break;
      default:
        throw Malformed();
    }
    field.stored = from.substr(0, from.size() - rest_.size());
    return field;
  }

 private:
  std::uint64_t varint() {
    std::uint64_t value = 0;
    for (int shift = 0; shift < 64; shift += 7) {
      const auto byte = static_cast<unsigned char>(take(1).front());
      value |= static_cast<std::uint64_t>(byte & 127) << shift;
      if (byte < 128) return value;
    }
    throw Malformed();
  }

  std::string_view take(std::uint64_t size) {
    if (size > rest_.size()) throw Malformed();
    const std::string_view bytes = rest_.substr(0, size);
    rest_.remove_prefix(size);
    return bytes;
  }

  std::string_view rest_;
};

/// Appends fields to a message.
class WireWriter {
 public:
  void number(std::uint64_t field, std::uint64_t value) {
    varint(field << 3);
    varint(value);
  }
  void bytes(std::uint64_t field, std::string_view value) {
    varint(field << 3 | 2);
    varint(value.size());
    message_ += value;
  }
  void real(std::uint64_t field, float value) {
    varint(field << 3 | 5);
    message_ += little_endian(std::bit_cast<std::uint32_t>(value));
  }
  void real(std::uint64_t field, double value) {
    varint(field << 3 | 1);
    message_ += little_endian(std::bit_cast<std::uint64_t>(value));
  }
  void stored(const WireField& field) { message_ += field.stored; }

  const std::string& message() const { return message_; }

 private:
  void varint(std::uint64_t value) {
    for (; value > 127; value >>= 7) message_ += static_cast<char>((value & 127) | 128);
    message_ += static_cast<char>(value);
  }

  std::string message_;
};

}  // namespace dragoman
