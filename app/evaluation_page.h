// What dragoman evaluate --html shows.
#pragma once

#include <string>
#include <vector>

#include "evaluation/evaluate.h"
#include "report/evaluation_page.h"

namespace dragoman {

struct EvaluatedTexts {
  const Comparison& comparison;
  const std::vector<SystemCounts>& counts;
  const std::vector<std::vector<std::string>>& hypotheses;  ///< [system][line]
  const References& references;
  const std::vector<std::string>& source;  ///< empty: not known
};

/// `width`: decimals of the scores.
EvaluationPage evaluation_page(const EvaluatedTexts& texts, int width);

}  // namespace dragoman
