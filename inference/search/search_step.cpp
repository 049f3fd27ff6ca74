#include "inference/search/search_step.h"

#include <algorithm>

namespace dragoman {

void SearchStep::begin() {
  origins_.clear();
  previous_.clear();
  adjustments_.clear();
  reported_.clear();
  candidates_per_row_ = 0;
  reports_attention_ = false;
  attention_weights_ = 0;
  heads_ = {};
}

void SearchStep::add(EngineSearch& search) {
  const DecodeConfig& config = *search.config;
  candidates_per_row_ = std::max(candidates_per_row_,
                                 SentenceSearch::candidates_needed(config, engine_.vocabulary()));
  const std::int32_t old_first = search.first_row;
  search.first_row = static_cast<std::int32_t>(origins_.size());
  search.first_reported = reported_.size();
  search.first_attention = attention_weights_;
  attention_weights_ += search.search.rows().size() * search.source_length;
  search.search.prepare_step(search.first_row, adjustments_, reported_);
  for (const SentenceSearch::Row& row : search.search.rows()) {
    origins_.push_back(
        {.parent = row.parent < 0 ? -1 : old_first + row.parent, .slot = search.slot});
    previous_.push_back(row.previous);
  }
  if (search.needs_attention && !reports_attention_) {
    reports_attention_ = true;
    heads_ = heads_of(config);
  }
}

void SearchStep::take() {
  candidates_.resize(previous_.size() * static_cast<std::size_t>(candidates_per_row_));
  reported_log_probabilities_.resize(reported_.size());
  engine_.step({.rows = origins_,
                .previous = previous_,
                .adjustments = adjustments_,
                .candidates_per_row = candidates_per_row_,
                .candidates = candidates_,
                .reported = reported_,
                .reported_log_probabilities = reported_log_probabilities_,
                .attention = reports_attention_ ? &attention_ : nullptr,
                .heads = heads_});
}

StepResults SearchStep::results_of(const EngineSearch& search) {
  StepResults results{
      .candidates = candidates_of(search),
      .reported =
          std::span<const float>(reported_log_probabilities_).subspan(search.first_reported)};
  if (search.needs_attention)
    results.attention =
        std::span<const float>(attention_)
            .subspan(search.first_attention, search.search.rows().size() * search.source_length);
  return results;
}

/// The candidates of the search's rows, as many as it needs. The step may have found more, since
/// another search needed more.
std::span<const Candidate> SearchStep::candidates_of(const EngineSearch& search) {
  const auto best = static_cast<std::size_t>(candidates_per_row_);
  const std::size_t rows = search.search.rows().size();
  const std::span<Candidate> all =
      std::span(candidates_)
          .subspan(static_cast<std::size_t>(search.first_row) * best, rows * best);
  const auto needed = static_cast<std::size_t>(
      SentenceSearch::candidates_needed(*search.config, engine_.vocabulary()));
  if (needed == best) return all;
  own_candidates_.clear();
  for (std::size_t row = 0; row < rows; ++row) {
    const auto of_row = all.subspan(row * best, best);
    const auto end = of_row.begin() + static_cast<std::ptrdiff_t>(needed);
    // The candidates of a whole vocabulary are not sorted by probability.
    if (candidates_per_row_ == engine_.vocabulary())
      std::partial_sort(of_row.begin(), end, of_row.end(), ranks_before);
    own_candidates_.insert(own_candidates_.end(), of_row.begin(), end);
  }
  return own_candidates_;
}

}  // namespace dragoman
