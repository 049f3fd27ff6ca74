#include <algorithm>
#include <cmath>
#include <limits>

#include "base/utf8.h"
#include "tokenizer/subword_sampler.h"

namespace dragoman {

namespace {

constexpr double kUnknownPenalty = 10;
constexpr int kNone = -1;

/// A piece at one position of the text, with the log-weight of all segmentations up to its end that
/// have it as the last piece.
struct Node {
  std::size_t begin;
  double weight;
  int next;  ///< of the nodes with the same end
};

class Lattice {
 public:
  Lattice(const ScoredPieces& pieces, std::string_view text, double alpha)
      : text_(text), last_(text.size() + 1, kNone) {
    std::vector<double> forward(text.size() + 1);
    for (std::size_t begin = 0, end = 0; begin < text.size(); begin = end) {
      if (begin > 0) forward[begin] = sum_of_nodes(begin);
      next_code_point(text, end);
      bool known = false;
      pieces.trie.for_each_prefix(text.substr(begin), [&](std::size_t size, TokenId id) {
        known |= begin + size == end;
        add(begin, begin + size,
            forward[begin] + alpha * pieces.scores[static_cast<std::size_t>(id)]);
      });
      if (!known) add(begin, end, forward[begin] + alpha * (pieces.lowest_score - kUnknownPenalty));
    }
  }

  /// Pieces from the last to the first, each drawn among those that end where the one after begins.
  std::vector<std::string_view> draw(RandomStream& random) const {
    std::vector<std::string_view> parts;
    for (std::size_t end = text_.size(); end > 0;) {
      const std::size_t begin = draw_begin(end, random);
      parts.push_back(text_.substr(begin, end - begin));
      end = begin;
    }
    std::reverse(parts.begin(), parts.end());
    return parts;
  }

 private:
  void add(std::size_t begin, std::size_t end, double weight) {
    nodes_.push_back({begin, weight, last_[end]});
    last_[end] = static_cast<int>(nodes_.size()) - 1;
  }
  const Node& node(int number) const { return nodes_[static_cast<std::size_t>(number)]; }

  /// log of the sum of exp(weight) over the nodes that end here.
  double sum_of_nodes(std::size_t end) const {
    double highest = -std::numeric_limits<double>::infinity(), sum = 0;
    for (int i = last_[end]; i != kNone; i = node(i).next)
      highest = std::max(highest, node(i).weight);
    for (int i = last_[end]; i != kNone; i = node(i).next)
      sum += std::exp(node(i).weight - highest);
    return highest + std::log(sum);
  }

  std::size_t draw_begin(std::size_t end, RandomStream& random) const {
    const double total = sum_of_nodes(end);
    double left = random.uniform();
    int i = last_[end];
    for (; node(i).next != kNone; i = node(i).next) {
      left -= std::exp(node(i).weight - total);
      if (left < 0) break;
    }
    return node(i).begin;
  }

  std::string_view text_;
  std::vector<Node> nodes_;
  std::vector<int> last_;  ///< [bytes + 1] the last node that ends there
};

}  // namespace

std::vector<std::string_view> unigram_sample(const ScoredPieces& pieces, std::string_view text,
                                             double alpha, RandomStream& random) {
  return Lattice(pieces, text, alpha).draw(random);
}

}  // namespace dragoman
