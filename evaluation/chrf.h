// chrF (Popović 2015) and chrF++ (Popović 2017), equal to sacreBLEU 2 digit for digit.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "evaluation/line_statistics.h"

namespace dragoman {

struct ChrfConfig {
  std::int64_t char_order = 6;  ///< longest n-gram of characters
  std::int64_t word_order = 0;  ///< longest n-gram of words (chrF++: 2); one of the two is not 0
  std::int64_t beta = 2;        ///< recall counts beta times as much as precision
  bool lowercase = false;
  bool whitespace = false;     ///< white space counts as characters
  bool eps_smoothing = false;  ///< as chrF++.py, NLTK and Moses do, instead of effective order
};

/// Rows of [hypothesis n-grams, reference n-grams, matches] for each order, characters first. With
/// several references each line takes the reference that gives the best score. Invalid UTF-8 counts
/// as U+FFFD. Errors: as count_lines().
LineStatistics chrf_statistics(std::span<const std::string> hypotheses,
                               const References& references, const ChrfConfig& config);

/// chrF, 0 to 100, from a sum of rows of chrf_statistics. For a sum in float all numbers are
/// rounded as sacreBLEU rounds the scores of resampled corpora.
template <class Real>
Real chrf_of_statistics(std::span<const Real> sum, const ChrfConfig& config);

/// "chrF2", "chrF2++": the beta, and a plus for each order of words.
std::string chrf_name(const ChrfConfig& config);

/// sacreBLEU's signature: "nrefs:1|case:mixed|eff:yes|nc:6|nw:0|space:no|version:VERSION".
std::string chrf_signature(const ChrfConfig& config, std::string_view references,
                           std::string_view version);

}  // namespace dragoman
