// The end of a step: from the decoder's output to candidates. Logits are computed in chunks of
// tokens that fit into a core's caches. Only three things are kept of each chunk: sums of
// exponentials, the best tokens of each row, and the logits of tokens that the step names.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "inference/cpu/cpu_model.h"
#include "inference/search/engine.h"

namespace dragoman {

class TokenChoice {
 public:
  /// `never_emitted`: tokens that no row produces.
  explicit TokenChoice(std::vector<TokenId> never_emitted);

  /// Candidates and log-probabilities of the step, from x [rows, D] by `projection` (D -> V).
  void run(const PackedLinear& projection, const float* x, std::int64_t rows,
           const StepRequest& step, LinearScratch& scratch);

 private:
  /// A token that the step names for a row: in StepRequest::adjustments if `adjusts`, else in
  /// StepRequest::reported.
  struct Named {
    TokenId token;
    std::int32_t row;
    bool adjusts;
    std::size_t index;  // of StepRequest::reported or StepRequest::adjustments
    float logit;
  };

  void add_exponentials(std::int64_t row, const float* logits, std::int64_t count);
  void list_named(const StepRequest& step);
  /// Reads the logits of tokens [begin, end). Notes those of named tokens. Sets to minus infinity
  /// those that are adjusted, which insert() adds later, and those that are never emitted.
  void take_out(std::int64_t rows, std::int64_t begin, std::int64_t end, float* logits);
  void answer_named(const StepRequest& step) const;
  void insert(std::int64_t row, const Candidate& candidate, const StepRequest& step) const;

  std::vector<TokenId> never_emitted_;
  std::int64_t vocabulary_ = 0;
  std::vector<float> logits_;              // [rows, tokens at once]
  std::vector<float> references_;          // [rows]
  std::vector<float> sums_;                // [rows] of exp(logit - reference)
  std::vector<float> log_sums_;            // [rows]
  std::vector<std::int32_t> best_tokens_;  // [rows, best]
  std::vector<float> best_values_;         // [rows, best]
  std::vector<Named> named_;               // by token
  std::size_t next_named_ = 0;
};

}  // namespace dragoman
