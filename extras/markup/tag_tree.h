// The tags of a passage as a tree.
#pragma once

#include <cstddef>
#include <vector>

#include "extras/markup/byte_range.h"
#include "extras/markup/document.h"

namespace dragoman {

struct TagNode {
  std::size_t first = InlineTag::kNone;  ///< the tag that begins it; none: the passage itself
  std::size_t last = InlineTag::kNone;   ///< the tag that ends it; none: a single tag
  ByteRange text;                        ///< of the passage
  std::vector<std::size_t> children = {};
  bool keeps_order = false;  ///< as InlineTag::keeps_order

  bool is_element() const { return last != InlineTag::kNone; }
};

/// The first node is the passage. Below kDeepestElement tags stand for themselves and keep their
/// order, so that a million nested elements need no deep recursion.
std::vector<TagNode> tag_tree(const Passage& passage);

inline constexpr std::size_t kDeepestElement = 100;

}  // namespace dragoman
