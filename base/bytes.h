// Data as bytes: hashes, bytes and numbers as text, numbers and protocol buffers as files store
// them.
#pragma once

#include <bit>
#include <charconv>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <system_error>

namespace dragoman {

/// XXH3, the checksum of files and tensors and the hash of lines.
std::uint64_t xxh3(const void* bytes, std::size_t size, std::uint64_t seed = 0);
inline std::uint64_t xxh3(std::string_view text, std::uint64_t seed = 0) {
  return xxh3(text.data(), text.size(), seed);
}

/// With std::equal_to<>, lets an unordered map by texts find a view.
template <class Character>
struct TextHash {
  using is_transparent = void;
  std::size_t operator()(std::basic_string_view<Character> text) const {
    return std::hash<std::basic_string_view<Character>>()(text);
  }
};

/// 16 lower-case hexadecimal digits.
std::string hex16(std::uint64_t hash);

/// The bytes, and after them their xxh3() in 8 bytes.
std::string with_checksum(std::string bytes);
/// The bytes that with_checksum() was given; nothing if they have changed since.
std::optional<std::string_view> without_checksum(std::string_view stored);

/// RFC 4648, section 4.
std::string base64(std::span<const std::byte> bytes);

/// The number that the whole text is, as std::from_chars reads it; nothing for other texts and for
/// numbers that the type cannot hold. `base` is for whole numbers: 16 for hexadecimal digits.
template <class Number, class... Base>
std::optional<Number> number_from(std::string_view text, Base... base) {
  Number number{};
  const char* const end = text.data() + text.size();
  const auto [stop, fault] = std::from_chars(text.data(), end, number, base...);
  if (fault != std::errc() || stop != end) return std::nullopt;
  return number;
}

/// The bytes of the number, the lowest first.
template <std::unsigned_integral Number>
std::string little_endian(Number number) {
  std::string bytes;
  for (std::size_t i = 0; i < sizeof number; ++i)
    bytes.push_back(static_cast<char>(static_cast<std::uint64_t>(number) >> (8 * i) & 0xFF));
  return bytes;
}

/// The bits of the nearest number of 16 bits (IEEE 754-2008, binary16), ties to even.
std::uint16_t half_of(float value);

// ---- protocol buffers ----
// The wire format (protobuf.dev/programming-guides/encoding), as far as SentencePiece's models and
// TensorBoard's events need it.

/// Thrown for bytes that are not a message.
struct MalformedMessage {};

/// A field of a message: its number, its value or bytes, and the whole field as it is stored.
struct WireField {
  std::uint64_t number;
  std::uint64_t value = 0;
  std::string_view bytes = {};
  std::string_view stored = {};
};

/// Walks over the fields of a message. Throws MalformedMessage.
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
        throw MalformedMessage();
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
    throw MalformedMessage();
  }

  std::string_view take(std::uint64_t size) {
    if (size > rest_.size()) throw MalformedMessage();
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
