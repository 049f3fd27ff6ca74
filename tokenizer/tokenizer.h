// SentencePiece (Kudo and Richardson 2018) in the process: a trained tokenizer that encodes and
// decodes. The one file pair that sees SentencePiece's headers is this and train_tokenizer.cpp.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace dragoman {

using TokenId = std::int32_t;

/// A piece and the bytes [begin, end) of the text that it stands for, spaces before a word
/// included. Of a character that falls back to bytes the last piece has all, the others none.
struct PlacedPiece {
  TokenId id;
  std::size_t begin, end;
};

class Tokenizer {
 public:
  /// From the bytes of a SentencePiece model; throws Error when they are none. `name` is for
  /// messages.
  Tokenizer(std::string model_bytes, const std::string& name);
  static Tokenizer from_file(const std::string& path);
  Tokenizer(Tokenizer&&) noexcept;
  Tokenizer& operator=(Tokenizer&&) noexcept;
  ~Tokenizer();

  /// Ids of the pieces, without begin or end of sentence. Safe to call from many threads at once.
  std::vector<TokenId> encode(std::string_view text) const;
  /// The texts of the pieces; an unknown one has the characters that it stands for.
  std::vector<std::string> pieces(std::string_view text) const;
  /// The same ids with their places.
  std::vector<PlacedPiece> encode_with_places(std::string_view text) const;
  /// Text of the ids; special ids are left out, runs of byte pieces that are not valid UTF-8 become
  /// U+FFFD.
  std::string decode(std::span<const TokenId> ids) const;

  std::int64_t size() const;  ///< pieces of the vocabulary
  TokenId unk_id() const;
  TokenId bos_id() const;
  TokenId eos_id() const;
  std::string piece(TokenId id) const;
  /// Of a unigram model the piece's log-probability, of BPE the higher the earlier it is merged.
  double score(TokenId id) const;
  /// The id of a piece, or unk_id() for an unknown one.
  TokenId id(std::string_view piece) const;
  /// Ids that a search must never emit: unknown, begin of sentence, control pieces, the marks of
  /// terms, and the byte pieces of 00, 0A and 0D, which would break lines.
  std::vector<TokenId> never_emitted() const;

  const std::string& model_bytes() const;  ///< to be stored in the model file

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace dragoman
