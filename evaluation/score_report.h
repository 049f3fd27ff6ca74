// Scores as text for people, for programs and for documents.
#pragma once

#include <span>
#include <string>

#include "evaluation/evaluate.h"

namespace dragoman {

/// Every line ends with a newline. Text: sacreBLEU's lines, "BLEU|SIGNATURE = 26.33 DETAILS", with
/// the equals signs one below the other. JSON: a list of objects with sacreBLEU's keys; the score
/// rounded to `width` decimals, and each item of the signature a key. Markdown and LaTeX
/// (booktabs): a table. The score of a single line also has the line's number; in text the
/// signatures of such scores stand once, behind them.
std::string report(std::span<const NamedScore> scores, ReportFormat format, int width);

/// A table with a row for each system and a column for each metric, and the signatures behind it.
/// Cells have intervals and p-values where they were computed. The baseline is marked, and so are
/// p-values up to 0.05 (*). JSON: a list of objects with sacreBLEU's keys.
std::string report(const Comparison& comparison, ReportFormat format, int width);

}  // namespace dragoman
