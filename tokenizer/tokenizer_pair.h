// The tokenizers of a model's two sides, and the tokens that the model reads of a text.
#pragma once

#include <cstddef>
#include <memory>
#include <string_view>
#include <vector>

#include "tokenizer/tokenizer.h"

namespace dragoman {

/// The tokens that end the sentences of the two sides.
struct EndIds {
  TokenId source, target;
  bool source_eos = true;  ///< ModelConfig::source_eos

  /// Whether a source sentence of so many pieces ends with `source`. One without pieces does so in
  /// any model, as no model can read nothing.
  bool ends_source(std::size_t pieces) const { return source_eos || pieces == 0; }
};

struct TokenizerPair {
  std::shared_ptr<const Tokenizer> source;
  std::shared_ptr<const Tokenizer>
      target;              ///< the same object as `source` if their bytes are equal
  bool source_eos = true;  ///< ModelConfig::source_eos

  /// Whether both sides have one vocabulary. Their rules for text (text_rule.h) may differ.
  bool joint() const {
    return source == target || source->facts().pieces_hash == target->facts().pieces_hash;
  }

  /// The tokens of a source sentence: its pieces, and its end where it has one (EndIds).
  std::vector<TokenId> source_tokens(std::string_view text) const;
  std::vector<TokenId> source_tokens(std::vector<TokenId> pieces) const;
  /// The tokens of a translation: its pieces and </s>.
  std::vector<TokenId> target_tokens(std::string_view text) const;
  std::vector<TokenId> target_tokens(std::vector<TokenId> pieces) const;
};

EndIds end_ids(const TokenizerPair& tokenizers);

}  // namespace dragoman
