#include "tokenizer/model_facts.h"

#include <array>

#include "base/error.h"
#include "base/hash.h"
#include "base/wire_format.h"

namespace dragoman {

namespace {

PieceKind read_kind(std::string_view piece) {
  constexpr std::uint64_t kType = 3;  // of SentencePiece
  PieceKind kind = PieceKind::Normal;
  WireReader reader(piece);
  while (const auto field = reader.next()) {
    if (field->number == kType) kind = piece_kind(field->value);
  }
  return kind;
}

void read_trainer_spec(std::string_view spec, TokenizerFacts& facts) {
  constexpr std::uint64_t kModelType = 3, kByteFallback = 35;
  constexpr std::array<std::string_view, 4> kTypes = {"unigram", "bpe", "word", "char"};
  WireReader reader(spec);
  while (const auto setting = reader.next()) {
    if (setting->number == kModelType && setting->value - 1 < kTypes.size())
      facts.type = kTypes[setting->value - 1];
    if (setting->number == kByteFallback) facts.byte_fallback = setting->value != 0;
  }
}

void read_normalizer_spec(std::string_view spec, TokenizerFacts& facts) {
  constexpr std::uint64_t kName = 1, kRemoveExtraWhitespaces = 4;
  WireReader reader(spec);
  while (const auto setting = reader.next()) {
    if (setting->number == kName) facts.normalizer = setting->bytes;
    if (setting->number == kRemoveExtraWhitespaces) facts.keeps_white_space = setting->value == 0;
  }
}

Escapes escapes_of(std::uint64_t number) {
  if (number > static_cast<std::uint64_t>(Escapes::SpaceAndTermMarks)) throw Malformed();
  return static_cast<Escapes>(number);
}

TokenizerFacts read_facts(std::string_view model_bytes) {
  // Field numbers of ModelProto.
  constexpr std::uint64_t kPieces = 1, kTrainerSpec = 2, kNormalizerSpec = 3;
  TokenizerFacts facts;
  WireReader model(model_bytes);
  while (const auto field = model.next()) {
    if (field->number == kPieces) {
      facts.kinds.push_back(read_kind(field->bytes));
      facts.pieces_hash = xxh3(field->bytes, facts.pieces_hash);
    }
    if (field->number == kVocabularyField) facts.vocabulary = field->value;
    if (field->number == kEscapesField) facts.escapes = escapes_of(field->value);
    if (field->number == kTrainerSpec) read_trainer_spec(field->bytes, facts);
    if (field->number == kNormalizerSpec) read_normalizer_spec(field->bytes, facts);
  }
  if (facts.vocabulary == 0) facts.vocabulary = facts.kinds.size();
  if (facts.vocabulary > facts.kinds.size()) throw Malformed();
  return facts;
}

}  // namespace

PieceKind piece_kind(std::uint64_t number) {
  if (number < 1 || number > 6) throw Malformed();
  return static_cast<PieceKind>(number);
}

TokenizerFacts tokenizer_facts(std::string_view model_bytes, const std::string& name) {
  try {
    return read_facts(model_bytes);
  } catch (const Malformed&) {
    throw Error(name, ": not a SentencePiece model");
  }
}

}  // namespace dragoman
