// What the metrics count, line by line: sufficient statistics, words as Python's str.split() finds
// them (sacreBLEU's metrics count these), and clipped n-gram matches of a hypothesis with its
// references (Papineni et al. 2002, section 2.1), for n-grams of words and of characters.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace dragoman {

/// The sufficient statistics of a metric: numbers whose sum over any choice of lines gives the
/// score of those lines. They are whole numbers, except means over references. Corpus scores,
/// sentence scores and significance tests are all functions of such sums.
struct LineStatistics {
  std::size_t width = 0;       ///< numbers per line, as the metric defines them
  std::vector<double> values;  ///< [lines, width]

  std::size_t lines() const { return width == 0 ? 0 : values.size() / width; }
  std::span<const double> line(std::size_t i) const {
    return std::span(values).subspan(i * width, width);
  }
  std::vector<double> sum() const;  ///< [width]
};

/// The references of a corpus: [reference][line]. An empty reference of a line counts as missing,
/// unless all references of the line are empty.
using References = std::vector<std::vector<std::string>>;

/// The references of a line that are not missing.
std::vector<const std::string*> references_of(const References& references, std::size_t line);

/// The number of references for signatures, or "var" if some are missing.
std::string reference_count(const References& references);

/// Fills the row [width] of one line, which starts as zeros, from the hypothesis and its references
/// that are not missing.
using LineCounter =
    std::function<void(const std::string& hypothesis,
                       const std::vector<const std::string*>& references, std::span<double> row)>;

/// Counts all lines on all cores; `make_counter` is called once per block of lines, so that each
/// counter works on one thread. The result is the same for any number of threads. Throws Error if
/// there is no line or no reference, or a reference has another number of lines (both numbers are
/// named).
LineStatistics count_lines(std::span<const std::string> hypotheses, const References& references,
                           std::size_t width, const std::function<LineCounter()>& make_counter);

/// The words of `text`, which white space separates (is_space). None is empty. They point into
/// `text`, which must be valid UTF-8.
std::vector<std::string_view> split_words(std::string_view text);

/// The lines of a file as sacreBLEU's program takes them: without white space at their ends. That
/// matters if chrF counts white space.
std::vector<std::string> stripped_lines(std::vector<std::string> lines);

/// The line with U+FFFD in place of invalid UTF-8.
std::string valid_line(const std::string& line);

/// Numbers the words of one line's references, so that n-grams of words are n-grams of numbers.
class WordNumbering {
 public:
  static constexpr std::uint32_t kUnknown = 0xFFFFFFFF;

  /// The words must outlive the numbering or its next clear().
  std::vector<std::uint32_t> add(const std::vector<std::string_view>& words);
  /// kUnknown for words that were never added.
  std::vector<std::uint32_t> find(const std::vector<std::string_view>& words) const;
  void clear() { numbers_.clear(); }

 private:
  std::unordered_map<std::string_view, std::uint32_t> numbers_;
};

/// The number of n-grams of order `n` in a sequence of `length` symbols.
constexpr std::int64_t ngram_count(std::size_t length, int n) {
  const auto count = static_cast<std::int64_t>(length) - n + 1;
  return count > 0 ? count : 0;
}

/// The n-grams of the references of one line, as a trie of depth `max_order` with its edges in one
/// hash table. It is exact for any order, and follows a hypothesis only as far as it matches. A
/// matcher serves many lines, one after the other, without freeing or clearing its table.
class NgramMatcher {
 public:
  explicit NgramMatcher(int max_order) : max_order_(max_order) {}

  /// Starts a new line whose references have `symbols` symbols in all.
  void start(std::size_t symbols);

  /// An n-gram may be matched as often as it occurs in the reference that has it most often.
  void add_reference(std::span<const std::uint32_t> symbols);

  /// Adds to matches[n - 1] the number of n-grams that the hypothesis shares with the references.
  /// Uses up the n-grams, so it may be called once after start().
  void match(std::span<const std::uint32_t> hypothesis, std::span<std::int64_t> matches);

 private:
  struct Edge {
    std::uint64_t key;        ///< number of the parent node, then the symbol
    std::uint32_t line = 0;   ///< the line that wrote the edge; for other lines it is free
    std::uint32_t reference;  ///< the reference that `count` is about
    std::uint32_t count;      ///< occurrences in that reference
    std::uint32_t limit;      ///< matches still allowed
  };

  std::size_t place_of(std::uint64_t key) const;

  int max_order_;
  /// The first 2^bits_ are in use. A node's number is its edge's index plus 1.
  std::vector<Edge> edges_;
  int bits_ = 0;
  std::uint32_t line_ = 0;
  std::uint32_t reference_ = 0;
};

}  // namespace dragoman
