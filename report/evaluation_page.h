// One page about translations of the same text by one system or several: scores, where they come
// from, and the sentences side by side. It needs no network; without a script the sentences stand
// in the order that they are given in.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "report/line_chart.h"

namespace dragoman {

/// Rows of cells, the first of which is the header.
struct PageTable {
  std::string title, note;
  std::vector<std::vector<std::string>> rows;
  bool wide = false;  ///< takes the page's width; its cells are text, not numbers
};

struct PageChart {
  std::string title;
  LineChart chart;
};

struct EvaluatedSentence {
  std::int64_t line = 0;  ///< from 1
  std::string source;     ///< empty: not known
  std::vector<std::string> references;
  std::vector<std::string> translations;  ///< [system]
  std::vector<double> scores;             ///< [system]
};

struct EvaluationPage {
  std::string title;
  std::vector<std::string> systems;
  std::vector<PageChart> charts;
  std::vector<PageTable> tables;
  std::string sentence_metric;  ///< what the sentences' scores are
  bool lower_is_better = false;
  std::vector<EvaluatedSentence> sentences;
};

std::string to_html(const EvaluationPage& page);

}  // namespace dragoman
