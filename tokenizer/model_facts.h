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

/// What a tokenizer of this program writes in pieces of single bytes, so that it comes back as it
/// was: text that SentencePiece itself would read as something else.
enum class Escapes : std::uint8_t {
  None,               ///< as SentencePiece has it
  Space,              ///< U+2581, which stands for a space in pieces
  SpaceAndTermMarks,  ///< also <term> and </term>, which belong to the source (term_marks.h)
};

struct TokenizerFacts {
  std::string_view type = "unigram";  ///< "unigram", "bpe", "word" or "char"
  std::vector<PieceKind> kinds;       ///< of all pieces, by id
  bool byte_fallback = false;         ///< unknown characters become pieces of single bytes
  /// The number of pieces with an id. It is the number of all pieces, unless the model has been
  /// renumbered (renumbered_tokenizer.h): text that is segmented into one of the others is unknown.
  std::uint64_t vocabulary = 0;
  std::string normalizer = "";      ///< the name of its rule (text_rule.h), or another system's
  bool keeps_white_space = false;   ///< else a run of spaces is one, and the ends have none
  Escapes escapes = Escapes::None;  ///< not None: every text comes back as its rule leaves it
  /// Of the pieces with their scores and kinds. Tokenizers of one vocabulary have the same hash.
  std::uint64_t pieces_hash = 0;
};

/// The field of the model's protocol buffer that has TokenizerFacts::vocabulary. The format leaves
/// the numbers from 200 on to others.
inline constexpr std::uint64_t kVocabularyField = 200;
/// The field that has TokenizerFacts::escapes; a model without it has none.
inline constexpr std::uint64_t kEscapesField = 201;

/// The kind with a number of the format. Throws Malformed (wire_format.h) for other numbers.
PieceKind piece_kind(std::uint64_t number);

/// Throws Error where the bytes are no protocol buffer. `name` is for messages.
TokenizerFacts tokenizer_facts(std::string_view model_bytes, const std::string& name);

}  // namespace dragoman
