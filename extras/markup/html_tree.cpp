#include "extras/markup/html_tree.h"

#include <array>
#include <csetjmp>
#include <cstdlib>
#include <cstring>

#include "base/error.h"

namespace dragoman {

namespace {

/// Blocks of the size of a node. gumbo does not say which of its blocks are nodes, and some lists
/// of pointers have the same size. So a block is read only as far as that does no harm in a list.
class NodeBlocks {
 public:
  NodeBlocks() = default;
  NodeBlocks(const NodeBlocks&) = delete;
  NodeBlocks& operator=(const NodeBlocks&) = delete;
  ~NodeBlocks() {
    for (const Slab& slab : slabs_) std::free(slab.blocks);
  }

  /// A block of zeros; null if no memory is left.
  GumboNode* take() {
    if (free_ == nullptr && !add_slab()) return nullptr;
    Block* block = free_;
    free_ = block->next;
    std::memset(block, 0, sizeof(Block));
    return &block->node;
  }

  void release(void* memory) {
    auto* block = static_cast<Block*>(memory);
    block->next = free_;
    free_ = block;
  }

  bool has(const void* memory) const {
    const auto* bytes = static_cast<const char*>(memory);
    for (std::size_t s = 0; s < used_; ++s) {
      const auto* begin = reinterpret_cast<const char*>(slabs_[s].blocks);
      if (begin <= bytes && bytes < begin + slabs_[s].count * sizeof(Block))
        return static_cast<std::size_t>(bytes - begin) % sizeof(Block) == 0;
    }
    return false;
  }

  /// The parent of the node in a block of these; null if it has none, or if the block is a list and
  /// its second pointer leads to no node.
  const GumboNode* parent_of(const GumboNode* block) const {
    const GumboNode* parent = nullptr;
    std::memcpy(&parent, reinterpret_cast<const char*>(block) + offsetof(GumboNode, parent),
                sizeof(void*));
    return has(parent) ? parent : nullptr;
  }

 private:
  union Block {
    GumboNode node;
    Block* next;  ///< of those that are free
  };
  struct Slab {
    Block* blocks = nullptr;
    std::size_t count = 0;
  };

  /// Each is twice as large as the one before.
  bool add_slab() {
    constexpr std::size_t kFirst = 64;
    if (used_ == slabs_.size()) return false;
    const std::size_t count = kFirst << used_;
    auto* blocks = static_cast<Block*>(std::malloc(count * sizeof(Block)));
    if (blocks == nullptr) return false;
    slabs_[used_++] = {.blocks = blocks, .count = count};
    for (std::size_t b = count; b-- > 0;) release(blocks + b);
    return true;
  }

  std::array<Slab, 32> slabs_;
  std::size_t used_ = 0;
  Block* free_ = nullptr;
};

bool is_element(const GumboNode& node) {
  return node.type == GUMBO_NODE_ELEMENT || node.type == GUMBO_NODE_TEMPLATE;
}

}  // namespace

/// gumbo's memory. All of it is freed at once, because gumbo's own function calls itself for each
/// level. With each node that gumbo makes, the elements around the one before are counted. These
/// are the open ones, with one exception: text in a table, outside of its cells, stands in front of
/// the table; then up to three more are open.
class HtmlTree::Memory {
 public:
  explicit Memory(std::size_t html_size) : left_(4'000'000 + 400 * html_size) {}
  Memory(const Memory&) = delete;
  Memory& operator=(const Memory&) = delete;
  ~Memory() {
    while (first_ != nullptr) release(first_ + 1);
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
  struct alignas(std::max_align_t) Block {
    Block *before, *next;
    std::size_t size;
  };

  void* take(std::size_t size) {
    if (size > left_) refuse("its tree takes too much memory");
    left_ -= size;
    void* taken = size == sizeof(GumboNode) ? take_node() : take_other(size);
    if (taken == nullptr) refuse("no memory is left for its tree");
    return taken;
  }

  void* take_node() {
    count_open();
    GumboNode* node = nodes_.take();
    newest_ = node;
    return node;
  }

  void* take_other(std::size_t size) {
    // Attributes of a tag whose element is not made yet; gumbo compares their names in pairs.
    if (size == sizeof(GumboAttribute) && ++attributes_ > kMostAttributes) refuse(kAttributes);
    auto* block = static_cast<Block*>(std::malloc(sizeof(Block) + size));
    if (block == nullptr) return nullptr;
    *block = {.before = nullptr, .next = first_, .size = size};
    if (first_ != nullptr) first_->before = block;
    first_ = block;
    return block + 1;
  }

  void release(void* memory) {
    if (nodes_.has(memory)) {
      if (memory == newest_) newest_ = nullptr;
      left_ += sizeof(GumboNode);
      return nodes_.release(memory);
    }
    Block* block = static_cast<Block*>(memory) - 1;
    left_ += block->size;
    (block->before != nullptr ? block->before->next : first_) = block->next;
    if (block->next != nullptr) block->next->before = block->before;
    std::free(block);
  }

  void count_open() {
    if (newest_ == nullptr) return;
    std::size_t open = 0, attributes = 0;
    for (const GumboNode* node = nodes_.parent_of(newest_); node != nullptr; node = node->parent) {
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
  NodeBlocks nodes_;
  const GumboNode* newest_ = nullptr;  // or a list of the same size
  Block* first_ = nullptr;             // of all others
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
