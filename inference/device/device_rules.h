// The rules of inference/search/token_rules for all rows of a step at once, as operations on
// tensors.
#pragma once

#include <torch/types.h>

#include <cstdint>
#include <span>
#include <vector>

#include "inference/search/decode_config.h"
#include "inference/search/token_rules.h"

namespace dragoman {

/// The facts about R rows that the rules read.
struct DeviceRuledRows {
  torch::Tensor history;          ///< [R, T] int64: tokens that a row has produced, then anything
  torch::Tensor length;           ///< [R] int64: how many they are
  torch::Tensor must_begin_word;  ///< [R] bool: see exclude_longer_word()
};

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
  /// engine. Returns the tensor itself where there is no rule.
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

}  // namespace dragoman
