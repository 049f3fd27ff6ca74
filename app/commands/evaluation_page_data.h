// Gathers the data of the page of dragoman evaluate --html (extras/report/evaluation_page.h).
#pragma once

#include <string>
#include <vector>

#include "app/commands/evaluate_options.h"
#include "app/commands/evaluated_texts.h"
#include "app/commands/evaluation_explanations.h"
#include "evaluation/evaluate.h"

namespace dragoman {

/// The page as HTML. `counts`, `comparison` and `explanations` belong to `texts`. When a stop is
/// requested, the page may lack the pairs of systems, and is not to be used.
std::string evaluation_page(const EvaluatedTexts& texts, const Comparison& comparison,
                            const std::vector<SystemCounts>& counts,
                            const Explanations& explanations, const EvaluateOptions& options);

}  // namespace dragoman
