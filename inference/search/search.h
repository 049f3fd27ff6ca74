// The search for the translation of one sentence: beam search (greedy with a beam of 1) and
// sampling. It knows tokens and log-probabilities, but no model. A step is a function of the open
// hypotheses and their candidates alone, so a sentence's result does not depend on what else is
// translated.
//
// One step with a beam of 2. Two hypotheses are open, each a row with the sum of its tokens'
// log-probabilities:
//
//     row 0   Ein  -0.4
//     row 1   Der  -1.1
//
// prepare_step() lists the tokens that the engine must exclude or make less likely, and the tokens
// whose log-probabilities it must report in any case. Here both lists are empty. The engine finds
// the most probable next tokens of each row, one more than the beam size:
//
//     row 0   Hund -0.5   Mann -1.8   </s> -3.0
//     row 1   </s> -0.8   Hund -0.9   Mann -2.3
//
// advance() adds them to the sums and ranks all six extensions:
//
//     Ein Hund -0.9   Der </s> -1.9   Der Hund -2.0   Ein Mann -2.2   Ein </s> -3.4   Der Mann -3.4
//
// "Der </s>" is among the best two, so this hypothesis has ended. Its score is -1.9 / 2 (length
// penalty 1). The best two of the others stay open: "Ein Hund" continues row 0, "Der Hund" row 1.
// Everything else is dropped, also "Ein </s>". The search ends when two hypotheses have ended
// (--stop full). best() returns them, best first. Sampling takes the same step, but draws one token
// for each row. Within a required prefix the step takes the prefix's next token.
//
// SearchStep lets an engine take one step for the rows of several searches.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "inference/search/decode_config.h"
#include "inference/search/engine.h"
#include "inference/search/required_phrases.h"
#include "inference/search/token_rules.h"

namespace dragoman {

struct Hypothesis {
  std::vector<TokenId> tokens;  ///< without </s>
  /// Tokens, and </s> if it ended with one, or if Stop::Hf forced one at the longest length.
  std::int64_t length = 0;
  double sum = 0;               ///< of log-probabilities
  double coverage_penalty = 0;  ///< 0 or less
  double score = 0;             ///< normalized_score(sum, length), coverage penalty added
  bool cut = false;  ///< not ended by the model: maximum length, or no token was possible
  std::vector<float> log_probabilities = {};  ///< [length]
  /// [tokens, S] if asked for: see SourceSentence::needs_attention.
  std::vector<float> attention = {};
};

/// The heads whose attention is reported.
inline AttentionHeads heads_of(const DecodeConfig& config) {
  return {config.attention_layer, config.attention_head};
}

/// length^alpha, or ((5 + length) / 6)^alpha, by config.length_penalty_kind.
double score_divisor(std::int64_t length, const DecodeConfig& config);
/// (sum - word_penalty * length) / score_divisor(length).
double normalized_score(double sum, std::int64_t length, const DecodeConfig& config);

/// The coverage of a source token that gets no attention at all.
inline constexpr double kLeastCoverage = 1e-6;
/// GNMT's coverage penalty (Wu et al. 2016, equation 14): beta times the sum of log(min(1, c)) over
/// the source tokens. `coverage` [S] has c of each source token: the attention that it gets from
/// all tokens of the translation together.
double coverage_penalty(std::span<const float> coverage, double beta);

/// Removes the extensions that a step of beam search does not keep, and sorts the others, best
/// first. It keeps those with </s> among the best `beam`, and the best `beam` without </s>. Among
/// equal sums the smaller row comes first, then the smaller token.
void keep_beam(std::vector<Extension>& extensions, std::int64_t beam, TokenId eos);

/// Keeps the best `most` extensions, best first, with or without </s>. Order as in keep_beam().
void keep_best(std::vector<Extension>& extensions, std::int64_t most);

/// Draws a candidate and returns its index; -1 if all have probability 0. Keeps the sampling-topk
/// best, divides their log-probabilities by the temperature, then keeps the fewest that together
/// have the fraction sampling-topp of their probability, and draws among these. `uniform` in
/// [0, 1) decides.
std::int64_t draw(std::span<const Candidate> candidates, const DecodeConfig& config,
                  double uniform);

/// The beginning that a sentence's translation must have.
struct RequiredPrefix {
  std::vector<TokenId> tokens = {};
  bool ends_word = false;  ///< the token after them must begin a new word
};

/// The prefix and the phrases that a sentence's translation must have.
struct Requirements {
  RequiredPrefix prefix = {};
  RequiredPhrases phrases = {};
  PhrasePolicy phrase_policy = PhrasePolicy::Always;
};

/// The settings of a search. Many sentences share one object.
struct SearchSettings {
  DecodeConfig config;
  TargetTokens tokens;

