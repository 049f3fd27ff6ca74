#include "evaluation/line_statistics.h"

#include <algorithm>

#include "base/error.h"
#include "base/threads.h"

namespace dragoman {

std::vector<double> LineStatistics::sum() const {
  std::vector<double> total(width);
  for (std::size_t i = 0; i < values.size(); ++i) total[i % width] += values[i];
  return total;
}

LineStatistics count_lines(std::size_t lines, std::size_t width,
                           const std::function<LineCounter()>& make_counter) {
  constexpr std::size_t kBlock = 128;
  LineStatistics statistics{width, std::vector<double>(lines * width)};
  const std::size_t blocks = (lines + kBlock - 1) / kBlock;
  parallel_for(static_cast<std::int64_t>(blocks), available_cores(), [&](std::int64_t block) {
    const LineCounter count = make_counter();
    const std::size_t begin = static_cast<std::size_t>(block) * kBlock;
    for (std::size_t i = begin; i < std::min(lines, begin + kBlock); ++i)
      count(i, std::span(statistics.values).subspan(i * width, width));
  });
  return statistics;
}

void check_line_counts(std::span<const std::string> hypotheses, const References& references) {
  if (references.empty()) throw Error("nothing to compare with: no reference was given");
  for (std::size_t r = 0; r < references.size(); ++r) {
    if (references[r].size() != hypotheses.size())
      throw Error("the hypotheses have ", hypotheses.size(), " lines but reference ", r + 1,
                  " has ", references[r].size());
  }
  if (hypotheses.empty()) throw Error("nothing to score: the hypotheses have no line");
}

}  // namespace dragoman
