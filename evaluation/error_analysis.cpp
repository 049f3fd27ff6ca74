#include "evaluation/error_analysis.h"

#include <algorithm>
#include <array>
#include <functional>
#include <numeric>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "base/error.h"
#include "base/utf8.h"
#include "evaluation/line_statistics.h"

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
    group.lines = std::ssize(lines[g]);
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

namespace {

constexpr std::size_t kOrders = 4;

/// Numbers of the words, from 1; 0 after the last word of a shorter n-gram.
using Ngram = std::array<std::uint32_t, kOrders>;

struct NgramHash {
  std::size_t operator()(const Ngram& ngram) const {
    std::uint64_t hash = 0;
    for (const std::uint32_t word : ngram) hash = (hash ^ word) * 0x9E3779B97F4A7C15u;
    return hash ^ hash >> 32;
  }
};

using LineCounts = std::unordered_map<Ngram, std::int32_t, NgramHash>;

int order_of(const Ngram& ngram) {
  return static_cast<int>(kOrders) - static_cast<int>(std::ranges::count(ngram, std::uint32_t{0}));
}

/// Numbers words in the order of their first occurrence.
class WordNumbers {
 public:
  /// The n-grams of a line, of all orders.
  LineCounts ngrams_of(const std::string& line, const BleuConfig& config) {
    const std::string text = bleu_tokens(line, config);
    std::vector<std::uint32_t> words;
    for (const std::string_view word : split_words(text)) words.push_back(number_of(word));
    LineCounts counts;
    for (std::size_t begin = 0; begin < words.size(); ++begin) {
      Ngram ngram{};
      for (std::size_t n = 0; n < std::min(kOrders, words.size() - begin); ++n) {
        ngram[n] = words[begin + n];
        ++counts[ngram];
      }
    }
    return counts;
  }

  std::string text_of(const Ngram& ngram) const {
    std::string text;
    for (const std::uint32_t word : ngram)
      if (word > 0) text += (text.empty() ? "" : " ") + texts_[word - 1];
    return text;
  }

 private:
  std::uint32_t number_of(std::string_view word) {
    const auto next = static_cast<std::uint32_t>(texts_.size() + 1);
    const auto [entry, is_new] = numbers_.try_emplace(std::string(word), next);
    if (is_new) texts_.emplace_back(word);
    return entry->second;
  }

  std::unordered_map<std::string, std::uint32_t> numbers_;
  std::vector<std::string> texts_;
};

/// A row for each n-gram, with the columns [in the reference, nothing, found[systems],
/// superfluous[systems]].
class OccurrenceTable {
 public:
  explicit OccurrenceTable(std::size_t systems) : systems_(systems), width_(2 + 2 * systems) {}

  static constexpr std::size_t kInReference = 0, kNothing = 1;
  std::size_t found(std::size_t system) const { return 2 + system; }
  std::size_t superfluous(std::size_t system) const { return 2 + systems_ + system; }
  std::size_t systems() const { return systems_; }

  /// The columns to be compared. A single system is compared with the reference, or with nothing.
  std::vector<std::size_t> found_columns() const { return columns_of(found(0), kInReference); }
  std::vector<std::size_t> superfluous_columns() const {
    return columns_of(superfluous(0), kNothing);
  }

  std::int32_t& at(const Ngram& ngram, std::size_t column) {
    const auto [row, is_new] = rows_.try_emplace(ngram, ngrams_.size());
    if (is_new) {
      ngrams_.push_back(ngram);
      values_.resize(values_.size() + width_);
    }
    return values_[row->second * width_ + column];
  }

  const std::vector<Ngram>& ngrams() const { return ngrams_; }  ///< [row]
  std::int32_t value(std::size_t row, std::size_t column) const {
    return values_[row * width_ + column];
  }

 private:
  std::vector<std::size_t> columns_of(std::size_t first, std::size_t if_alone) const {
    if (systems_ == 1) return {if_alone, first};
    std::vector<std::size_t> columns(systems_);
    std::iota(columns.begin(), columns.end(), first);
    return columns;
  }

