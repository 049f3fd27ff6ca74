// A trained SentencePiece tokenizer (Kudo and Richardson 2018), which encodes and decodes. Only
// tokenizer.cpp and train_tokenizer.cpp include SentencePiece's headers.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tokenizer/model_facts.h"

namespace dragoman {

using TokenId = std::int32_t;

/// A piece and the bytes [begin, end) of the text that it stands for, spaces before a word
/// included. Where a character falls back to pieces of single bytes, the last of them has all its
/// bytes, the others none.
struct PieceSpan {
  TokenId id;
  std::size_t begin, end;
};

class Tokenizer {
 public:
  /// Takes the bytes of a SentencePiece model. Throws Error where they are no such model. `name` is
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
  /// Text of the ids; special ids are left out, runs of byte pieces that are not valid UTF-8 become
  /// U+FFFD. A tokenizer that keeps white space and has escapes (TokenizerFacts) gives back every
  /// text that its rule (text_rule.h) leaves as it is.
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

}  // namespace dragoman
