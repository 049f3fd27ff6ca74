// Clipped n-gram matches of a hypothesis with its references (Papineni et al. 2002, section 2.1),
// for n-grams of words and of characters.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace dragoman {

/// Number of n-grams of order `n` in a sequence of `length` symbols.
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
  std::vector<Edge>
      edges_;  ///< the first 2^bits_ are in use; a node's number is its edge's index plus 1
  int bits_ = 0;
  std::uint32_t line_ = 0;
  std::uint32_t reference_ = 0;
};

}  // namespace dragoman
