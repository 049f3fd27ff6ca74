// BLEU (Papineni et al. 2002), equal to sacreBLEU 2 (Post 2018) digit for digit.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "evaluation/bleu_tokenizer.h"
#include "evaluation/line_statistics.h"

namespace dragoman {

/// How an order without a match is smoothed (Chen and Cherry 2014, with their numbers in brackets).
enum class SmoothMethod {
  None,
  Floor,  ///< `smooth_value` matches (1)
  AddK,   ///< `smooth_value` more matches and n-grams for every order from 2 (2)
  Exp,    ///< 1/2 of a match for the first such order, 1/4 for the second, ...; mteval-v13a (3)
};

constexpr std::array<std::string_view, 4> names_of(SmoothMethod) {
  return {"none", "floor", "add-k", "exp"};
}

struct BleuConfig {
  Tokenization tokenization = tokenization_of(BleuTokenizer::V13a);
  bool lowercase = false;
  SmoothMethod smooth_method = SmoothMethod::Exp;
  double smooth_value = -1;      ///< negative: the method's default (floor 0.1, add-k 1)
  bool effective_order = false;  ///< leave out orders that the hypothesis has no n-gram of
  int max_order = 4;             ///< at least 1
};

struct BleuScore {
  double score = 0;                ///< 0 to 100
  std::vector<double> precisions;  ///< [max_order], in percent, smoothed
  double brevity_penalty = 1;
  std::int64_t sys_len = 0;          ///< tokens of the hypotheses
  std::int64_t ref_len = 0;          ///< tokens of the references that are closest in length
  std::vector<std::int64_t> counts;  ///< [max_order], matched n-grams, before smoothing
  std::vector<std::int64_t> totals;  ///< [max_order], n-grams of the hypotheses
};

/// The line in the form that BLEU counts: valid UTF-8, tokens with white space between them
/// (split_words).
std::string bleu_tokens(const std::string& line, const BleuConfig& config);

/// Rows of [sys_len, ref_len, counts[max_order], totals[max_order]]. Invalid UTF-8 counts as
/// U+FFFD. Errors: as count_lines().
LineStatistics bleu_statistics(std::span<const std::string> hypotheses,
                               const References& references, const BleuConfig& config);

/// BLEU from a sum of rows of bleu_statistics. For a sum in float the precisions are rounded as
/// sacreBLEU rounds those of resampled corpora.
template <class Real>
BleuScore bleu_of_statistics(std::span<const Real> sum, const BleuConfig& config);

/// sacreBLEU's signature: "nrefs:1|case:mixed|eff:no|tok:13a|smooth:exp|version:VERSION".
std::string bleu_signature(const BleuConfig& config, std::string_view references,
                           std::string_view version);

/// sacreBLEU's details: "58.1/32.5/20.3/13.1 (BP = 0.983 ratio = 0.983 hyp_len = 60482 ref_len =
/// 61287)".
std::string bleu_details(const BleuScore& score);

}  // namespace dragoman
