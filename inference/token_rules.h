// What a hypothesis must not produce next, or only reluctantly, for what it has produced so far.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "inference/decode_config.h"
#include "inference/engine.h"

namespace dragoman {

/// How a token meets its neighbours.
struct TokenEdges {
  bool lengthens_word = false;  ///< begins with a letter or digit that lengthens the word before it
  bool opens = false;           ///< a word's opening punctuation: the word stands at it
};

/// What the search knows of the target's tokens.
struct TargetTokens {
  TokenId eos;
  std::vector<TokenId> suppressed = {};            ///< never produced
  std::vector<std::vector<TokenId>> avoided = {};  ///< sequences that are never produced
  std::span<const TokenEdges> edges = {};          ///< [V], or empty: each token is a word
};

/// Of all tokens [V].
std::vector<TokenEdges> token_edges(const Tokenizer& target);

/// Of config.suppress and texts that are never to be produced, without edges. Throws UsageError
/// where a piece is none of the tokenizer's.
TargetTokens target_tokens(const Tokenizer& target, const DecodeConfig& config,
                           std::span<const std::string> avoided = {});

/// Appends the row's adjustments: suppressed tokens, ends of avoided sequences and of n-grams that
/// stand in `history` already (DecodeConfig::no_repeat_ngram_size), </s> where `excludes_eos`, and
/// tokens of `history` by DecodeConfig::repetition_penalty. No token comes twice.
void append_adjustments(std::span<const TokenId> history, bool excludes_eos, std::int32_t row,
                        const DecodeConfig& config, const TargetTokens& tokens,
                        std::vector<Adjustment>& adjustments);

/// Appends the row's adjustments that rule out tokens which would lengthen the word before them; in
/// place of other adjustments of the same tokens.
void exclude_longer_word(std::int32_t row, const TargetTokens& tokens,
                         std::vector<Adjustment>& adjustments);

}  // namespace dragoman
