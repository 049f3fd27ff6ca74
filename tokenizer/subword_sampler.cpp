#include "tokenizer/subword_sampler.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <queue>
#include <utility>

#include "base/error.h"
#include "base/utf8.h"

namespace dragoman {

// ---- BPE-dropout ----

namespace {

/// A part of the text; one that was merged into its left neighbour is empty.
struct Part {
  std::string_view text;
  int left, right;  ///< neighbours; -1: none
};

/// Two neighbours that make a piece together.
struct Merge {
  double score;
  int left, right;
  std::size_t size;  ///< of the piece, in bytes; if the parts have another size, one has changed
};

/// Whether the merge `a` is less urgent than `b`.
struct LessUrgent {
  bool operator()(const Merge& a, const Merge& b) const {
    return a.score != b.score ? a.score < b.score : a.left > b.left;
  }
};

std::vector<Part> characters(std::string_view text) {
  std::vector<Part> parts;
  for (std::size_t offset = 0; offset < text.size();) {
    const std::size_t begin = offset;
    next_code_point(text, offset);
    const int number = static_cast<int>(parts.size());
    parts.push_back({text.substr(begin, offset - begin), number - 1, number + 1});
  }
  if (!parts.empty()) parts.back().right = -1;
  return parts;
}

}  // namespace

std::vector<std::string_view> bpe_with_dropout(const ScoredPieces& pieces, std::string_view text,
                                               double dropout, RandomStream& random) {
  std::vector<Part> parts = characters(text);
  std::priority_queue<Merge, std::vector<Merge>, LessUrgent> merges;
  const auto part = [&parts](int number) -> Part& {
    return parts[static_cast<std::size_t>(number)];
  };
  const auto together = [&](int left, int right) {
    return std::string_view(part(left).text.data(),
                            part(left).text.size() + part(right).text.size());
  };
  const auto consider = [&](int left, int right) {
    if (left < 0 || right < 0) return;
    const std::string_view both = together(left, right);
    if (const auto id = pieces.table.find(both))
      merges.push({pieces.scores[static_cast<std::size_t>(*id)], left, right, both.size()});
  };
  for (int i = 1; i < std::ssize(parts); ++i) consider(i - 1, i);
  std::vector<Merge> left_out;  // until the next merge, when they are drawn for again
  while (!merges.empty()) {
    const Merge merge = merges.top();
    merges.pop();
    Part &left = part(merge.left), &right = part(merge.right);
    if (left.text.empty() || right.text.empty() ||
        left.text.size() + right.text.size() != merge.size)
      continue;
    if (random.chance(dropout)) {
      left_out.push_back(merge);
      continue;
    }
    left.text = together(merge.left, merge.right);
    right.text = {};
    left.right = right.right;
    if (left.right >= 0) part(left.right).left = merge.left;
    consider(left.left, merge.left);
    consider(merge.left, left.right);
    for (const Merge& again : left_out) merges.push(again);
    left_out.clear();
  }
  std::vector<std::string_view> segmentation;
  for (const Part& p : parts)
    if (!p.text.empty()) segmentation.push_back(p.text);
  return segmentation;
}

// ---- sampling for unigram models ----

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
      pieces.table.for_each_prefix(text.substr(begin), [&](std::size_t size, TokenId id) {
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
    std::ranges::reverse(parts);
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

// ---- both ----

SubwordSampler::SubwordSampler(std::shared_ptr<const Tokenizer> tokenizer, double strength)
    : tokenizer_(std::move(tokenizer)), strength_(strength) {
  const TokenizerFacts& facts = tokenizer_->facts();
  bpe_ = facts.type == "bpe";
  if (!bpe_ && facts.type != "unigram")
    throw Error("subword sampling needs a tokenizer of type bpe or unigram, not ", facts.type);
  const std::int64_t size = tokenizer_->size();
  texts_.resize(static_cast<std::size_t>(size));
  bytes_.resize(facts.byte_fallback ? 256 : 0);
  for (TokenId id = 0; id < size; ++id) {
    const std::string piece = tokenizer_->piece(id);
    pieces_.scores.push_back(tokenizer_->score(id));
    std::string& text = texts_[static_cast<std::size_t>(id)];
    switch (facts.kinds[static_cast<std::size_t>(id)]) {
      case PieceKind::Normal:
        text = piece;
        pieces_.table.add(piece, id);
        pieces_.lowest_score = std::min(pieces_.lowest_score, pieces_.scores.back());
        break;
      case PieceKind::Byte:
        text = static_cast<char>(byte_of_piece(piece).value());
        if (!bytes_.empty()) bytes_[static_cast<unsigned char>(text[0])] = id;
        break;
      default:
        break;
    }
  }
}

std::vector<TokenId> SubwordSampler::sample(std::span<const TokenId> tokens,
                                            std::uint64_t key) const {
  RandomStream random(key);
  std::vector<TokenId> sampled;
  std::string run;
  const auto end_run = [&] {
    append_sample(run, random, sampled);
    run.clear();
  };
  for (std::size_t i = 0; i < tokens.size();) {
    const std::size_t whole = unchanged_tokens(tokens.subspan(i));
    if (whole == 0) {
      run += texts_[static_cast<std::size_t>(tokens[i++])];
      continue;
    }
    end_run();
    sampled.insert(sampled.end(), tokens.begin() + static_cast<std::ptrdiff_t>(i),
                   tokens.begin() + static_cast<std::ptrdiff_t>(i + whole));
    i += whole;
  }
  end_run();
  return sampled;
}

std::size_t SubwordSampler::unchanged_tokens(std::span<const TokenId> tokens) const {
  if (texts_[static_cast<std::size_t>(tokens.front())].empty()) return 1;
  if (tokenizer_->facts().escapes == Escapes::None || tokens.size() < kSpaceMark.size()) return 0;
  for (std::size_t i = 0; i < kSpaceMark.size(); ++i)
    if (tokens[i] != bytes_[static_cast<unsigned char>(kSpaceMark[i])]) return 0;
  return kSpaceMark.size();
}

void SubwordSampler::append_sample(std::string_view text, RandomStream& random,
                                   std::vector<TokenId>& tokens) const {
  for (const std::string_view part : bpe_ ? bpe_with_dropout(pieces_, text, strength_, random)
                                          : unigram_sample(pieces_, text, strength_, random)) {
    if (const auto id = pieces_.table.find(part))
      tokens.push_back(*id);
    else if (!bytes_.empty())
      for (const char byte : part) tokens.push_back(bytes_[static_cast<unsigned char>(byte)]);
    else
      tokens.push_back(tokenizer_->unk_id());
  }
}

}  // namespace dragoman
