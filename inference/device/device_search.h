// The search of SentenceSearch for G sentences at once, as operations on tensors of fixed shapes.
// Scores, parents, lengths and what has ended stay on the device, and no step waits for the host.
// It gives the same results, and ends sentences in the same order. It has no required phrases.
//
// Letters as in device_model.h: G groups of B rows, R = G * B. Of each row there are C candidates,
// of each group X extensions. A hypothesis has up to T tokens, a source sentence up to S. E
// hypotheses that have ended are kept of each sentence.
#pragma once

#include <torch/types.h>

#include <cstdint>
#include <span>
#include <vector>

#include "inference/device/device_model.h"
#include "inference/device/device_rules.h"
#include "inference/device/ended_hypotheses.h"
#include "inference/device/hypothesis_tree.h"
#include "inference/search/search.h"

namespace dragoman {

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

  static constexpr std::int64_t kGoesOn = -1, kNotANumber = -2;
  /// For each group: the number of the step at which its search ended, kGoesOn, or kNotANumber
  /// where a log-probability was none. The host asks every few steps.
  std::vector<std::int64_t> ends() const;
  /// SentenceSearch::best() of groups whose search has ended.
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
  // Of sentences that begin in `groups` [n].
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

  std::int64_t capacity_ = 0;         // T: the largest max_length so far
  std::int64_t prefix_capacity_ = 0;  // the longest prefix so far
  std::int64_t source_capacity_ = 0;  // S
  std::int64_t columns_ = 0;          // of the tokens that there is room for so far, at most T + 1
  std::int64_t steps_ = 0;            // taken
  std::vector<std::int64_t> begun_at_;  // [G] in steps_; -1: free
  torch::Tensor divisors_;  // [T + 2]: of the scores, by length; an ended search looks one further

  // Of the groups [G].
  torch::Tensor length_, max_length_, prefix_length_, prefix_ends_word_, source_length_, end_;
  torch::Tensor beam_left_;  // of Stop::Marian: the most rows of the next step
  torch::Tensor prefix_;     // [G, prefix capacity]
  // Of the rows [G, B]. A row's tokens so far are needed where a rule looks back:
  // [G, B, columns_].
  torch::Tensor open_, sums_, parents_, previous_, history_;
  torch::Tensor coverage_;  // [G, B, S]: the row's attention, summed up; where it is kept
  torch::Tensor uniforms_;  // [G, B, T + 1]: of the draws of sampling
};

}  // namespace dragoman
