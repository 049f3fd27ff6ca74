#include "extras/markup/tag_tree.h"

namespace dragoman {

std::vector<TagNode> tag_tree(const Passage& passage) {
  std::vector<TagNode> nodes = {{.text = {0, passage.text.size()}}};
  std::vector<std::size_t> open = {0};  // nodes that are not ended yet
  for (std::size_t t = 0; t < passage.tags.size(); ++t) {
    const InlineTag& tag = passage.tags[t];
    const bool is_paired = tag.partner != InlineTag::kNone;
    if (is_paired && tag.partner < t && nodes[open.back()].first == tag.partner) {
      nodes[open.back()].last = t;
      nodes[open.back()].text.end = tag.text.begin;
      open.pop_back();
      continue;
    }
    const bool begins = is_paired && tag.partner > t && open.size() <= kDeepestElement;
    nodes[open.back()].children.push_back(nodes.size());
    nodes.push_back(
        {.first = t, .text = tag.text, .keeps_order = tag.keeps_order || (is_paired && !begins)});
    if (begins) open.push_back(nodes.size() - 1);
  }
  return nodes;
}

}  // namespace dragoman
