#include "tokenizer/model_facts.h"

#include <array>

#include "base/error.h"
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

TokenizerFacts read_facts(std::string_view model_bytes) {
  // Field numbers of ModelProto and TrainerSpec.
  constexpr std::uint64_t kPieces = 1, kTrainerSpec = 2, kModelType = 3, kByteFallback = 35;
  constexpr std::array<std::string_view, 4> kTypes = {"unigram", "bpe", "word", "char"};
  TokenizerFacts facts;
  WireReader model(model_bytes);
  while (const auto field = model.next()) {
    if (field->number == kPieces) facts.kinds.push_back(read_kind(field->bytes));
    if (field->number == kVocabularyField) facts.vocabulary = field->value;
    if (field->number != kTrainerSpec) continue;
    WireReader spec(field->bytes);
    while (const auto setting = spec.next()) {
      if (setting->number == kModelType && setting->value - 1 < kTypes.size())
        facts.type = kTypes[setting->value - 1];
      if (setting->number == kByteFallback) facts.byte_fallback = setting->value != 0;
    }
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
