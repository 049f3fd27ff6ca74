// Facts about a SentencePiece model, read from its bytes without SentencePiece. The bytes are a
// protocol buffer (sentencepiece_model.proto) with the pieces and the settings of the training.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace dragoman {

/// The kinds of pieces, with the numbers of the format.
enum class PieceKind : std::uint8_t { Normal = 1, Unknown, Control, UserDefined, Unused, Byte };

struct TokenizerFacts {
  std::string_view type = "unigram";  ///< "unigram", "bpe", "word" or "char"
  std::vector<PieceKind> kinds;       ///< of all pieces, by id
  bool byte_fallback = false;         ///< unknown characters become pieces of single bytes
  /// The number of pieces with an id. It is the number of all pieces, unless the model has been
  /// renumbered (renumbered_tokenizer.h): text that is segmented into one of the others is unknown.
  std::uint64_t vocabulary = 0;
};

/// The field of the model's protocol buffer that has TokenizerFacts::vocabulary. The format leaves
/// the numbers from 200 on to others.
inline constexpr std::uint64_t kVocabularyField = 200;

/// The kind with a number of the format. Throws Malformed (wire_format.h) for other numbers.
PieceKind piece_kind(std::uint64_t number);

/// Throws Error where the bytes are no protocol buffer. `name` is for messages.
TokenizerFacts tokenizer_facts(std::string_view model_bytes, const std::string& name);

}  // namespace dragoman
