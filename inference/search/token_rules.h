// Rules that exclude next tokens or make them less likely, given the tokens of a hypothesis so far.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "inference/search/decode_config.h"
#include "inference/search/engine.h"

namespace dragoman {

/// Whether a token joins the word before it, and the word after it.
struct TokenEdges {
  bool lengthens_word = false;  ///< begins with a letter or digit that lengthens the word before it
  bool opens = false;           ///< opening punctuation: the next word follows without a space
};

/// The target's tokens, as far as the search knows them.
struct TargetTokens {
  TokenId eos;
  std::vector<TokenId> suppressed = {};            ///< never produced
  std::vector<std::vector<TokenId>> avoided = {};  ///< sequences that are never produced
  std::span<const TokenEdges> edges = {};          ///< [V], or empty: each token is a word

  /// Edges are compared by address: they are equal if both view the same list.
  bool operator==(const TargetTokens& other) const {
    return eos == other.eos && suppressed == other.suppressed && avoided == other.avoided &&
           edges.data() == other.edges.data() && edges.size() == other.edges.size();
  }
};

/// The edges of all tokens [V].
std::vector<TokenEdges> token_edges(const Tokenizer& target);

/// The tokens of config.suppress and of the texts `avoided`; leaves the edges empty. Throws
/// UsageError if the tokenizer lacks a piece of config.suppress.
TargetTokens target_tokens(const Tokenizer& target, const DecodeConfig& config,
                           std::span<const std::string> avoided = {});

/// Whether the tokens have a suppressed one or an avoided sequence.
bool has_excluded(std::span<const TokenId> tokens, const TargetTokens& rules);

/// A row of a step, as the rules see it.
struct RuledRow {
  std::int32_t number;
  std::span<const TokenId> history;  ///< tokens that it has produced
  bool must_continue = false;        ///< </s> is excluded
};

/// Whether append_adjustments() reads RuledRow::history.
bool rules_look_back(const DecodeConfig& config, const TargetTokens& tokens);

/// Appends the row's adjustments: suppressed tokens, ends of avoided sequences and of n-grams that
/// are in its history already (DecodeConfig::no_repeat_ngram_size), </s> if the text must continue,
/// and tokens of its history by DecodeConfig::repetition_penalty. No token comes twice.
void append_adjustments(const RuledRow& row, const DecodeConfig& config, const TargetTokens& tokens,
                        std::vector<Adjustment>& adjustments);

/// Excludes for the row all tokens that would lengthen the word before them. Removes the row's
/// other adjustments of these tokens.
void exclude_longer_word(std::int32_t row, const TargetTokens& tokens,
                         std::vector<Adjustment>& adjustments);

}  // namespace dragoman
