// The sufficient statistics of a metric, line by line: numbers whose sum over any choice of lines
// gives the score of those lines. They are whole numbers, except means over references. Corpus
// scores, sentence scores and significance tests are all functions of such sums.
#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <string>
#include <vector>

namespace dragoman {

struct LineStatistics {
  std::size_t width = 0;       ///< numbers per line, as the metric defines them
  std::vector<double> values;  ///< [lines, width]

  std::size_t lines() const { return width == 0 ? 0 : values.size() / width; }
  std::span<const double> line(std::size_t i) const {
    return std::span(values).subspan(i * width, width);
  }
  std::vector<double> sum() const;  ///< [width]
};

/// Fills the row [width] of one line, which starts as zeros.
using LineCounter = std::function<void(std::size_t line, std::span<double> row)>;

/// Counts all lines on all cores; `make_counter` is called once per block of lines, so that each
/// counter works on one thread. The result is the same for any number of threads.
LineStatistics count_lines(std::size_t lines, std::size_t width,
                           const std::function<LineCounter()>& make_counter);

/// The references of a corpus: [reference][line]. Of several references of a line an empty one
/// counts as missing, unless all are empty.
using References = std::vector<std::vector<std::string>>;

/// The references of a line that are not missing.
std::vector<const std::string*> references_of(const References& references, std::size_t line);

/// The number of references for signatures, or "var" where some are missing.
std::string reference_count(const References& references);

/// Errors: no line, no reference, a reference with another number of lines (both are named).
void check_line_counts(std::span<const std::string> hypotheses, const References& references);

}  // namespace dragoman
