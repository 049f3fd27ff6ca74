// A trained SentencePiece tokenizer (Kudo and Richardson 2018), which encodes and decodes; the pair
// of tokenizers of a model; and the rule by which a tokenizer normalises text. Only tokenizer.cpp
// and train_tokenizer.cpp include SentencePiece's headers.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tokenizer/sentencepiece_model.h"

namespace dragoman {

using TokenId = std::int32_t;

/// A piece and the bytes [begin, end) of the text that it stands for, spaces before a word
/// included. If a character falls back to pieces of single bytes, the last of them has all its
/// bytes, the others none.
struct PieceSpan {
  TokenId id;
  std::size_t begin, end;
};

class Tokenizer {
 public:
  /// Takes the bytes of a SentencePiece model. Throws Error if they are not such a model. `name` is
  /// for messages.
  Tokenizer(std::string model_bytes, const std::string& name);
  static Tokenizer from_file(const std::string& path);
  Tokenizer(Tokenizer&&) noexcept;
  Tokenizer& operator=(Tokenizer&&) noexcept;
  ~Tokenizer();

  /// Ids of the pieces, without begin or end of sentence. Safe to call from many threads at once.
  std::vector<TokenId> encode(std::string_view text) const;
  /// The texts of the pieces; an unknown one has the characters that it stands for.
  std::vector<std::string> pieces(std::string_view text) const;
  /// The same ids with their offsets in the text.
  std::vector<PieceSpan> encode_with_offsets(std::string_view text) const;
  /// The text of the ids; special ids are left out, runs of byte pieces that are not valid UTF-8
  /// become U+FFFD. A tokenizer that keeps white space and has escapes (TokenizerFacts) gives back
  /// every text that its rule (TextRule) leaves as it is.
  std::string decode(std::span<const TokenId> ids) const;

  std::int64_t size() const;  ///< pieces of the vocabulary
  TokenId unk_id() const;
  TokenId bos_id() const;
  TokenId eos_id() const;
  std::string piece(TokenId id) const;
  /// In a unigram model the piece's log-probability. In a BPE model a piece with a higher score is
  /// merged earlier.
  double score(TokenId id) const;
  /// The id of a piece, or unk_id() for an unknown one.
  TokenId id(std::string_view piece) const;
  /// Ids that a search must never emit: unknown, begin of sentence, control pieces, the marks of
  /// terms, and the byte pieces of 00, 0A and 0D, which would break lines.
  std::vector<TokenId> never_emitted() const;

  /// The user-defined pieces as they stand in text: marks of terms, tags such as "<bt>", and
  /// language tags such as ">>fra<<".
  std::vector<std::string> user_symbols() const;

  const TokenizerFacts& facts() const;
  const std::string& model_bytes() const;  ///< to be stored in the model file

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

// ---- SentencePiece's spelling of pieces ----

inline constexpr std::string_view kSpaceMark = "\u2581";  ///< "▁", a space in a piece

/// The byte that a piece like "<0x41>" stands for; none for other pieces. SentencePiece writes a
/// character that has no piece of its own as such pieces.
std::optional<unsigned char> byte_of_piece(std::string_view piece);

/// Whether every vocabulary has the piece: a special one or a byte.
bool is_reserved_piece(std::string_view piece);

/// A source text after its tag ("<bt> one two"), in training and in translation; "": no tag.
std::string tagged(std::string_view tag, std::string_view text);

// ---- the two sides of a model ----

/// The tokens that end the sentences of the two sides.
struct EndIds {
  TokenId source, target;
  bool source_eos = true;  ///< ModelConfig::source_eos

  /// Whether a source sentence of `pieces` pieces ends with `source`. An empty one always does, as
  /// a model must read something.
  bool ends_source(std::size_t pieces) const { return source_eos || pieces == 0; }
};

struct TokenizerPair {
  std::shared_ptr<const Tokenizer> source, target;  ///< one object if their bytes are equal
  bool source_eos = true;                           ///< ModelConfig::source_eos

  /// Whether both sides have one vocabulary. Their rules for text (TextRule) may differ.
  bool joint() const {
    return source == target || source->facts().pieces_hash == target->facts().pieces_hash;
  }

  /// The tokens of a source sentence: its pieces, and its end if it has one (EndIds).
  std::vector<TokenId> source_tokens(std::string_view text) const;
  std::vector<TokenId> source_tokens(std::vector<TokenId> pieces) const;
  /// The tokens of a translation: its pieces and </s>.
  std::vector<TokenId> target_tokens(std::string_view text) const;
  std::vector<TokenId> target_tokens(std::vector<TokenId> pieces) const;
};

EndIds end_ids(const TokenizerPair& tokenizers);

// ---- the rule for text ----
// What a tokenizer does to the text of its side before it cuts it into pieces: its normalisation
// and its lower-casing. The rule is part of the SentencePiece model (normalizer_spec), so every
// program that applies the model writes alike.

enum class Normalization : std::uint8_t {
  None,     ///< the text stays as it is, byte for byte
  Nfc,      ///< a letter and its marks become one character, if Unicode has it
  NmtNfkc,  ///< SentencePiece's: NFKC, and a run of white space is one space
};
constexpr std::array<std::string_view, 3> names_of(Normalization) {
  return {"none", "nfc", "nmt_nfkc"};
}

struct TextRule {
  Normalization normalization = Normalization::None;
  bool lowercase = false;
  bool escapes_term_marks = false;  ///< Escapes::SpaceAndTermMarks; not with NmtNfkc

  bool keeps_white_space() const { return normalization != Normalization::NmtNfkc; }
  /// Whether SentencePiece knows the rule by a name of its own.
  bool is_built_in() const { return normalization != Normalization::Nfc && !lowercase; }
  /// The name in the SentencePiece model: "identity", "nfc", "nmt_nfkc_lower".
  std::string name() const;
};

/// The name of a tokenizer's normalisation for people: one of Normalization, or another name that
/// its model has. It says nothing about --lowercase.
std::string normalization_of(const TokenizerFacts& facts);

/// Whether the texts that the tokenizer decodes have no capitals (see TokenizerConfig::lowercase).
bool lower_cases(const Tokenizer& tokenizer);

/// Lines that a tokenizer changes: a model that uses it for its target cannot write them.
struct ChangedLines {
  std::int64_t count = 0;
  std::int64_t first = 0;    ///< from 1; a line that changes in more than white space, if any does
  std::string example = "";  ///< "10⁴" becomes "104"
};
ChangedLines changed_lines(const Tokenizer& tokenizer, std::span<const std::string> lines);

/// The change of a line, from the words before it to those after it: "10⁴" becomes "104". `written`
/// is the line that the tokenizer gives back.
std::string described_change(std::string_view line, std::string_view written);

/// Whether two texts differ in white space alone.
bool differ_in_space_alone(std::string_view a, std::string_view b);

}  // namespace dragoman
