// What a hypothesis must not produce next, or only reluctantly, for what it has produced so far.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "inference/decode_config.h"
#include "inference/engine.h"

namespace dragoman {

/// What the search knows of the target's tokens.
struct TargetTokens {
  TokenId eos;
  std::vector<TokenId> suppressed = {};            ///< never produced
  std::vector<std::vector<TokenId>> avoided = {};  ///< sequences that are never produced
  /// [V]: begins with a letter or digit that lengthens the word before it; empty: none does.
  std::vector<bool> lengthens_word = {};
};

/// Whether a word goes on with this character; one of a script without spaces is a word of its own.
bool is_word_character(char32_t code_point);

/// Of config.suppress and texts that are never to be produced. Throws UsageError where a piece is
/// none of the tokenizer's.
TargetTokens target_tokens(const Tokenizer& target, const DecodeConfig& config,
                           std::span<const std::string> avoided = {});

/// Appends the row's adjustments: suppressed tokens, ends of avoided sequences and of n-grams that
/// stand in `history` already (DecodeConfig::no_repeat_ngram_size), </s> where `excludes_eos`, and
/// tokens of `history` by DecodeConfig::repetition_penalty. No token comes twice.
void append_adjustments(std::span<const TokenId> history, bool excludes_eos, std::int32_t row,
                        const DecodeConfig& config, const TargetTokens& tokens,
                        std::vector<Adjustment>& adjustments);

}  // namespace dragoman
