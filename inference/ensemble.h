// Several models as one: its probabilities are the mean of theirs.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "inference/search/engine.h"

namespace dragoman {

class Ensemble : public HostEngine {
 public:
  /// At least one engine; all have the same vocabularies.
  explicit Ensemble(std::vector<std::unique_ptr<HostEngine>> members);

  std::int64_t vocabulary() const override { return members_.front().engine->vocabulary(); }
  std::int64_t max_positions() const override;
  std::int64_t preferred_rows() const override;
  void check(const AttentionHeads& heads) const override;

  std::vector<std::int32_t> admit(std::span<const std::vector<TokenId>> sentences) override;
  void release(std::span<const std::int32_t> slots) override;
  /// The attention is the mean of the members' attention.
  void step(const StepRequest& step) override;

 private:
  struct Member {
    std::unique_ptr<HostEngine> engine;
    std::vector<std::int32_t> slots;  // [our slot]: the slot of this engine
    std::vector<RowOrigin> rows;      // of the step, with this engine's slots
  };

  /// Sums of the members' probabilities. Sum i is exp(largest[i]) * sums[i]: the probabilities
  /// themselves may be too small for fp32.
  struct LogSums {
    void start(std::size_t count);
    void add(std::size_t i, float log_probability);
    /// The logarithm of sum i times `factor`.
    float log_of(std::size_t i, float factor) const;

    std::vector<float> largest, sums;
  };

  /// Adjusts `candidates_`, the whole vocabulary of each row, and writes the step's best.
  void adjust_and_rank(const StepRequest& step);

  std::vector<Member> members_;
  std::vector<std::int32_t> free_slots_;
  std::size_t slots_ = 0;
  std::vector<Candidate> candidates_;  // of one member: [R, V]
  LogSums sums_;                       // [R, V]
  std::vector<float> reported_;        // of one member, as StepRequest::reported_log_probabilities
  LogSums reported_sums_;
};

/// Makes one engine for each thread of the engines [models][threads] of several models. The engines
/// of a single model stay as they are.
std::vector<std::unique_ptr<HostEngine>> ensembles_of(
    std::vector<std::vector<std::unique_ptr<HostEngine>>> models);

}  // namespace dragoman
