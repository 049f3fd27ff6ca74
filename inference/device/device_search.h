// The search of SentenceSearch for G sentences at once, as operations on tensors of fixed shapes.
// Scores, parents, lengths and what has ended stay on the device, and no step waits for the host.
// It gives the same results, and ends sentences in the same order. It has no required phrases.
//
// Letters as in device_model.h: G groups of B rows, R = G * B. Each row has C candidates, and each
// group X extensions. A hypothesis has up to T tokens, a source sentence up to S. For each sentence
// E hypotheses that have ended are kept.
//
// Its parts are DeviceRules (device_rules.cpp), and EndedHypotheses and HypothesisTree
// (device_hypotheses.cpp).
#pragma once

#include <torch/types.h>

#include <cmath>
#include <cstdint>
#include <span>
#include <vector>

#include "inference/device/device_model.h"
#include "inference/search/decode_config.h"
#include "inference/search/search.h"
#include "inference/search/token_rules.h"

namespace dragoman {

/// The facts about R rows that the rules read.
struct DeviceRuledRows {
  torch::Tensor history;          ///< [R, T] int64: tokens that a row has produced, then anything
  torch::Tensor length;           ///< [R] int64: how many they are
  torch::Tensor must_begin_word;  ///< [R] bool: see exclude_longer_word()
};

/// The rules of inference/search/token_rules.h for all rows of a step at once.
class DeviceRules {
 public:
  /// `never_emitted`: tokens that no row produces. `config` and `tokens` are read here alone.
  DeviceRules(const DecodeConfig& config, const TargetTokens& tokens,
              std::span<const TokenId> never_emitted, std::int64_t vocabulary,
              torch::Device device);

  /// Whether adjust() reads DeviceRuledRows::history.
  bool looks_back() const { return looks_back_; }

  /// The log-probabilities [R, V] with the likelihood of tokens lowered, and those that are
  /// excluded at minus infinity: what append_adjustments() and exclude_longer_word() ask of an
  /// engine. Returns the tensor itself if there is no rule.
  torch::Tensor adjust(const torch::Tensor& log_probabilities, const DeviceRuledRows& rows) const;

 private:
  torch::Tensor excluded_by_history(const DeviceRuledRows& rows) const;
  void exclude_repeats(const DeviceRuledRows& rows, torch::Tensor& excluded) const;
  void exclude_avoided(const DeviceRuledRows& rows, torch::Tensor& excluded) const;

  std::int64_t vocabulary_;
  std::int64_t eos_, min_length_, ngram_;
  double repetition_penalty_;
  bool looks_back_;
  std::vector<std::vector<TokenId>> avoided_;
  torch::Tensor never_;      // [V] bool: suppressed, or never emitted; undefined: none
  torch::Tensor lengthens_;  // [V] bool: lengthens the word before it; undefined: none
};

/// E hypotheses of each group [G, E]. The last token of a hypothesis is in the tree's place
/// `count - 1`, in the row `row`.
struct Ended {
  torch::Tensor score, sum, penalty;  ///< double; the score is minus infinity if there is none
  torch::Tensor length, count, row;   ///< int64: length as in Hypothesis; tokens without </s>
  torch::Tensor cut;                  ///< bool

  static constexpr torch::Tensor Ended::*kAll[] = {&Ended::score,  &Ended::sum,   &Ended::penalty,
                                                   &Ended::length, &Ended::count, &Ended::row,
                                                   &Ended::cut};
};

/// The hypotheses that have ended, best first, of each of G groups.
class EndedHypotheses {
 public:
  /// Keeps the E = `most` best of each group. `integers`: int64 on the device.
  EndedHypotheses(std::int64_t groups, std::int64_t most, torch::TensorOptions integers);

  /// Forgets the hypotheses of groups [n] int64.
  void forget(const torch::Tensor& groups) { ended_.score.index_fill_(0, groups, -INFINITY); }
  /// Adds hypotheses in this order. If scores are equal, the one that was added first stays first.
  void add(const std::vector<Ended>& more);