  std::size_t systems_, width_;
  std::unordered_map<Ngram, std::size_t, NgramHash> rows_;
  std::vector<Ngram> ngrams_;
  std::vector<std::int32_t> values_;
};

void count_line(OccurrenceTable& table, const LineCounts& reference, const LineCounts& written,
                std::size_t system) {
  for (const auto& [ngram, count] : written) {
    const auto known = reference.find(ngram);
    const std::int32_t found = known == reference.end() ? 0 : std::min(count, known->second);
    if (found > 0) table.at(ngram, table.found(system)) += found;
    if (count > found) table.at(ngram, table.superfluous(system)) += count - found;
  }
}

OccurrenceTable count_all(WordNumbers& words,
                          const std::vector<std::vector<std::string>>& hypotheses,
                          const References& references, const BleuConfig& config) {
  OccurrenceTable table(hypotheses.size());
  for (std::size_t line = 0; line < hypotheses.front().size(); ++line) {
    LineCounts most;
    for (const std::string* reference : references_of(references, line))
      for (const auto& [ngram, count] : words.ngrams_of(*reference, config))
        most[ngram] = std::max(most[ngram], count);
    for (const auto& [ngram, count] : most) table.at(ngram, table.kInReference) += count;
    for (std::size_t s = 0; s < hypotheses.size(); ++s)
      count_line(table, most, words.ngrams_of(hypotheses[s][line], config), s);
  }
  return table;
}

/// A row, and the greatest difference between any two compared columns.
struct Spread {
  std::int32_t difference;
  std::size_t row;
};

/// For each order the rows in which these columns differ, with the largest difference first.
std::array<std::vector<Spread>, kOrders> by_spread(const OccurrenceTable& table,
                                                   const std::vector<std::size_t>& columns) {
  std::array<std::vector<Spread>, kOrders> spreads;
  const auto& ngrams = table.ngrams();
  for (std::size_t row = 0; row < ngrams.size(); ++row) {
    std::int32_t least = table.value(row, columns.front()), most = least;
    for (const std::size_t column : columns) {
      least = std::min(least, table.value(row, column));
      most = std::max(most, table.value(row, column));
    }
    if (most > least)
      spreads[static_cast<std::size_t>(order_of(ngrams[row])) - 1].push_back({most - least, row});
  }
  for (auto& of_order : spreads)
    std::ranges::sort(of_order, [&](const Spread& a, const Spread& b) {
      if (a.difference != b.difference) return a.difference > b.difference;
      return ngrams[a.row] < ngrams[b.row];  // the same choice on every machine
    });
  return spreads;
}

/// Marks the `most` rows in which the first column exceeds the second by most.
void choose(const OccurrenceTable& table, const std::vector<Spread>& spreads,
            const std::pair<std::size_t, std::size_t>& more_less, std::size_t most,
            std::vector<bool>& chosen) {
  std::vector<Spread> best;  // the largest difference first
  for (const Spread& spread : spreads) {
    if (best.size() == most && best.back().difference >= spread.difference) break;
    const std::int32_t difference =
        table.value(spread.row, more_less.first) - table.value(spread.row, more_less.second);
    if (difference <= 0) continue;
    const auto place =
        std::ranges::upper_bound(best, difference, std::greater{}, &Spread::difference);
    best.insert(place, {difference, spread.row});
    if (best.size() > most) best.pop_back();
  }
  for (const Spread& spread : best) chosen[spread.row] = true;
}

/// Marks the rows in which these columns differ most, for each two of them.
void choose_all(const OccurrenceTable& table, const std::vector<std::size_t>& columns,
                std::size_t most, std::vector<bool>& chosen) {
  for (const auto& of_order : by_spread(table, columns))
    for (const std::size_t more : columns)
      for (const std::size_t less : columns)
        if (more != less) choose(table, of_order, {more, less}, most, chosen);
}

NgramOccurrences occurrences_of(const OccurrenceTable& table, std::size_t row,
                                const WordNumbers& words) {
  const Ngram& ngram = table.ngrams()[row];
  NgramOccurrences occurrences{.text = words.text_of(ngram),
                               .order = order_of(ngram),
                               .in_reference = table.value(row, table.kInReference)};
  for (std::size_t s = 0; s < table.systems(); ++s) {
    occurrences.found.push_back(table.value(row, table.found(s)));
    occurrences.superfluous.push_back(table.value(row, table.superfluous(s)));
  }
  return occurrences;
}

}  // namespace

std::vector<NgramOccurrences> differing_ngrams(
    const std::vector<std::vector<std::string>>& hypotheses, const References& references,
    const BleuConfig& config, std::size_t most) {
  WordNumbers words;
  const OccurrenceTable table = count_all(words, hypotheses, references, config);
  std::vector<bool> chosen(table.ngrams().size());
  choose_all(table, table.found_columns(), most, chosen);
  choose_all(table, table.superfluous_columns(), most, chosen);
  std::vector<NgramOccurrences> ngrams;
  for (std::size_t row = 0; row < chosen.size(); ++row)
    if (chosen[row]) ngrams.push_back(occurrences_of(table, row, words));
  std::ranges::sort(ngrams, {},
                    [](const auto& ngram) { return std::tie(ngram.order, ngram.text); });
  return ngrams;
}

}  // namespace dragoman
