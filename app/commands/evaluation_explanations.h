// The pages about single sentences that evaluate --explain writes beside its own page.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "app/commands/evaluate_options.h"
#include "app/commands/evaluated_texts.h"
#include "app/frame/command.h"
#include "evaluation/significance.h"

namespace dragoman {

/// A page about what a system, which is a model, does with a line.
struct ExplainedLine {
  std::size_t system, line;  ///< from 0
  std::string page;          ///< its path, seen from the page of the evaluation
};

/// The explanations that the page links, and the search that makes more of them.
struct Explanations {
  std::vector<ExplainedLine> lines;
  std::optional<std::string> search;  ///< flags for `dragoman explain`; none: it cannot search so
};

/// The flags that were given of those by which `dragoman explain` searches, as a shell reads them:
/// "--beam-size 8". None where samples were drawn.
std::optional<std::string> search_flags(DecodeConfig decode, const Origins& origins);

/// Writes pages about the `files.explain` lines with the worst scores of the first model, which the
/// page shows first; each model has one of each. A line that cannot be explained is left out, with
/// a warning. Pages of an earlier call that are not written again are removed. Returns what is
/// written when a stop is requested.
std::vector<ExplainedLine> write_explanations(const EvaluatedTexts& texts,
                                              const std::vector<SystemCounts>& counts,
                                              const EvaluateOptions& options,
                                              const Origins& origins);

}  // namespace dragoman
