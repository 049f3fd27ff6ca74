// Gathers the data of the page of dragoman evaluate --html (extras/report/evaluation_page.h).
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "app/commands/extra.h"

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

/// The page as HTML. When a stop is requested, the page may lack the pairs of systems, and is not
/// to be used.
std::string evaluation_page(const Evaluation& evaluation, const Explanations& explanations);

}  // namespace dragoman
