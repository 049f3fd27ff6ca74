#include "tokenizer/model_facts.h"

#include <array>
#include <optional>

#include "base/error.h"

namespace dragoman {

namespace {

/// A field of a message: its number, and its value or bytes.
struct WireField {
  std::uint64_t number;
  std::uint64_t value = 0;
  std::string_view bytes = {};
};

struct Malformed {};

/// Walks over the fields of a message (protobuf.dev/programming-guides/encoding).
class WireReader {
 public:
  explicit WireReader(std::string_view bytes) : rest_(bytes) {}

  std::optional<WireField> next() {
    enum WireType : std::uint64_t { kVarint = 0, kFixed64 = 1, kLength = 2, kFixed32 = 5 };
    if (rest_.empty()) return std::nullopt;
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

PieceKind read_kind(std::string_view piece) {
  constexpr std::uint64_t kType = 3;  // of SentencePiece
  PieceKind kind = PieceKind::Normal;
  WireReader reader(piece);
  while (const auto field = reader.next()) {
    if (field->number != kType) continue;
    if (field->value < 1 || field->value > 6) throw Malformed();
    kind = static_cast<PieceKind>(field->value);
  }
  return kind;
}

TokenizerFacts read_facts(std::string_view model_bytes) {
  // Field numbers of ModelProto and TrainerSpec.
  constexpr std::uint64_t kPieces = 1, kTrainerSpec = 2, kModelType = 3, kByteFallback = 35;
  constexpr std::array<std::string_view, 4> kTypes = {"unigram", "bpe", "word", "char"};
  TokenizerFacts facts;
  WireReader model(model_bytes);
  while (const auto field = model.next()) {
    if (field->number == kPieces) facts.kinds.push_back(read_kind(field->bytes));
    if (field->number != kTrainerSpec) continue;
    WireReader spec(field->bytes);
    while (const auto setting = spec.next()) {
      if (setting->number == kModelType && setting->value - 1 < kTypes.size())
        facts.type = kTypes[setting->value - 1];
      if (setting->number == kByteFallback) facts.byte_fallback = setting->value != 0;
    }
  }
  return facts;
}

}  // namespace

TokenizerFacts tokenizer_facts(std::string_view model_bytes, const std::string& name) {
  try {
    return read_facts(model_bytes);
  } catch (const Malformed&) {
    throw Error(name, ": not a SentencePiece model");
  }
}

}  // namespace dragoman
