// The tree that gumbo makes of HTML, as the HTML standard has it. gumbo sets no bounds: a page may
// be made so that each of its tags is compared with all that are open, or that its tree's memory
// grows with the square of its length. The bounds here depend only on the page, so the same page is
// always read, or always refused.
#pragma once

#include <gumbo.h>

#include <cstddef>
#include <memory>
#include <string_view>
#include <vector>

namespace dragoman {

/// What the HTML is a part of.
enum class HtmlContext {
  Page,   ///< it is a page, or the content of one
  Table,  ///< it begins within a table, whose own tag is missing
};

class HtmlTree {
 public:
  /// As many elements may be open at once as browsers take, and their attributes are bounded, too.
  static constexpr std::size_t kMostOpen = 512, kMostAttributes = 2'000;

  /// `html` must outlive the tree, whose nodes point into it. Throws Error if too many elements or
  /// attributes are open at once, or if the tree takes too much memory.
  explicit HtmlTree(std::string_view html, HtmlContext context = HtmlContext::Page);
  HtmlTree(const HtmlTree&) = delete;
  HtmlTree& operator=(const HtmlTree&) = delete;
  ~HtmlTree();

  const GumboNode* document() const { return output_->document; }

  /// `node` is the document or an element.
  static const GumboVector& children_of(const GumboNode& node);

  /// In the order of the tree, without the content of <template>.
  std::vector<const GumboNode*> nodes() const;

 private:
  class Memory;

  const std::unique_ptr<Memory> memory_;  ///< of all nodes
  const GumboOutput* output_ = nullptr;
};

}  // namespace dragoman
