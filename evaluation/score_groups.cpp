#include "evaluation/score_groups.h"

#include <algorithm>
#include <array>
#include <unordered_map>

#include "base/error.h"
#include "base/utf8.h"
#include "evaluation/words.h"

namespace dragoman {

namespace {

/// The group of a value. `begins` has the first number of each group; the last group has no end.
template <std::size_t N>
std::size_t group_of(const std::array<std::int64_t, N>& begins, std::int64_t value) {
  const auto above = std::upper_bound(begins.begin(), begins.end(), value);
  return static_cast<std::size_t>(above - begins.begin()) - 1;
}

template <std::size_t N>
std::string group_name(const std::array<std::int64_t, N>& begins, std::size_t group) {
  const std::int64_t begin = begins[group];
  if (group + 1 == N) return join_text(begin, "+");
  const std::int64_t end = begins[group + 1] - 1;
  return begin == end ? std::to_string(begin) : join_text(begin, "–", end);
}

std::vector<std::string> lower_case_words(const std::string& line,
                                          const Tokenization& tokenization) {
  const std::string text = tokenization.apply(lower_case(line));
  const auto words = split_words(text);
  return {words.begin(), words.end()};
}

using WordCounts = std::unordered_map<std::string, std::int64_t>;

WordCounts counts_of(const std::vector<std::string>& words) {
  WordCounts counts;
  for (const std::string& word : words) ++counts[word];
  return counts;
}

}  // namespace

std::vector<LineGroup> scores_by_length(const std::vector<SystemCounts>& counts,
                                        const std::vector<std::string>& texts) {
  constexpr std::array<std::int64_t, 7> kBegins = {0, 6, 11, 21, 31, 41, 61};
  std::array<std::vector<std::size_t>, kBegins.size()> lines;
  for (std::size_t i = 0; i < texts.size(); ++i)
    lines[group_of(kBegins, static_cast<std::int64_t>(split_words(texts[i]).size()))].push_back(i);
  std::vector<LineGroup> groups;
  for (std::size_t g = 0; g < lines.size(); ++g) {
    if (lines[g].empty()) continue;
    LineGroup& group = groups.emplace_back();
    group.name = group_name(kBegins, g);
    group.words = kBegins[g];
    group.lines = static_cast<std::int64_t>(lines[g].size());
    for (const SystemCounts& metric : counts) {
      auto& scores = group.scores.emplace_back();
      for (const LineStatistics& system : metric.systems) {
        std::vector<double> sum(system.width);
        for (const std::size_t line : lines[g])
          for (std::size_t k = 0; k < sum.size(); ++k) sum[k] += system.line(line)[k];
        scores.push_back(metric.metric.score(sum));
      }
    }
  }
  return groups;
}

std::vector<WordGroup> words_by_frequency(const std::vector<std::vector<std::string>>& systems,
                                          const std::vector<std::string>& reference,
                                          const Tokenization& tokenization) {
  constexpr std::array<std::int64_t, 6> kBegins = {0, 1, 2, 5, 10, 100};
  WordCounts frequency;
  std::vector<WordCounts> expected;
  for (const std::string& line : reference) {
    const auto words = lower_case_words(line, tokenization);
    for (const std::string& word : words) ++frequency[word];
    expected.push_back(counts_of(words));
  }
  const auto group_of_word = [&](const std::string& word) {
    const auto found = frequency.find(word);
    return group_of(kBegins, found == frequency.end() ? 0 : found->second);
  };
  std::array<WordGroup, kBegins.size()> groups;
  for (std::size_t g = 0; g < groups.size(); ++g) groups[g].name = group_name(kBegins, g);
  for (const auto& [word, count] : frequency) groups[group_of_word(word)].words += count;
  for (const auto& lines : systems) {
    std::array<std::int64_t, kBegins.size()> produced{}, matched{};
    for (std::size_t i = 0; i < lines.size(); ++i)
      for (const auto& [word, count] : counts_of(lower_case_words(lines[i], tokenization))) {
        const std::size_t group = group_of_word(word);
        produced[group] += count;
        const auto found = expected[i].find(word);
        if (found != expected[i].end()) matched[group] += std::min(count, found->second);
      }
    for (std::size_t g = 0; g < groups.size(); ++g) {
      const auto all = static_cast<double>(produced[g] + groups[g].words);
      groups[g].f1.push_back(all > 0 ? 200 * static_cast<double>(matched[g]) / all : 0);
    }
  }
  std::vector<WordGroup> with_words;
  for (WordGroup& group : groups)
    if (group.words > 0) with_words.push_back(std::move(group));
  return with_words;
}

}  // namespace dragoman
