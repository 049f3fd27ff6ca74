#include "extras/markup/html_tree.h"

#include <csetjmp>
#include <cstdlib>
#include <cstring>
#include <new>
#include <unordered_map>

#include "base/error.h"

namespace dragoman {

namespace {

bool is_element(const GumboNode& node) {
  return node.type == GUMBO_NODE_ELEMENT || node.type == GUMBO_NODE_TEMPLATE;
}

}  // namespace

/// gumbo's memory. All of it is freed at once, because gumbo's own function calls itself for each
/// level. With each node that gumbo makes, the elements around the one before are counted. These
/// are the open ones, with one exception: text in a table, outside of its cells, stands in front of
/// the table; then up to three more are open.
///
/// gumbo does not say which of its blocks are nodes, and some lists of pointers have the same size.
/// So a block of that size is read only as far as that does no harm in a list.
class HtmlTree::Memory {
 public:
  explicit Memory(std::size_t html_size) : left_(4'000'000 + 400 * html_size) {}
  Memory(const Memory&) = delete;
  Memory& operator=(const Memory&) = delete;
  ~Memory() {
    for (const auto& [block, size] : sizes_) std::free(block);
  }

  /// Runs the parser; null if the page is refused.
  const GumboOutput* parse(std::string_view html, HtmlContext context) {
    GumboOptions options = kGumboDefaultOptions;
    if (context == HtmlContext::Table) options.fragment_context = GUMBO_TAG_TABLE;
    options.allocator = [](void* memory, std::size_t size) {
      return static_cast<Memory*>(memory)->take(size);
    };
    options.deallocator = [](void* memory, void* block) {
      if (block != nullptr) static_cast<Memory*>(memory)->release(block);
    };
    options.userdata = this;
    options.max_errors = 0;
    // Between here and the longjmp lie only frames of gumbo, which is C, and of functions without
    // destructors.
    if (setjmp(refused_) != 0) return nullptr;
    const GumboOutput* output = gumbo_parse_with_options(&options, html.data(), html.size());
    count_open();
    return output;
  }

  const char* fault() const { return fault_; }

 private:
  void* take(std::size_t size) {
    if (size > left_) refuse("its tree takes too much memory");
    if (size == sizeof(GumboNode)) count_open();
    // Attributes of a tag whose element is not made yet; gumbo compares their names in pairs.
    if (size == sizeof(GumboAttribute) && ++attributes_ > kMostAttributes) refuse(kAttributes);
    void* block = zeros(size);
    if (block == nullptr) refuse("no memory is left for its tree");
    left_ -= size;
    if (size == sizeof(GumboNode)) newest_ = block;
    return block;
  }

  /// Null if no memory is left: no exception may pass through gumbo.
  void* zeros(std::size_t size) try {
    std::unique_ptr<void, void (*)(void*)> block(std::calloc(1, size), std::free);
    if (block != nullptr) sizes_.emplace(block.get(), size);
    return block.release();
  } catch (const std::bad_alloc&) {
    return nullptr;
  }

  void release(void* block) {
    if (block == newest_) newest_ = nullptr;
    const auto found = sizes_.find(block);
    left_ += found->second;
    sizes_.erase(found);
    std::free(block);
  }

  /// The parent of the node that was made last; null if it has none, or if the block is a list and
  /// its pointer at that place leads to no node.
  const GumboNode* parent_of_newest() const {
    void* parent = nullptr;
    std::memcpy(&parent, static_cast<const char*>(newest_) + offsetof(GumboNode, parent),
                sizeof parent);
    const auto found = sizes_.find(parent);
    const bool is_node = found != sizes_.end() && found->second == sizeof(GumboNode);
    return is_node ? static_cast<const GumboNode*>(parent) : nullptr;
  }

  void count_open() {
    if (newest_ == nullptr) return;
    std::size_t open = 0, attributes = 0;
    for (const GumboNode* node = parent_of_newest(); node != nullptr; node = node->parent) {
      if (node->type == GUMBO_NODE_DOCUMENT) attributes_ = 0;  // the newest has become a node
      if (!is_element(*node)) continue;
      attributes += node->v.element.attributes.length;
      if (++open > kMostOpen) refuse(kOpen);
      if (attributes > kMostAttributes) refuse(kAttributes);
    }
  }

  [[noreturn]] void refuse(const char* fault) {
    fault_ = fault;
    std::longjmp(refused_, 1);
  }

  static constexpr const char* kOpen =
      "too many elements are open at once, at most 512 can be; close its tags";
  static constexpr const char* kAttributes =
      "the elements that are open at once have too many attributes, at most 2000 can be";
  static_assert(kMostOpen == 512 && kMostAttributes == 2'000);

  std::size_t left_, attributes_ = 0;
  std::unordered_map<void*, std::size_t> sizes_;  // of all blocks
  const void* newest_ = nullptr;                  // node, or list of the same size
  const char* fault_ = "";
  std::jmp_buf refused_;
};

HtmlTree::HtmlTree(std::string_view html, HtmlContext context)
    : memory_(std::make_unique<Memory>(html.size())), output_(memory_->parse(html, context)) {
  if (output_ == nullptr) throw Error("html: ", memory_->fault());
}

HtmlTree::~HtmlTree() = default;

const GumboVector& HtmlTree::children_of(const GumboNode& node) {
  return node.type == GUMBO_NODE_DOCUMENT ? node.v.document.children : node.v.element.children;
}

std::vector<const GumboNode*> HtmlTree::nodes() const {
  std::vector<const GumboNode*> nodes, open = {document()};
  while (!open.empty()) {
    const GumboNode* node = open.back();
    open.pop_back();
    nodes.push_back(node);
    if (node->type != GUMBO_NODE_DOCUMENT && node->type != GUMBO_NODE_ELEMENT) continue;
    const GumboVector& children = children_of(*node);
    for (unsigned int i = children.length; i-- > 0;)
      open.push_back(static_cast<const GumboNode*>(children.data[i]));
  }
  return nodes;
}

}  // namespace dragoman