  torch::Tensor has(std::int64_t count) const;  ///< whether there are so many [G]
  torch::Tensor score_of(std::int64_t rank) const { return ended_.score.select(1, rank); }  ///< [G]
  const Ended& all() const { return ended_; }

 private:
  const std::int64_t most_;
  Ended ended_;  // [G, E]
};

/// The tokens of all hypotheses of G groups of B rows: each token is a node that knows the row of
/// the token before it. A node is written once; nodes that a search drops are never read.
class HypothesisTree {
 public:
  /// `integers`: int64 on the device. With `keeps_attention`, nodes have the attention to S source
  /// tokens.
  HypothesisTree(std::int64_t groups, std::int64_t rows, bool keeps_attention,
                 torch::TensorOptions integers);

  /// Makes room for hypotheses of `tokens` tokens, and sentences of `source` tokens.
  void make_room(std::int64_t tokens, std::int64_t source);

  /// A token of each row [G, B]: attention [G, B, S].
  struct Nodes {
    torch::Tensor parents, tokens;    ///< int64: the rows that they continue
    torch::Tensor log_probabilities;  ///< fp32
    torch::Tensor attention = {};
  };
  /// Writes the nodes at each group's place [G] int64.
  void add(const Nodes& nodes, const torch::Tensor& places);

  /// Up to `most` hypotheses of groups [n] int64, on the host, best first. source_lengths [G]: how
  /// much of the attention is theirs.
  std::vector<std::vector<Hypothesis>> trace(const Ended& ended, const torch::Tensor& groups,
                                             std::int64_t most,
                                             const torch::Tensor& source_lengths) const;

 private:
  const std::int64_t groups_, rows_;
  torch::Tensor parents_, tokens_, log_probabilities_;  // [G, T, B]
  torch::Tensor attention_;                             // [G, T, B, S]; undefined: not kept
};

/// `tensor` with more room in dimension `dim`; zeros there.
torch::Tensor widened(const torch::Tensor& tensor, std::int64_t dim, std::int64_t size);

/// A sentence that begins in a group.
struct DeviceSentence {
  std::int64_t group;
  std::int64_t max_length;     ///< counts </s>
  std::uint64_t key;           ///< makes its random draws differ from those of others
  std::int64_t source_length;  ///< </s> included
  RequiredPrefix prefix = {};

  std::int64_t prefix_length() const { return static_cast<std::int64_t>(prefix.tokens.size()); }
};

class DeviceSearch {
 public:
  struct Options {
    std::int64_t groups;
    bool keeps_attention = false;  ///< fills Hypothesis::attention, for --coverage-penalty too
  };

  /// `settings` must outlive the search. `never_emitted`: tokens that no row produces.
  DeviceSearch(const SearchSettings& settings, const DeviceModel& model,
               std::span<const TokenId> never_emitted, const Options& options);

  /// Begins sentences in groups that are free. The model has admitted them; `source_capacity` is
  /// its source_capacity() since then.
  void begin(std::span<const DeviceSentence> sentences, std::int64_t source_capacity);
  /// Frees groups, whether their search has ended or not.
  void release(std::span<const std::int64_t> groups);

  /// The inputs of the next step.
  DeviceStep next_step() const;
  /// Takes the results of that step, and extends the hypotheses.
  void advance(const DeviceStepResults& results);

  static constexpr std::int64_t kContinues = -1, kNotANumber = -2;
  /// For each group: the number of the step at which its search ended, kContinues, or kNotANumber
  /// if a log-probability was none. The host asks every few steps.
  std::vector<std::int64_t> ends() const;
  /// SentenceSearch::best() for groups whose search has ended.
  std::vector<std::vector<Hypothesis>> best(std::span<const std::int64_t> groups) const;

