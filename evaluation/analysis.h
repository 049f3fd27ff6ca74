// Where systems are good and where they are not: scores by length and words found by frequency.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "evaluation/bleu_tokenizer.h"
#include "evaluation/significance.h"

namespace dragoman {

/// Scores of the lines that belong together.
struct LineGroup {
  std::string name;        ///< "11–20"
  std::int64_t words = 0;  ///< fewest of a line
  std::int64_t lines = 0;
  std::vector<std::vector<double>> scores;  ///< [metric][system]
};

/// By the number of words in each line of `texts` (source or reference); only groups with lines.
std::vector<LineGroup> scores_by_length(const std::vector<SystemCounts>& counts,
                                        const std::vector<std::string>& texts);

/// How many words of the reference the systems have, by how frequent the words are.
struct WordGroup {
  std::string name;        ///< "10–99"
  std::int64_t words = 0;  ///< of the reference
  std::vector<double> f1;  ///< [system], in percent: clipped matches line by line
};

/// Frequency is that in `reference`. Words are those of `tokenization`, lower-cased.
std::vector<WordGroup> words_by_frequency(const std::vector<std::vector<std::string>>& systems,
                                          const std::vector<std::string>& reference,
                                          const Tokenization& tokenization);

}  // namespace dragoman
