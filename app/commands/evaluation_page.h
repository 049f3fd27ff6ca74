// What dragoman evaluate --html shows.
#pragma once

#include <string>
#include <vector>

#include "app/commands/evaluated_texts.h"
#include "evaluation/evaluate.h"

namespace dragoman {

/// HTML. `counts` and `comparison` are those of the texts.
std::string evaluation_page(const EvaluatedTexts& texts, const Comparison& comparison,
                            const std::vector<SystemCounts>& counts, const EvaluateConfig& config);

}  // namespace dragoman
