// The search for the translation of one sentence: beam search (greedy with a beam of 1) and
// sampling. It knows tokens and log-probabilities, no model. A step is a function of the open
// hypotheses and their candidates alone, so a sentence's result does not depend on what else is
// translated.
//
// One step with a beam of 2. Two hypotheses are open, each a row with the sum of its tokens'
// log-probabilities:
//
//     row 0   Ein  -0.4
//     row 1   Der  -1.1
//
// ask() says what the engine must leave out, make less likely or tell besides: here nothing. The
// engine finds the most probable next tokens of each row, one more than the beam:
//
//     row 0   Hund -0.5   Mann -1.8   </s> -3.0
//     row 1   </s> -0.8   Hund -0.9   Mann -2.3
//
// advance() adds them to the sums and ranks all six extensions:
//
//     Ein Hund -0.9   Der </s> -1.9   Der Hund -2.0   Ein Mann -2.2   Ein </s> -3.4   Der Mann -3.4
//
// "Der </s>" is among the best two, so it has ended, with the score -1.9 / 2 (length penalty 1). Of
// those that go on the best two are kept: "Ein Hund" continues row 0 and "Der Hund" row 1. All else
// is dropped, "Ein </s>", too. The search ends when two hypotheses have ended (--stop full), and
// best() gives them, best score first. Sampling has the same step with one drawn token for each
// row, and a prefix that is required one with its next token.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "inference/decode_config.h"
#include "inference/engine.h"
#include "inference/extensions.h"
#include "inference/phrase_beam.h"
#include "inference/phrases.h"
#include "inference/token_rules.h"

namespace dragoman {

struct Hypothesis {
  std::vector<TokenId> tokens;  ///< without </s>
  std::int64_t length;          ///< tokens, and </s> where it ended with one
  double sum;                   ///< of log-probabilities
  double coverage_penalty;      ///< 0 or less
  double score;                 ///< normalized_score(sum, length), coverage penalty added
  bool cut;                     ///< reached the maximum length, or a dead end, without </s>
  std::vector<float> log_probabilities;  ///< [length]
  std::vector<float>
      attention;  ///< [tokens, S] where asked for: see SourceSentence::needs_attention
};

/// sum / length^alpha, or GNMT's formula.
double normalized_score(double sum, std::int64_t length, const DecodeConfig& config);

/// GNMT's: beta times the sum over source tokens of log(min(1, c)), where c is the attention that
/// all of a translation's tokens together give one. Wu et al. 2016, equation 14.
double coverage_penalty(std::span<const float> coverage, double beta);

/// What a sentence's translation must have.
struct Requirements {
  std::vector<TokenId> prefix = {};  ///< begins with
  bool prefix_ends_word = false;     ///< what follows must not lengthen its last word
  RequiredPhrases phrases = {};
  PhraseDemand demand = PhraseDemand::Always;
};

/// How a sentence is searched for; sentences share it.
struct SearchSettings {
  DecodeConfig config;
  TargetTokens tokens;
};

/// The results of an engine's step for the rows of one sentence.
struct StepResults {
  std::span<const Candidate> candidates;  ///< [rows * k]
  std::span<const float> wanted = {};     ///< log-probabilities of what SentenceSearch::ask() wants
  std::span<const float> attention = {};  ///< [rows, S], where asked for
};

class SentenceSearch {
 public:
  /// An open hypothesis.
  struct Row {
    std::int32_t parent;  ///< row of the last step that it continues; -1 at the start
    TokenId previous;     ///< its last token; eos at the start
    double sum;
    std::int32_t node;    ///< its last token in the tree of hypotheses; -1 at the start
    std::int32_t sample;  ///< which of the n draws it is
    PhraseProgress progress = {};
  };

  /// `key` tells the sentence's draws from other sentences'. A beam for required phrases is twice
  /// as wide, kLeastForPhrases at least. Configuration and tokens must outlive it.
  SentenceSearch(const DecodeConfig& config, const TargetTokens& tokens, std::int64_t max_length,
                 std::uint64_t key, Requirements required = {});

  /// Most rows that a search without required phrases ever has.
  static std::int64_t width(const DecodeConfig& config) {
    if (config.sampling) return config.n_best;
    return config.beam_size;
  }
  /// How many candidates of each row a step needs, of a vocabulary of `vocabulary`.
  static std::int64_t candidates_needed(const DecodeConfig& config, std::int64_t vocabulary);

  std::span<const Row> rows() const { return rows_; }
  bool finished() const { return finished_; }

  /// Appends what the next step is to adjust and to tell; the search's rows are the step's from
  /// `first_row` on.
  void ask(std::int32_t first_row, std::vector<Adjustment>& adjustments,
           std::vector<RowToken>& wanted);
  /// Throws Error where a log-probability is not a number.
  void advance(const StepResults& results);

  /// The n best that are finished, best first; at least one.
  std::vector<Hypothesis> best() const;

 private:
  static constexpr std::int64_t kLeastForPhrases = 8;

  struct Node {
    std::int32_t previous;
    TokenId token;
    float log_probability;
  };
  struct Finished {
    double rank, score, sum, coverage_penalty;
    std::int64_t length;
    std::int32_t node;
    bool cut;
  };

  bool is_forced() const { return length_ < static_cast<std::int64_t>(required_.prefix.size()); }
  bool is_behind_prefix() const {
    return length_ > 0 && length_ == static_cast<std::int64_t>(required_.prefix.size());
  }
  bool must_go_on() const;  // below the minimum length
  std::vector<TokenId> history(std::int32_t node) const;

  // Each fills `extensions_` with what the step keeps.
  void extend_by_force(const StepResults& results);
  void extend_beam(const StepResults& results);
  void extend_beam_with_phrases(const StepResults& results);
  void extend_by_sampling(const StepResults& results);
  void list_candidates(const StepResults& results);
  void end_all_rows();
  void finish(const Row& row, std::int64_t length, bool cut,
              std::span<const float> last_attention = {});
  std::span<const float> attention(std::int32_t node) const;
  bool no_open_row_matters() const;
  std::size_t kept() const;

  const DecodeConfig* config_;
  const TargetTokens* tokens_;
  std::int64_t max_length_, beam_;
  std::uint64_t key_;
  Requirements required_;
  std::int64_t length_ = 0;  // of each open hypothesis
  std::vector<Row> rows_, next_rows_;
  std::vector<Node> nodes_;
  std::vector<Finished> ended_;  // best first, at most kept()
  std::vector<Extension> extensions_;
  std::vector<PhraseExtension> pool_;  // the same where there are phrases
  std::vector<RowToken> wanted_;       // of the step under way, rows counted from 0
  std::vector<float> attention_;       // [nodes, S], where asked for
  std::size_t source_places_ = 0;      // S
  std::int64_t complete_ = 0;          // hypotheses that have ended with all phrases
  bool finished_ = false;
};

}  // namespace dragoman
