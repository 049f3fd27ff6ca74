#include "evaluation/line_statistics.h"

#include <algorithm>
#include <bit>
#include <set>

#include "base/error.h"
#include "base/formatted_text.h"
#include "base/threads.h"
#include "base/utf8.h"

namespace dragoman {

std::vector<double> LineStatistics::sum() const {
  std::vector<double> total(width);
  for (std::size_t i = 0; i < values.size(); ++i) total[i % width] += values[i];
  return total;
}

namespace {

void check_line_counts(std::span<const std::string> hypotheses, const References& references) {
  if (references.empty()) throw Error("nothing to compare with: no reference was given");
  for (std::size_t r = 0; r < references.size(); ++r) {
    if (references[r].size() != hypotheses.size())
      throw Error("the hypotheses have ", counted(std::ssize(hypotheses), "line"),
                  " but reference ", r + 1, " has ", counted(std::ssize(references[r]), "line"));
  }
  if (hypotheses.empty()) throw Error("nothing to score: the hypotheses have no line");
}

}  // namespace

LineStatistics count_lines(std::span<const std::string> hypotheses, const References& references,
                           std::size_t width, const std::function<LineCounter()>& make_counter) {
  check_line_counts(hypotheses, references);
  constexpr std::size_t kBlockLines = 128;
  const std::size_t lines = hypotheses.size();
  LineStatistics statistics{width, std::vector<double>(lines * width)};
  const std::size_t blocks = divide_up(lines, kBlockLines);
  parallel_for(static_cast<std::int64_t>(blocks), available_cores(), [&](std::int64_t block) {
    const LineCounter count = make_counter();
    const std::size_t begin = static_cast<std::size_t>(block) * kBlockLines;
    for (std::size_t i = begin; i < std::min(lines, begin + kBlockLines); ++i)
      count(hypotheses[i], references_of(references, i),
            std::span(statistics.values).subspan(i * width, width));
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

std::vector<std::string_view> split_words(std::string_view text) {
  std::vector<std::string_view> words;
  for (const ByteRange& word : words_between_spaces(text)) words.push_back(word.of(text));
  return words;
}

std::vector<std::string> stripped_lines(std::vector<std::string> lines) {
  for (std::string& line : lines) line.resize(strip_right(line).size());
  return lines;
}

std::string valid_line(const std::string& line) {
  return find_invalid_utf8(line) == std::string::npos ? line : replace_invalid_utf8(line);
}

std::vector<std::uint32_t> WordNumbering::add(const std::vector<std::string_view>& words) {
  std::vector<std::uint32_t> numbers;
  numbers.reserve(words.size());
  for (std::string_view word : words) {
    const auto next = static_cast<std::uint32_t>(numbers_.size());
    numbers.push_back(numbers_.try_emplace(word, next).first->second);
  }
  return numbers;
}

std::vector<std::uint32_t> WordNumbering::find(const std::vector<std::string_view>& words) const {
  std::vector<std::uint32_t> numbers;
  numbers.reserve(words.size());
  for (std::string_view word : words) {
    const auto found = numbers_.find(word);
    numbers.push_back(found == numbers_.end() ? kUnknown : found->second);
  }
  return numbers;
}

namespace {

constexpr std::size_t kRoot = 0;

std::uint64_t key_of(std::size_t node, std::uint32_t symbol) {
  return static_cast<std::uint64_t>(node) << 32 | symbol;
}

}  // namespace

void NgramMatcher::start(std::size_t symbols) {
  const std::size_t ngrams = symbols * static_cast<std::size_t>(max_order_);
  bits_ = std::max(4, static_cast<int>(std::bit_width(2 * ngrams)));
  if (edges_.size() < std::size_t{1} << bits_) edges_.resize(std::size_t{1} << bits_);
  ++line_;
  reference_ = 0;
}

/// The index of the edge, or the free index that it would get.
std::size_t NgramMatcher::place_of(std::uint64_t key) const {
  // Fibonacci hashing (Knuth, volume 3, section 6.4), linear probing.
  std::size_t place = key * 0x9E3779B97F4A7C15u >> (64 - bits_);
  const std::size_t mask = (std::size_t{1} << bits_) - 1;
  while (edges_[place].line == line_ && edges_[place].key != key) place = (place + 1) & mask;
  return place;
}

void NgramMatcher::add_reference(std::span<const std::uint32_t> symbols) {
  ++reference_;
  for (std::size_t i = 0; i < symbols.size(); ++i) {
    const auto ngram = symbols.subspan(i, std::min<std::size_t>(max_order_, symbols.size() - i));
    std::size_t node = kRoot;
    for (std::uint32_t symbol : ngram) {
      const std::uint64_t key = key_of(node, symbol);
      const std::size_t place = place_of(key);
      Edge& edge = edges_[place];
      if (edge.line != line_) edge = {key, line_, reference_, 0, 0};
      if (edge.reference != reference_) edge.reference = reference_, edge.count = 0;
      edge.limit = std::max(edge.limit, ++edge.count);
      node = place + 1;
    }
  }
}

void NgramMatcher::match(std::span<const std::uint32_t> hypothesis,
                         std::span<std::int64_t> matches) {
  for (std::size_t i = 0; i < hypothesis.size(); ++i) {
    const auto ngram =
        hypothesis.subspan(i, std::min<std::size_t>(max_order_, hypothesis.size() - i));
    std::size_t node = kRoot;
    for (std::size_t n = 0; n < ngram.size(); ++n) {
      const std::size_t place = place_of(key_of(node, ngram[n]));
      Edge& edge = edges_[place];
      if (edge.line != line_) break;
      if (edge.limit > 0) --edge.limit, ++matches[n];
      node = place + 1;
    }
  }
}

}  // namespace dragoman
