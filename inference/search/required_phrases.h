// Phrases that a translation should have, and how far a hypothesis is with them: lexically
// constrained decoding after Post and Vilar 2018 ("Fast lexically constrained decoding with dynamic
// beam allocation for neural machine translation"), where attention says where a phrase belongs.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "inference/search/token_rules.h"

namespace dragoman {

/// How far a hypothesis is: which phrases it has, and which one it is in the middle of.
struct PhraseProgress {
  std::uint64_t begun = 0;    ///< a bit for each phrase that is begun, complete or not
  std::int32_t phrase = -1;   ///< the one begun, or -1
  std::int32_t position = 0;  ///< in its tokens
  std::int32_t spelling = 0;
  bool at_word_end = false;  ///< the last token completed a phrase that ends_word
  double bonus = 0;          ///< added to the sum of log-probabilities to compare hypotheses
};

/// Where a spelling of a phrase may begin.
enum class PhraseStart {
  Word,      ///< as a word of its own
  Sentence,  ///< as the first word; only this spelling may, if the phrase has it
  Attached,  ///< at opening punctuation
};

struct PhraseSpelling {
  std::vector<TokenId> tokens;
  PhraseStart start = PhraseStart::Word;
};

struct RequiredPhrase {
  std::vector<PhraseSpelling> spellings;
  bool ends_word = true;           ///< the next token must not lengthen its last word
  std::size_t begin = 0, end = 0;  ///< source pieces that it translates; empty: unknown
  std::size_t source_pieces = 0;   ///< of the sentence; </s> may follow them
  /// In a translation without the phrase: the first token of the word that stands instead of it, or
  /// -1. The attention to [begin, end) when that token was written; 0 if the translation has the
  /// token only once, as no attention is needed to tell which one is meant.
  TokenId instead = -1;
  double instead_attention = 0;

  bool has_positions() const { return begin < end; }
  /// The fraction of an attention [S] that goes to [begin, end). </s> is not counted. 1 if the
  /// positions are unknown.
  double attention(std::span<const float> all) const;
  bool begins_with(TokenId token) const;
};

class RequiredPhrases {
 public:
  static constexpr std::size_t kMost = 64;

  RequiredPhrases() = default;
  /// Only the first kMost phrases are required.
  explicit RequiredPhrases(std::vector<RequiredPhrase> phrases);

  bool empty() const { return phrases_.empty(); }
  std::int64_t count() const { return static_cast<std::int64_t>(phrases_.size()); }
  std::int64_t tokens() const { return tokens_; }  ///< of all phrases
  const RequiredPhrase& operator[](std::size_t phrase) const { return phrases_[phrase]; }

  /// The number of phrases that the hypothesis has not begun.
  std::int64_t phrases_left(const PhraseProgress& progress) const;
  /// Tokens that the hypothesis still needs.
  std::int64_t tokens_left(const PhraseProgress& progress) const;
  bool is_begun(const PhraseProgress& progress, std::size_t phrase) const {
    return (progress.begun >> phrase & 1) != 0;
  }
  /// The next token of the phrase begun.
  TokenId next(const PhraseProgress& progress) const;
  /// The progress after the first token of a phrase, and after the next token of the phrase begun.
  PhraseProgress start(PhraseProgress progress, std::size_t phrase, std::size_t spelling) const;
  PhraseProgress advance(PhraseProgress progress) const;

 private:
  const std::vector<TokenId>& spelling_of(const PhraseProgress& progress) const;

  std::vector<RequiredPhrase> phrases_;
  std::int64_t tokens_ = 0;
};

}  // namespace dragoman
