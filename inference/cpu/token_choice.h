// The end of a step: from the decoder's output to candidates. Logits are met part by part, so that
// they stay in a core's caches, and nothing of them is kept but sums, the best of each row and what
// the step names.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "inference/cpu/packed_linear.h"
#include "inference/engine.h"

namespace dragoman {

class TokenChoice {
 public:
  /// `never_emitted`: tokens that no row produces.
  explicit TokenChoice(std::vector<TokenId> never_emitted);

  /// Candidates and log-probabilities of the step, from x [rows, D] by `projection` (D -> V).
  void run(const PackedLinear& projection, const float* x, std::int64_t rows, const Step& step,
           LinearScratch& scratch);

 private:
  /// A token of a row that the step names: wanted, or where `adjusts` an adjustment's.
  struct Named {
    TokenId token;
    std::int32_t row;
    bool adjusts;
    std::size_t index;  // of Step::wanted or Step::adjustments
    float logit;
  };

  void add_exponentials(std::int64_t row, const float* logits, std::int64_t count);
  void list_named(const Step& step);
  /// Logits of tokens [begin, end): notes those that are named, and rules out what is adjusted, to
  /// be inserted later, or never emitted.
  void take_out(std::int64_t rows, std::int64_t begin, std::int64_t end, float* logits);
  void answer_named(const Step& step) const;
  void insert(std::int64_t row, const Candidate& candidate, const Step& step) const;

  std::vector<TokenId> never_emitted_;
  std::int64_t vocabulary_ = 0;
  std::vector<float> logits_;              // [rows, tokens of the part]
  std::vector<float> references_;          // [rows]
  std::vector<float> sums_;                // [rows] of exp(logit - reference)
  std::vector<float> log_sums_;            // [rows]
  std::vector<std::int32_t> best_tokens_;  // [rows, best]
  std::vector<float> best_values_;         // [rows, best]
  std::vector<Named> named_;               // by token
  std::size_t next_named_ = 0;
};

}  // namespace dragoman
