// One step of an engine for the rows of several searches, each with its own settings. Every search
// gets the results of its own rows.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "inference/search/engine.h"
#include "inference/search/search.h"

namespace dragoman {

/// A search whose rows stand in an engine.
struct EngineSearch {
  SentenceSearch search;
  const DecodeConfig* config;  ///< of the search
  std::int32_t slot;           ///< of the sentence
  std::size_t source_length;   ///< of the sentence, in tokens
  bool needs_attention;
  // Of the last step. Its rows stood side by side.
  std::int32_t first_row = 0;
  std::size_t first_reported = 0, first_attention = 0;
};

class SearchStep {
 public:
  /// The engine must outlive it.
  explicit SearchStep(Engine& engine) : engine_(engine) {}

  /// Begins a step. Of the searches that need attention all need the same heads.
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

  Engine& engine_;
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
