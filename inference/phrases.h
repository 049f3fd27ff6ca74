// Phrases that a translation must have, and how far a hypothesis is with them: lexically
// constrained decoding after Post and Vilar 2018 ("Fast lexically constrained decoding with dynamic
// beam allocation for neural machine translation").
#pragma once

#include <cstdint>
#include <vector>

#include "tokenizer/tokenizer.h"

namespace dragoman {

/// How far a hypothesis is: which phrases it has, and which one it is in the middle of.
struct PhraseProgress {
  std::uint64_t met = 0;     ///< a bit for each phrase
  std::int16_t phrase = -1;  ///< the one begun, or -1
  std::int16_t position = 0;
  bool at_word_end = false;  ///< the last token completed a phrase whose last word must end there
};

struct RequiredPhrase {
  std::vector<TokenId> tokens;
  bool ends_word = true;  ///< what follows must not lengthen its last word
};

class RequiredPhrases {
 public:
  static constexpr std::size_t kMost = 64;

  RequiredPhrases() = default;
  /// Of more than kMost the first ones are required.
  explicit RequiredPhrases(std::vector<RequiredPhrase> phrases);

  bool empty() const { return phrases_.empty(); }
  std::int64_t tokens() const { return tokens_; }  ///< of all phrases
  PhraseProgress after(PhraseProgress progress, TokenId token) const;
  /// Tokens that the hypothesis still needs, if none goes wrong.
  std::int64_t missing(const PhraseProgress& progress) const;
  /// Appends the tokens that continue the phrase begun, or else begin one.
  void next_tokens(const PhraseProgress& progress, std::vector<TokenId>& tokens) const;

 private:
  bool is_met(const PhraseProgress& progress, std::size_t phrase) const {
    return (progress.met >> phrase & 1) != 0;
  }

  std::vector<RequiredPhrase> phrases_;
  std::int64_t tokens_ = 0;
};

}  // namespace dragoman