  bool operator==(const SearchSettings&) const = default;
};

/// The results of an engine's step for the rows of one sentence.
struct StepResults {
  std::span<const Candidate> candidates;  ///< [rows, candidates_needed()]
  /// Log-probabilities of prepare_step()'s `reported`, in its order.
  std::span<const float> reported = {};
  std::span<const float> attention = {};  ///< [rows, S], if asked for
};

class SentenceSearch {
 public:
  /// An open hypothesis.
  struct Row {
    std::int32_t parent;  ///< row of the last step that it continues; -1 at the start
    TokenId previous;     ///< its last token; eos at the start
    double sum;
    std::int32_t node;    ///< its last token in the tree of hypotheses; -1 at the start
    std::int32_t sample;  ///< number of its draw, from 0
    PhraseProgress progress = {};
  };

  /// `max_length` counts </s>. `key` makes the sentence's random draws differ from those of other
  /// sentences. With required phrases the beam is twice as wide, and at least kLeastForPhrases;
  /// config.stop is not used then. `config` and `tokens` must outlive the search.
  SentenceSearch(const DecodeConfig& config, const TargetTokens& tokens, std::int64_t max_length,
                 std::uint64_t key, Requirements required = {});

  /// The most rows of a search.
  static std::int64_t width(const DecodeConfig& config, const RequiredPhrases& phrases = {});
  /// The number of candidates that a step needs for each row; at most `vocabulary`.
  static std::int64_t candidates_needed(const DecodeConfig& config, std::int64_t vocabulary);

  const DecodeConfig& config() const { return *config_; }
  std::int64_t width() const { return width_; }
  std::span<const Row> rows() const { return rows_; }
  bool finished() const { return finished_; }

  /// Appends the adjustments for the next step, and the tokens whose log-probabilities it must
  /// report. Row i of this search is row `first_row` + i of the step.
  void prepare_step(std::int32_t first_row, std::vector<Adjustment>& adjustments,
                    std::vector<RowToken>& reported);
  /// Takes the results of the step that prepare_step() prepared, and extends the hypotheses. Throws
  /// Error if a log-probability is not a number.
  void advance(const StepResults& results);
  /// The extensions that the last advance() has kept. Those with </s> have ended.
  std::span<const Extension> kept() const { return extensions_; }

  /// The n best hypotheses that have ended, best first; at least one. Requires finished(). With
  /// required phrases PhraseProgress::bonus also counts in the order, so a later one may have a
  /// higher score.
  std::vector<Hypothesis> best() const;

 private:
  static constexpr std::int64_t kLeastForPhrases = 8;

  struct Node {
    std::int32_t parent;
    TokenId token;
    float log_probability;
  };
  struct Ended {
    double merit, score, sum, coverage_penalty;
    std::int64_t length;
    std::int32_t node;
    bool cut;
  };

