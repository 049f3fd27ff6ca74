// The pieces of a vocabulary in a trie, to find all pieces that a text starts with.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "base/random.h"
#include "tokenizer/tokenizer.h"

namespace dragoman {

class PieceTrie {
 public:
  void add(std::string_view piece, TokenId id);
  std::optional<TokenId> find(std::string_view piece) const;

  /// Calls visit(bytes, id) for each piece that `text` starts with, the shortest first.
  template <class Visit>
  void for_each_prefix(std::string_view text, Visit&& visit) const {
    std::uint32_t node = kRoot;
    for (std::size_t i = 0; i < text.size(); ++i) {
      node = child(node, text[i]);
      if (node == kNoNode) return;
      if (ids_[node] != kNoPiece) visit(i + 1, ids_[node]);
    }
  }

 private:
  static constexpr std::uint32_t kRoot = 1, kNoNode = 0;
  static constexpr TokenId kNoPiece = -1;
  /// An edge of the trie in the hash table; free where `child` is kNoNode.
  struct Edge {
    std::uint64_t from = 0;  ///< node and byte
    std::uint32_t child = kNoNode;
  };

  static std::uint64_t edge_of(std::uint32_t node, char byte) {
    return std::uint64_t{node} << 8 | static_cast<unsigned char>(byte);
  }
  /// The index of an edge, or the free index where it belongs.
  std::size_t index_of(std::uint64_t edge) const {
    std::size_t index = mix64(edge) & (edges_.size() - 1);
    while (edges_[index].child != kNoNode && edges_[index].from != edge)
      index = (index + 1) & (edges_.size() - 1);
    return index;
  }
  std::uint32_t child(std::uint32_t node, char byte) const {
    return edges_[index_of(edge_of(node, byte))].child;
  }
  void grow();

  std::vector<TokenId> ids_ = {kNoPiece, kNoPiece};  ///< [nodes]
  std::vector<Edge> edges_ = std::vector<Edge>(64);  ///< a power of two, at most half of it in use
};

}  // namespace dragoman
