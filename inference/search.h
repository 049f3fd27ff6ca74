// The search for one sentence's translation: beam search (greedy with a beam of 1) and sampling.
// Knows log-probabilities and tokens, no model; one step is a function of the open hypotheses and
// their candidates alone, so a sentence's result does not depend on what else is translated.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "inference/decode_config.h"
#include "inference/engine.h"

namespace dragoman {

struct Hypothesis {
  std::vector<TokenId> tokens;  ///< without </s>
  std::int64_t length;          ///< tokens, and </s> where it ended with one
  double sum;                   ///< of log-probabilities
  double score;                 ///< normalized_score(sum, length)
  bool cut;                     ///< reached the maximum length, or a dead end, without </s>
};

/// sum / length^alpha, or GNMT's formula.
double normalized_score(double sum, std::int64_t length, const DecodeConfig& config);

/// One more token for one of the rows.
struct Extension {
  std::int32_t row;
  TokenId token;
  double sum;  ///< of the hypothesis so far
};

/// What a step of beam search keeps: of all extensions, best first, those with </s> that stand
/// among the best `beam` and the best `beam` others. `pool` comes in any order and is reordered;
/// ties go by row, then token.
std::vector<Extension> keep_beam(std::vector<Extension>& pool, std::int64_t beam, TokenId eos);

/// Draws a candidate: of the sampling-topk best, by the probabilities sharpened by temperature, cut
/// to the smallest set that has sampling-topp. `uniform` in [0, 1). Candidates of probability 0 are
/// never drawn; -1 where there is no other. Returns an index into `candidates`.
std::int64_t draw(std::span<const Candidate> candidates, const DecodeConfig& config,
                  double uniform);

class SentenceSearch {
 public:
  /// An open hypothesis.
  struct Row {
    std::int32_t parent;  ///< row of the last step that it continues; -1 at the start
    TokenId previous;     ///< its last token; eos at the start
    double sum;
    std::int32_t node;    ///< its last token in the tree of hypotheses; -1 at the start
    std::int32_t sample;  ///< which of the n draws it is
  };

  /// `key` tells the sentence's draws from other sentences'. The configuration must outlive it.
  SentenceSearch(const DecodeConfig& config, TokenId eos, std::int64_t max_length,
                 std::uint64_t key);

  /// Most rows that a search ever has.
  static std::int64_t width(const DecodeConfig& config) {
    return config.sampling ? config.n_best : config.beam_size;
  }
  /// How many candidates of each row a step needs, of a vocabulary of `vocabulary`.
  static std::int64_t candidates_needed(const DecodeConfig& config, std::int64_t vocabulary);

  std::span<const Row> rows() const { return rows_; }
  bool must_go_on() const;  ///< below the minimum length: </s> is excluded
  bool finished() const { return finished_; }

  /// `candidates` [rows * k] as Engine::step gives them. Throws Error where one is not a number.
  void advance(std::span<const Candidate> candidates);

  /// The n best that are finished, best first; at least one.
  std::vector<Hypothesis> best() const;

 private:
  struct Node {
    std::int32_t previous;
    TokenId token;
  };
  struct Finished {
    double score, sum;
    std::int64_t length;
    std::int32_t node;
    bool cut;
  };

  std::vector<Extension> beam_extensions(std::span<const Candidate> candidates);
  std::vector<Extension> sampled_extensions(std::span<const Candidate> candidates);
  void finish(double sum, std::int64_t length, std::int32_t node, bool cut);
  bool no_open_row_matters() const;
  std::size_t kept() const;

  const DecodeConfig* config_;
  TokenId eos_;
  std::int64_t max_length_;
  std::uint64_t key_;
  std::int64_t length_ = 0;  // of each open hypothesis
  std::vector<Row> rows_, next_rows_;
  std::vector<Node> nodes_;
  std::vector<Finished> ended_;  // best first, at most kept()
  std::vector<Extension> pool_;
  bool finished_ = false;
};

}  // namespace dragoman