  std::int64_t prefix_length() const {
    return static_cast<std::int64_t>(required_.prefix.tokens.size());
  }
  bool is_in_prefix() const { return length_ < prefix_length(); }
  bool is_after_prefix() const { return length_ > 0 && length_ == prefix_length(); }
  /// Whether this is the last step of a beam search with the rule `stop`. By two rules all rows end
  /// then: by Fairseq with </s> at its cost, by Hf at no cost.
  bool must_end(Stop stop) const {
    return config_->stop == stop && length_ + 1 == max_length_ && !is_in_prefix() &&
           !config_->sampling && required_.phrases.empty();
  }
  bool is_too_short() const { return length_ < config_->min_length; }
  std::vector<TokenId> history(std::int32_t node) const;

  // Each extend function leaves in `extensions_` the extensions that the step keeps.
  void extend_by_reported(const StepResults& results);
  void extend_beam(const StepResults& results);
  void extend_beam_with_phrases(const StepResults& results);
  void extend_by_sampling(const StepResults& results);
  void list_candidates(const StepResults& results);
  /// Makes a row of the next step from an extension, or finishes the hypothesis. `attention` [S] is
  /// that of its row.
  void apply(const Extension& extension, const PhraseProgress& progress,
             std::span<const float> attention);
  void end_all_rows();
  enum class End { Eos, Cut };
  void finish(const Row& row, std::int64_t length, End end,
              std::span<const float> last_attention = {});
  std::span<const float> attention(std::int32_t node) const;
  bool no_open_row_matters() const;
  double best_score_possible(double sum) const;
  std::size_t most_ended() const;

  const DecodeConfig* config_;
  const TargetTokens* tokens_;
  std::int64_t max_length_, width_;  // width_: the most rows
  std::int64_t beam_left_;           // of Stop::Marian: the most rows of the next step
  std::uint64_t key_;
  Requirements required_;
  std::int64_t length_ = 0;  // of each open hypothesis
  std::vector<Row> rows_, next_rows_;
  std::vector<Node> nodes_;
  std::vector<Ended> ended_;  // best first, at most most_ended()
  std::vector<Extension> extensions_;
  std::vector<PhraseExtension> phrase_extensions_;  // the same with their phrases, if there are any
  std::vector<RowToken> reported_;                  // of the step under way, rows counted from 0
  std::vector<float> attention_;                    // [nodes, S], if asked for
  std::size_t source_length_ = 0;                   // S
  std::int64_t complete_ = 0;                       // hypotheses that have ended with all phrases
  bool finished_ = false;
};

/// A search whose rows are in an engine.
struct EngineSearch {
  SentenceSearch search;
  std::int32_t slot;          ///< of the sentence
  std::size_t source_length;  ///< of the sentence, in tokens
  bool needs_attention;
  // The place of its rows in the last step, side by side.
  std::int32_t first_row = 0;
  std::size_t first_reported = 0, first_attention = 0;
};

/// One step of an engine for the rows of several searches, each with its own settings. Every search
/// gets the results of its own rows.
class SearchStep {
 public:
  /// The engine must outlive it.
  explicit SearchStep(HostEngine& engine) : engine_(engine) {}

  /// Begins a step. All searches that need attention need the same heads.
  void begin();
  /// Adds the rows of a search. Every search of the engine is added to every step.
  void add(EngineSearch& search);
  /// Lets the engine take the step.
  void take();
  /// The results of a search that was added: SentenceSearch::advance takes them. They stay until
  /// the next call.
  StepResults results_of(const EngineSearch& search);

 private:
  std::span<const Candidate> candidates_of(const EngineSearch& search);

  HostEngine& engine_;
  std::int64_t candidates_per_row_ = 0;  // of the step under way
  bool reports_attention_ = false;
  AttentionHeads heads_;
  std::size_t attention_weights_ = 0;  // of all rows
  // Kept for their memory.
  std::vector<RowOrigin> origins_;
  std::vector<TokenId> previous_;
  std::vector<Adjustment> adjustments_;
  std::vector<RowToken> reported_;
  std::vector<Candidate> candidates_, own_candidates_;
  std::vector<float> reported_log_probabilities_;
  std::vector<float> attention_;
};

}  // namespace dragoman