 private:
  /// The best candidates of each row [R, C].
  struct Candidates {
    torch::Tensor tokens;  // int64
    torch::Tensor sums;    // double, the row's included; minus infinity: not possible
  };
  /// The possible extensions of each group's rows, best first [G, X].
  struct Extensions {
    torch::Tensor rows, tokens;  // int64: a row of the group, and its next token
    torch::Tensor sums;          // double
    torch::Tensor kept, ends;    // bool: whether the step keeps it; whether the token is </s>
    torch::Tensor new_rows;      // int64: the row that it becomes, if it is kept and does not end
  };
  Candidates list_candidates(const torch::Tensor& log_probabilities) const;
  Candidates list_draws(const torch::Tensor& log_probabilities) const;
  void take_one_candidate(const torch::Tensor& log_probabilities, Candidates& candidates) const;
  Extensions beam_of(const Candidates& candidates) const;
  Extensions draws_of(const Candidates& candidates) const;
  /// Rows that end although they get no more token [G, B].
  Ended ended_rows(const Extensions& extensions) const;
  Ended ended_extensions(const Extensions& extensions, const torch::Tensor& coverage) const;
  void continue_rows(const Extensions& extensions, const torch::Tensor& attention);
  void note_tokens(const torch::Tensor& attention, const torch::Tensor& new_sums);
  torch::Tensor no_open_row_matters(const Extensions& extensions) const;

  torch::Tensor adjusted(const torch::Tensor& log_probabilities) const;
  torch::Tensor normalized(const torch::Tensor& sums, const torch::Tensor& lengths) const;
  torch::Tensor penalty_of(const torch::Tensor& coverage) const;
  torch::Tensor of_rows(const torch::Tensor& of_groups) const;
  torch::Tensor is_in_prefix() const { return length_.lt(prefix_length_); }  // [G]
  torch::Tensor is_at_end() const { return (length_ + 1).eq(max_length_); }  // [G]
  torch::Tensor is_active() const { return open_.any(1); }                   // [G]
  std::int64_t starts() const { return config_.sampling ? width_ : 1; }      // rows at the start
  void make_room(std::int64_t longest, std::int64_t prefix, std::int64_t source);
  void make_room_for_tokens();
  // These are for sentences that begin in `groups` [n].
  void put_facts(std::span<const DeviceSentence> sentences, const torch::Tensor& groups);
  torch::Tensor prefixes_of(std::span<const DeviceSentence> sentences) const;
  torch::Tensor uniforms_of(std::span<const DeviceSentence> sentences) const;
  void open_at_start(const torch::Tensor& groups);
  std::int64_t longest() const;
  torch::Tensor indices_of(std::span<const std::int64_t> groups) const;

  const DecodeConfig& config_;
  const std::int64_t eos_, groups_, width_, vocabulary_, candidates_;
  const bool keeps_attention_;
  const torch::TensorOptions integers_;  // on the device
  const DeviceRules rules_;
  HypothesisTree tree_;
  EndedHypotheses ended_;

  std::int64_t capacity_ = 0;           // T: the largest max_length so far
  std::int64_t prefix_capacity_ = 0;    // the longest prefix so far
  std::int64_t source_capacity_ = 0;    // S
  std::int64_t columns_ = 0;            // tokens that there is room for so far, at most T + 1
  std::int64_t steps_ = 0;              // taken
  std::vector<std::int64_t> begun_at_;  // [G] in steps_; -1: free
  torch::Tensor divisors_;  // [T + 2]: of scores, by length; an ended search looks one further

  // For each group [G].
  torch::Tensor length_, max_length_, prefix_length_, prefix_ends_word_, source_length_, end_;
  torch::Tensor beam_left_;  // of Stop::Marian: the most rows of the next step
  torch::Tensor prefix_;     // [G, prefix capacity]
  // For each row [G, B]. A row's tokens so far are kept if a rule looks back: [G, B, columns_].
  torch::Tensor open_, sums_, parents_, previous_, history_;
  torch::Tensor coverage_;  // [G, B, S]: the row's attention, summed up; if it is kept
  torch::Tensor uniforms_;  // [G, B, T + 1]: of the draws of sampling
};

}  // namespace dragoman
