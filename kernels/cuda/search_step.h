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

/// What SearchGroup::end says before a search has ended, and if a log-probability was not a number.
inline constexpr int kSearchContinues = -1, kSearchIsNotANumber = -2;

/// A sentence's search. Lengths count </s>.
struct SearchGroup {
  int max_length = 0, source_length = 0, prefix_length = 0;
  bool prefix_ends_word = false;
  bool is_active = false;      ///< has open rows
  int length = 0;              ///< of each open hypothesis
  int beam_left = 0;           ///< of Stop::Marian: the most rows of the next step
  int ended = 0;               ///< hypotheses that have ended, at most E
  int phrases = 0;             ///< that are required
  int complete = 0;            ///< hypotheses that have ended with all phrases
  bool is_fluent = false;      ///< PhrasePolicy::Fluent
  int end = kSearchContinues;  ///< the number of the step at which the search ended; or see above
};

/// PhraseProgress of inference/search/required_phrases.h.
struct SearchProgress {
  unsigned long long begun = 0;
  int phrases_begun = 0;  ///< how many these are
  int phrase = -1, position = 0, spelling = 0;
  bool at_word_end = false;
  double bonus = 0;
};

struct SearchRow {
  double sum;      ///< of log-probabilities
  int parent;      ///< the row of the last step that it continues
  int token;       ///< its last one
  int candidates;  ///< that the step under way has taken from it
  bool is_open;
  SearchProgress progress;
};

/// A hypothesis that has ended. Its last token is in place `count - 1` of the tree, in `row`.
struct SearchEnd {
  double merit;  ///< decides the order: the score with the bonus for required phrases
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

/// RequiredPhrase, one of a group's; its spellings stand side by side in the group's list.
struct SearchPhrase {
  int first_spelling = 0, spellings = 0;
  int longest = 0;  ///< tokens of its longest spelling
  bool ends_word = false;
  bool begins_sentence = false;  ///< has a spelling for the beginning of a sentence
  int begin = 0, end = 0, source_pieces = 0, instead = -1;
  double instead_attention = 0;
};

/// PhraseSpelling, with its tokens in the group's list.
struct SearchSpelling {
  enum class Start : int { Word, Sentence, Attached };  ///< as PhraseStart
  int first_token = 0, count = 0;
  Start start = Start::Word;
};

/// A possible extension of a row, if phrases are required.
struct SearchExtension {
  double sum;
  SearchProgress progress;
  int row, token;
  bool is_taken;
  DRAGOMAN_ON_DEVICE double merit() const { return sum + progress.bonus; }
};

/// What DeviceSearchStep::edges says of a token: TokenEdges.
inline constexpr unsigned char kLengthensWord = 1, kOpens = 2;

/// A step of all groups. The kernel has a block of kCudaSearchThreads for each.
struct DeviceSearchStep {
  // The search
  int count;       ///< G
  int width;       ///< B
  int candidates;  ///< C
  int most_ended;  ///< E
  int n_best, beam_size;
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

  // Required phrases
  const SearchPhrase* phrases;      ///< [G, phrase_columns]
  const SearchSpelling* spellings;  ///< [G, spelling_columns]
  const int* phrase_tokens;         ///< [G, phrase_token_columns]
  int phrase_columns, spelling_columns, phrase_token_columns;
  const unsigned char* edges;  ///< [V]; null: each token is a word
  SearchExtension* pool;       ///< [G, pool_columns]: room for B * (C + 1 + spelling_columns)
  int pool_columns;

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
