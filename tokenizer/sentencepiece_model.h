// SentencePiece models as bytes, read and rewritten without SentencePiece. The bytes are a protocol
// buffer (sentencepiece_model.proto) with the pieces and the settings of the training.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace dragoman {

// ---- facts ----

/// The kinds of pieces, with the numbers of the format.
enum class PieceKind : std::uint8_t { Normal = 1, Unknown, Control, UserDefined, Unused, Byte };

/// The text that a tokenizer of this program writes in pieces of single bytes, so that it comes
/// back as it was. SentencePiece itself would read it as something else.
enum class Escapes : std::uint8_t {
  None,               ///< as SentencePiece has it
  Space,              ///< U+2581, which stands for a space in pieces
  SpaceAndTermMarks,  ///< also <term> and </term>, which belong to the source (terms.h)
};

struct TokenizerFacts {
  std::string_view type = "unigram";  ///< "unigram", "bpe", "word" or "char"
  std::vector<PieceKind> kinds;       ///< of all pieces, by id
  bool byte_fallback = false;         ///< unknown characters become pieces of single bytes
  /// The number of pieces with an id. It is the number of all pieces, unless the model has been
  /// renumbered (renumbered_tokenizer()): text that is segmented into one of the others is unknown.
  std::uint64_t vocabulary = 0;
  std::string normalizer = "";      ///< the name of its rule (TextRule), or another system's
  bool keeps_white_space = false;   ///< else a run of spaces is one, and the ends have none
  Escapes escapes = Escapes::None;  ///< not None: every text comes back as its rule leaves it
  /// The hash of the pieces with their scores and kinds. It is the same for tokenizers of one
  /// vocabulary.
  std::uint64_t pieces_hash = 0;
};

/// The field of the model's protocol buffer that has TokenizerFacts::escapes; a model without it
/// has none. The format leaves the numbers from 200 on to others.
inline constexpr std::uint64_t kEscapesField = 201;

/// Throws Error if the bytes are not a protocol buffer. `name` is for messages.
TokenizerFacts tokenizer_facts(std::string_view model_bytes, const std::string& name);

// ---- other numbers and other pieces ----
// Other systems keep a vocabulary beside the SentencePiece models of the two sides, and number the
// pieces by it.

/// The bytes of a SentencePiece model that segments text as `model_bytes` does and whose piece i is
/// `pieces[i]`. Pieces of the model that `pieces` lacks follow; a Tokenizer reads them as
/// unknown (TokenizerFacts::vocabulary).
///
/// A piece of `pieces` that the model lacks is Unused: it can be decoded, but no text is segmented
/// into it, except a run of unknown characters that is its text. "</s>", "<s>", "<pad>" and
/// "<blank>" become control pieces, which stand for no text, and a language tag such as ">>fra<<"
/// is read at the beginning of a text. `pieces` must have "</s>" and the model's unknown piece, and
/// nothing twice. Throws Error, with `name` for messages.
std::string renumbered_tokenizer(std::string_view model_bytes, std::span<const std::string> pieces,
                                 const std::string& name);

/// The bytes of a renumbered model without the pieces that it lacked before, if they would change
/// how text is segmented (bpe, word, char); else nothing. Throws Error, with `name` for messages.
std::string without_added_pieces(std::string_view model_bytes, const std::string& name);

/// A piece of a renumbered model as the other system's vocabulary has it: a language tag loses the
/// space (U+2581) in front of it, other pieces do not change.
std::string without_tag_space(const std::string& piece);

/// The bytes of a SentencePiece model that segments text into `pieces`, single characters and the
/// model's control pieces alone, as SentencePieceProcessor::SetVocabulary() has it. Throws Error,
/// with `name` for messages.
std::string restricted_tokenizer(std::string_view model_bytes, std::span<const std::string> pieces,
                                 const std::string& name);

}  // namespace dragoman
