#include "tokenizer/piece_trie.h"

#include <utility>

namespace dragoman {

void PieceTrie::add(std::string_view piece, TokenId id) {
  std::uint32_t node = kRoot;
  for (const char byte : piece) {
    std::uint32_t next = child(node, byte);
    if (next == kNoNode) {
      if (2 * ids_.size() > edges_.size()) grow();
      next = static_cast<std::uint32_t>(ids_.size());
      ids_.push_back(kNoPiece);
      const std::uint64_t edge = edge_of(node, byte);
      edges_[index_of(edge)] = {edge, next};
    }
    node = next;
  }
  ids_[node] = id;
}

std::optional<TokenId> PieceTrie::find(std::string_view piece) const {
  std::uint32_t node = kRoot;
  for (const char byte : piece) {
    node = child(node, byte);
    if (node == kNoNode) return std::nullopt;
  }
  return ids_[node] == kNoPiece ? std::nullopt : std::optional(ids_[node]);
}

void PieceTrie::grow() {
  std::vector<Edge> before(2 * edges_.size());
  std::swap(before, edges_);
  for (const Edge& edge : before)
    if (edge.child != kNoNode) edges_[index_of(edge.from)] = edge;
}

}  // namespace dragoman
