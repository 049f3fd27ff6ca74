#include "evaluation/ngrams.h"

#include <algorithm>
#include <bit>

namespace dragoman {

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

/// The index of the edge, or the free index where it belongs.
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
