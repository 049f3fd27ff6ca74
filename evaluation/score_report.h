// Scores as text for people, for programs and for documents.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "evaluation/evaluate.h"

namespace dragoman {

/// Every line ends with a newline. Text: sacreBLEU's lines, "BLEU|SIGNATURE = 26.33 DETAILS", with
/// the equals signs one below the other. JSON: a list of objects with sacreBLEU's keys; the score
/// rounded to `width` decimals, and each item of the signature a key. Markdown and LaTeX
/// (booktabs): a table. The score of a single line also has the line's number; in text the
/// signatures of such scores stand once, behind them.
std::string report(std::span<const NamedScore> scores, ReportFormat format, int width);

/// Rows of cells; the first row is the header.
using Table = std::vector<std::vector<std::string>>;

/// A row for each system, a column for each metric, with intervals and p-values where they were
/// computed. The baseline is marked, and so are p-values up to 0.05 (*).
Table score_table(const Comparison& comparison, int width);

/// That table, and the signatures behind it. JSON: a list of objects with sacreBLEU's keys.
std::string report(const Comparison& comparison, ReportFormat format, int width);

}  // namespace dragoman
