// The arguments of a step of the search on a device (kernels/cuda/search_step.cuh), for the
// program's compiler and CUDA's, and what the search keeps there.
//
// Letters as in inference/device/device_model.h: G groups of B rows, V tokens of the vocabulary. A
// row has C candidates. A hypothesis has up to T tokens, a source sentence up to S, a required
// prefix up to P. For each sentence E hypotheses that have ended are kept. Rows are numbered within
// their group.
#pragma once

#ifdef __CUDACC__
#define DRAGOMAN_ON_DEVICE __device__
#else
#define DRAGOMAN_ON_DEVICE
#endif

namespace dragoman {

/// Stop of inference/search/decode_config.h, with the same numbers.
enum class DeviceStop : int { Full, Exact, Hf, Marian, Fairseq, Opennmt };

/// What SearchGroup::end says before a search has ended, and if a log-probability was no number.
inline constexpr int kSearchContinues = -1, kSearchHasNoNumber = -2;

/// A sentence's search. Lengths count </s>.
struct SearchGroup {
  int max_length = 0, source_length = 0, prefix_length = 0;
  bool prefix_ends_word = false;
  bool is_active = false;      ///< has open rows
  int length = 0;              ///< of each open hypothesis
  int beam_left = 0;           ///< of Stop::Marian: the most rows of the next step
  int ended = 0;               ///< hypotheses that have ended, at most E
  int end = kSearchContinues;  ///< the number of the step at which the search ended; or see above
};

struct SearchRow {
  double sum;      ///< of log-probabilities
  int parent;      ///< the row of the last step that it continues
  int token;       ///< its last one
  int candidates;  ///< that the step under way has taken from it
  bool is_open;
};

/// A hypothesis that has ended. Its last token is in place `count - 1` of the tree, in `row`.
struct SearchEnd {
  double score, sum, penalty;
  int length;  ///< as in Hypothesis
  int count;   ///< tokens without </s>
  int row;
  bool cut;
};

/// A token of a hypothesis, and the row of the token before it.
struct HypothesisNode {
  int parent, token;
  float log_probability;
};

/// A step of all groups. The kernel has a block of kCudaSearchThreads for each.
struct DeviceSearchStep {
  // The search
  int count;       ///< G
  int width;       ///< B
  int candidates;  ///< C
  int most_ended;  ///< E
  int n_best;
  int eos;
  bool sampling;  ///< C = 1: the token that is drawn
  DeviceStop stop;
  double word_penalty, coverage_penalty;
  const double* divisors;  ///< [T + 2] of scores, by length
  int columns;             ///< T
  int source_columns;      ///< S
  int prefix_columns;      ///< P
  int vocabulary;          ///< V
  const int* prefixes;     ///< [G, P]
  int* steps;              ///< [G] that have been taken

  // The model's results
  const long long* tokens;         ///< [G, B, C] the best next ones, best first
  const float* log_probabilities;  ///< [G, B, C]; minus infinity: not possible
  const float* logits;             ///< [G, B, V]; null if no single token may be asked for
  const float* log_sums;           ///< [G, B]: logit - log_sum is a log-probability
  const float* attention;          ///< [G, B, attention_columns]; null: not kept
  int attention_columns;           ///< at most S

  // What the search keeps
  SearchGroup* groups;               ///< [G]
  SearchRow* rows;                   ///< [G, B]
  SearchRow* new_rows;               ///< [G, B]: of the step under way
  SearchEnd* ends;                   ///< [G, E], best first
  HypothesisNode* nodes;             ///< [G, T, B]: each is written once
  float* attention_of_nodes;         ///< [G, T, B, S]
  float *coverage, *coverage_after;  ///< [G, B, S]: a row's attention, summed up

  // The next step's inputs
  long long* previous;                 ///< [G, B] tokens
  long long* positions;                ///< [G, B]
  int *ancestors, *ancestors_after;    ///< [G, B, T]: DeviceStep::ancestors
  long long *history, *history_after;  ///< [G, B, T]: a row's tokens; null: no rule reads them
  bool* must_begin_word;               ///< [G, B]: see exclude_longer_word()
};

inline constexpr unsigned kCudaSearchThreads = 32;

}  // namespace dragoman
