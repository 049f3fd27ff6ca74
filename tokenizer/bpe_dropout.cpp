#include <queue>

#include "base/utf8.h"
#include "tokenizer/subword_sampler.h"

namespace dragoman {

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

/// Whether `a` is less urgent than `b`.
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
    if (const auto id = pieces.trie.find(both))
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

}  // namespace dragoman
