#include "evaluation/line_statistics.h"

#include <algorithm>
#include <set>

#include "base/amounts.h"
#include "base/divide_up.h"
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
  constexpr std::size_t kBlockLines = 128;
  LineStatistics statistics{width, std::vector<double>(lines * width)};
  const std::size_t blocks = divide_up(lines, kBlockLines);
  parallel_for(static_cast<std::int64_t>(blocks), available_cores(), [&](std::int64_t block) {
    const LineCounter count = make_counter();
    const std::size_t begin = static_cast<std::size_t>(block) * kBlockLines;
    for (std::size_t i = begin; i < std::min(lines, begin + kBlockLines); ++i)
      count(i, std::span(statistics.values).subspan(i * width, width));
  });
  return statistics;
}

std::vector<const std::string*> references_of(const References& references, std::size_t line) {
  std::vector<const std::string*> found, all;
  for (const auto& reference : references) {
    all.push_back(&reference[line]);
    if (!reference[line].empty()) found.push_back(&reference[line]);
  }
  return found.empty() ? all : found;
}

std::string reference_count(const References& references) {
  std::set<std::size_t> counts;
  for (std::size_t line = 0; line < references.front().size(); ++line)
    counts.insert(references_of(references, line).size());
  return counts.size() > 1 ? "var" : std::to_string(*counts.begin());
}

void check_line_counts(std::span<const std::string> hypotheses, const References& references) {
  if (references.empty()) throw Error("nothing to compare with: no reference was given");
  for (std::size_t r = 0; r < references.size(); ++r) {
    if (references[r].size() != hypotheses.size())
      throw Error("the hypotheses have ",
                  counted(static_cast<std::int64_t>(hypotheses.size()), "line"), " but reference ",
                  r + 1, " has ", counted(static_cast<std::int64_t>(references[r].size()), "line"));
  }
  if (hypotheses.empty()) throw Error("nothing to score: the hypotheses have no line");
}

}  // namespace dragoman
