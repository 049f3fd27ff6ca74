// Phrases that a translation should have: lexically constrained decoding after Post and Vilar 2018
// ("Fast lexically constrained decoding with dynamic beam allocation for neural machine
// translation"), with attention to say where a phrase belongs.
//
// RequiredPhrases knows how far a hypothesis is with its phrases. PhraseBeam is a step of beam
// search: which tokens may follow a hypothesis, and which hypotheses are kept. Hypotheses are
// compared by the sum of their log-probabilities plus a bonus. The bonus gives back the cost of a
// phrase's tokens, which is their negative log-probability. The first token's cost is given back
// only as far as it exceeds kMostFirst. The bonus is lower if a phrase begins while its source
// positions get little attention, and if another token is written while they get much.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "inference/search/engine.h"
#include "inference/search/token_rules.h"

namespace dragoman {

/// The numbers of the search. That on a device has the same ones (kernels/cuda/search_phrases.cuh).
namespace phrase_weights {

/// Penalty for each phrase that a translation lacks.
inline constexpr double kLacking = 8;
/// Weight of log(attention to a phrase's source positions) when the phrase begins.
inline constexpr double kPlacing = 2;
/// Weight of the attention to a phrase's source positions when a token of no phrase is written.
inline constexpr double kCovering = 2;
/// Penalty for the word that the phrase replaces, and for the phrase a second time. A second one
/// that gets less than the usual attention costs less.
inline constexpr double kRepeating = 6, kUsualAttention = 0.5;
/// The most that a phrase's first token costs.
inline constexpr double kMostFirst = 4;
/// Attention that is less than this counts as this much.
inline constexpr double kLeastAttention = 0.01;

}  // namespace phrase_weights

/// How far a hypothesis is: which phrases it has, and which one it is in the middle of.
struct PhraseProgress {
  std::uint64_t begun = 0;    ///< a bit for each phrase that is begun, complete or not
  std::int32_t phrase = -1;   ///< the one that is begun, or -1
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
  /// The next token of the phrase that is begun.
  TokenId next(const PhraseProgress& progress) const;
  /// The progress after the first token of a phrase.
  PhraseProgress start(PhraseProgress progress, std::size_t phrase, std::size_t spelling) const;
  /// The progress after the next token of the phrase that is begun.
  PhraseProgress advance(PhraseProgress progress) const;

 private:
  const std::vector<TokenId>& spelling_of(const PhraseProgress& progress) const;

  std::vector<RequiredPhrase> phrases_;
  std::int64_t tokens_ = 0;
};

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
