// The search of SentenceSearch for G sentences at once. What it knows of them stays on the device,
// and no step waits for the host. It gives the same results, and ends sentences in the same order.
//
// A step of the search finds the best next tokens of each row (device_candidates.cpp), which rules
// may exclude (device_rules.cpp). Then one function decides for each group what becomes of its rows
// (kernels/cuda/search_step.cuh). On a GPU that is a kernel of ours. If the GPU cannot run our
// kernels, the search has its numbers on the CPU, and each step waits.
//
// Letters as in device_model.h: G groups of B rows, R = G * B. Each row has C candidates. A
// hypothesis has up to T tokens, a source sentence up to S. For each sentence E hypotheses that
// have ended are kept.
#pragma once

#include <torch/types.h>

#include <cstdint>
#include <span>
#include <vector>

#include "inference/device/device_model.h"
#include "inference/search/decode_config.h"
#include "inference/search/search.h"
#include "inference/search/token_rules.h"
#include "kernels/cuda/search_step.h"

namespace dragoman {

/// The facts about R rows that the rules read.
struct DeviceRuledRows {
  torch::Tensor history;          ///< [R, T] int64: tokens that a row has produced, then anything
  torch::Tensor length;           ///< [R] int64: how many they are
  torch::Tensor must_begin_word;  ///< [R] bool: see exclude_longer_word(); undefined: no row
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
  /// Whether adjust() does more than exclude the tokens of never_bits() and the beginnings of
  /// DeviceRuledRows::must_begin_word.
  bool adjusts() const { return looks_back_ || min_length_ > 0; }
  /// [ceil(V / 8)] uint8: a bit for each token that no row produces; undefined: none.
  const torch::Tensor& never_bits() const { return never_bits_; }

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
  torch::Tensor never_;  // [V] bool: suppressed, or never emitted; undefined: none
  torch::Tensor never_bits_;
  torch::Tensor lengthens_;  // [V] bool: lengthens the word before it; undefined: none
};

/// The best tokens of each row [R, C], the best first; of equal ones the smaller token first.
struct DeviceCandidates {
  torch::Tensor tokens;             ///< int64
  torch::Tensor log_probabilities;  ///< fp32; minus infinity: not possible
  torch::Tensor log_sums = {};      ///< [R] fp32: of the logits' exponentials
};

/// The candidates of logits [R, V] fp32 on a GPU, without those of `never_bits`, by our kernel.
DeviceCandidates candidates_of_logits(const torch::Tensor& logits, std::int64_t count,
                                      const torch::Tensor& never_bits);
/// The candidates of log-probabilities [R, V] fp32.
DeviceCandidates best_candidates(const torch::Tensor& log_probabilities, std::int64_t count);
/// One candidate of each row: draw() of inference/search/search.h. `uniform` [R, 1] double decides.
DeviceCandidates drawn_candidates(const torch::Tensor& log_probabilities,
                                  const DecodeConfig& config, const torch::Tensor& uniform);

/// `tensor` with more room in dimension `dim`; zeros there.
torch::Tensor widened(const torch::Tensor& tensor, std::int64_t dim, std::int64_t size);

/// A sentence that begins in a group.
struct DeviceSentence {
  std::int64_t group;
  std::int64_t max_length;     ///< counts </s>
  std::uint64_t key;           ///< makes its random draws differ from those of others
  std::int64_t source_length;  ///< </s> included
  RequiredPrefix prefix = {};
  RequiredPhrases phrases = {};
  PhrasePolicy phrase_policy = PhrasePolicy::Always;
};

class DeviceSearch {
 public:
  struct Options {
    std::int64_t groups;
    std::int64_t rows_per_group;   ///< SentenceSearch::width() of each sentence
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

  /// The inputs of the next step, for whose tokens it makes room.
  DeviceStep next_step();
  /// Takes the results of that step, and extends the hypotheses.
  void advance(const DeviceStepResults& results);

  // A step whose work was recorded (recorded_steps.h) can be done again on the device, in place of
  // these two functions, as long as what follows stays the same.

  /// DeviceStep::columns of the next step.
  std::int64_t step_columns() const;
  /// The tensors that steps use.
  TensorPlaces places() const;
  void count_step() { ++steps_; }

  /// The device on which a search keeps its numbers if the model is on `model`.
  static torch::Device place_of_numbers(torch::Device model);

  static constexpr std::int64_t kContinues = kSearchContinues, kNotANumber = kSearchIsNotANumber;
  /// For each group: the number of the step at which its search ended, kContinues, or kNotANumber
  /// if a log-probability was not one. The host asks every few steps.
  std::vector<std::int64_t> ends() const;
  /// SentenceSearch::best() for groups whose search has ended.
  std::vector<std::vector<Hypothesis>> best(std::span<const std::int64_t> groups) const;

 private:
  /// What a step reads of the model's results.
  struct Results {
    DeviceCandidates candidates;
    torch::Tensor logits;     // [R, V]; undefined: no single token is asked for
    torch::Tensor attention;  // [R, S]
  };
  Results results_of(const DeviceStepResults& results) const;
  DeviceCandidates candidates_of(const torch::Tensor& log_probabilities) const;
  DeviceSearchStep arguments_of(const Results& results);

  std::int64_t starts() const { return config_.sampling ? width_ : 1; }  // rows at the start
  void make_room(std::int64_t longest, std::int64_t source);
  void make_room_for_tokens();
  torch::Tensor uniforms_of(std::span<const DeviceSentence> sentences) const;
  torch::Tensor indices_of(std::span<const std::int64_t> groups) const;
  void put(std::span<const SearchGroup> states, const torch::Tensor& groups);
  void put_phrases(std::span<const DeviceSentence> sentences, const torch::Tensor& groups);

  const DecodeConfig& config_;
  const std::int64_t eos_, groups_, width_, vocabulary_, candidates_, most_ended_;
  const bool keeps_attention_;
  const torch::Device device_;  // of the model
  const torch::Device place_;   // of the search's numbers
  const DeviceRules rules_;

  std::int64_t capacity_ = 0;           // the largest max_length so far
  std::int64_t source_capacity_ = 0;    // S
  std::int64_t columns_ = 0;            // T: tokens that there is room for so far
  std::int64_t steps_ = 0;              // taken
  bool ends_words_ = false;             // whether a prefix so far ends_word
  std::vector<std::int64_t> begun_at_;  // [G] in steps_; -1: free

  // As DeviceSearchStep says; structs are uint8 in the last dimension.
  torch::Tensor divisors_, prefixes_, steps_taken_;
  torch::Tensor phrases_, spellings_, phrase_tokens_, edges_, pool_;
  torch::Tensor states_, rows_, new_rows_, ends_, nodes_, attention_of_nodes_;
  torch::Tensor coverage_, coverage_after_;
  torch::Tensor previous_, positions_, ancestors_, ancestors_after_, history_, history_after_;
  torch::Tensor must_begin_word_;
  torch::Tensor uniforms_;  // [G, B, capacity + 1] on the model's device: of the draws of sampling
};

}  // namespace dragoman
