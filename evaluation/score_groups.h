// Scores of systems by the length of lines, and words that they find by frequency.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "evaluation/bleu_tokenizer.h"
#include "evaluation/significance.h"

namespace dragoman {

/// The scores of a group of lines.
struct LineGroup {
  std::string name;        ///< "11–20"
  std::int64_t words = 0;  ///< least number of words of a line
  std::int64_t lines = 0;
  std::vector<std::vector<double>> scores;  ///< [metric][system]
};

/// Groups lines by the number of words in each line of `texts` (source or reference). Groups
/// without lines are left out.
std::vector<LineGroup> scores_by_length(const std::vector<SystemCounts>& counts,
                                        const std::vector<std::string>& texts);

/// A group of words of like frequency, and how well the systems find them.
struct WordGroup {
  std::string name;        ///< "10–99"
  std::int64_t words = 0;  ///< of the reference
  std::vector<double> f1;  ///< [system], in percent, of matches that are clipped line by line
};

/// The frequency of a word is that in `reference`. Words are the tokens of `tokenization`,
/// lower-cased.
std::vector<WordGroup> words_by_frequency(const std::vector<std::vector<std::string>>& systems,
                                          const std::vector<std::string>& reference,
                                          const Tokenization& tokenization);

}  // namespace dragoman
