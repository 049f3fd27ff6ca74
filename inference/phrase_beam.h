// A step of beam search for phrases that a translation should have: what may follow a hypothesis,
// and which hypotheses go on. Where two hypotheses compete, a phrase costs its first token alone,
// and each counts by where it stands: by the attention that its source places get as it begins, and
// by what else is written while they get attention.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "inference/engine.h"
#include "inference/extensions.h"
#include "inference/phrases.h"
#include "inference/token_rules.h"

namespace dragoman {

/// Whether a translation may end without a phrase.
enum class PhraseDemand {
  Fluent,  ///< where what the phrase does to the rest is worse than to lack it
  Always,  ///< never
};

/// An open hypothesis, and what the engine has answered for it.
struct PhraseRow {
  std::int32_t number;
  TokenId previous;  ///< its last token; </s> at the start
  double sum;
  const PhraseProgress& progress;
  std::span<const Candidate> candidates;
  std::span<const RowToken> wanted;  ///< PhraseBeam::wanted
  std::span<const float> wanted_log_probabilities;
  std::span<const float> attention;  ///< [S], or nothing
};

struct PhraseExtension {
  Extension extension;
  PhraseProgress progress;  ///< behind it
  double rank() const { return extension.sum + progress.bonus; }
};

class PhraseBeam {
 public:
  /// All must outlive the beam.
  PhraseBeam(const RequiredPhrases& phrases, const TargetTokens& tokens, PhraseDemand demand)
      : phrases_(phrases), tokens_(tokens), demand_(demand) {}

  /// Appends the tokens whose log-probabilities extend() needs for a hypothesis, none twice.
  void append_wanted(const PhraseProgress& progress, std::int32_t row,
                     std::vector<RowToken>& wanted) const;
  /// Appends what may follow; `room` tokens are left, with </s>.
  void extend(const PhraseRow& row, std::int64_t room, std::vector<PhraseExtension>& pool) const;
  /// Leaves what goes on, `beam` of them, and ends: each number of phrases that are met keeps its
  /// best, in turn.
  void keep(std::vector<PhraseExtension>& pool, std::int64_t beam) const;

 private:
  bool lengthens_word(TokenId token) const;
  bool may_begin(const PhraseRow& row, const RequiredPhrase& phrase, PhrasePlace place) const;
  void append_begun(const PhraseRow& row, std::size_t phrase, std::size_t spelling,
                    std::vector<PhraseExtension>& pool) const;
  void append_plain(const PhraseRow& row, std::vector<PhraseExtension>& pool) const;
  double penalty(const PhraseRow& row, std::span<const double> attention, TokenId token) const;

  const RequiredPhrases& phrases_;
  const TargetTokens& tokens_;
  PhraseDemand demand_;
};

}  // namespace dragoman
