// A step of beam search with required phrases: which tokens may follow a hypothesis, and which
// hypotheses are kept. Hypotheses are compared by the sum of their log-probabilities plus a bonus.
// The bonus gives back the cost of a phrase's tokens, which is their negative log-probability. Of
// the first token's cost it gives back the part above kMostFirst (phrase_beam.cpp).
// The bonus is lower if a phrase begins while its source positions get little attention, and if
// another token is written while they get much.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "inference/search/engine.h"
#include "inference/search/extensions.h"
#include "inference/search/required_phrases.h"
#include "inference/search/token_rules.h"

namespace dragoman {

/// Whether every translation must have its phrases.
enum class PhrasePolicy {
  Fluent,  ///< no: it may lack a phrase that would spoil the rest
  Always,  ///< yes
};

/// An open hypothesis, and the engine's answers for it.
struct PhraseRow {
  std::int32_t number;
  TokenId previous;  ///< its last token; </s> at the start
  double sum;
  const PhraseProgress& progress;
  std::span<const Candidate> candidates;
  std::span<const RowToken> reported;  ///< as append_reported() lists them for this row
  std::span<const float> reported_log_probabilities;
  std::span<const float> attention;  ///< [S], or nothing
};

struct PhraseExtension {
  Extension extension;
  PhraseProgress progress;  ///< after the extension
  double merit() const { return extension.sum + progress.bonus; }
};

class PhraseBeam {
 public:
  /// All must outlive the beam.
  PhraseBeam(const RequiredPhrases& phrases, const TargetTokens& tokens, PhrasePolicy policy)
      : phrases_(phrases), tokens_(tokens), policy_(policy) {}

  /// Appends the tokens whose log-probabilities extend() needs for a hypothesis, none twice.
  void append_reported(const PhraseProgress& progress, std::int32_t row,
                       std::vector<RowToken>& reported) const;
  /// Appends the possible extensions of a row. At most `room` more tokens fit, </s> included.
  void extend(const PhraseRow& row, std::int64_t room, std::vector<PhraseExtension>& pool) const;
  /// Keeps `beam` extensions without </s>, and up to `beam` with it. Extensions with equally many
  /// phrases form a bank (Post and Vilar 2018). The banks take turns, each with its best.
  void keep(std::vector<PhraseExtension>& pool, std::int64_t beam) const;

 private:
  bool lengthens_word(TokenId token) const;
  bool may_begin(const PhraseRow& row, const RequiredPhrase& phrase, PhraseStart start) const;
  void append_begun(const PhraseRow& row, std::size_t phrase, std::size_t spelling,
                    std::vector<PhraseExtension>& pool) const;
  void append_plain(const PhraseRow& row, std::vector<PhraseExtension>& pool) const;
  double penalty(const PhraseRow& row, std::span<const double> attention, TokenId token) const;

  const RequiredPhrases& phrases_;
  const TargetTokens& tokens_;
  PhrasePolicy policy_;
};

}  // namespace dragoman
