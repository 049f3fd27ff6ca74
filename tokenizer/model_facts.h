// What a SentencePiece model says about itself, read from its bytes without SentencePiece: a
// protocol buffer (sentencepiece_model.proto) of pieces and the settings it was trained with.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace dragoman {

/// As the format numbers them.
enum class PieceKind : std::uint8_t { Normal = 1, Unknown, Control, UserDefined, Unused, Byte };

struct TokenizerFacts {
  std::string_view type = "unigram";  ///< "unigram", "bpe", "word" or "char"
  std::vector<PieceKind> kinds;       ///< of all pieces, by id
  bool byte_fallback = false;         ///< unknown characters become pieces of single bytes
};

/// Throws Error where the bytes are no protocol buffer. `name` is for messages.
TokenizerFacts tokenizer_facts(std::string_view model_bytes, const std::string& name);

}  // namespace dragoman
