// What dragoman evaluate --html shows.
#pragma once

#include <vector>

#include "app/evaluated_texts.h"
#include "evaluation/evaluate.h"
#include "report/evaluation_page.h"

namespace dragoman {

/// `width`: decimals of the scores.
EvaluationPage evaluation_page(const EvaluatedTexts& texts, const Comparison& comparison,
                               const std::vector<SystemCounts>& counts, int width);

}  // namespace dragoman
