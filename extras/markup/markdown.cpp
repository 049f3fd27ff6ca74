#include "extras/markup/markdown.h"

#include <algorithm>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "extras/markup/markdown_blocks.h"
#include "extras/markup/markdown_masks.h"
#include "extras/markup/markdown_tokens.h"

namespace dragoman {

namespace {

using Kind = MarkupToken::Kind;

class DocumentReader {
 public:
  explicit DocumentReader(std::string_view markdown) : markdown_(masked_markdown(markdown)) {}

  MarkupDocument document() {
    for (const MarkdownBlock& block : markdown_blocks(markdown_.text)) add(block);
    MarkupDocument document{.bytes = with_insertions()};
    for (auto* tokens : {&texts_, &cells_}) {
      for (MarkupToken& token : *tokens) shift(token);
      const Writing writing = tokens == &cells_ ? Writing::MarkdownCell : Writing::MarkdownText;
      std::ranges::move(passages_of(document.bytes, *tokens, writing),
                        std::back_inserter(document.passages));
    }
    std::ranges::stable_sort(document.passages, {},
                             [](const Passage& passage) { return passage.source.begin; });
    return document;
  }

 private:
  void add(const MarkdownBlock& block) {
    std::optional<MarkdownTokens> read = markdown_tokens(markdown_, block);
    if (!read) return;
    std::vector<MarkupToken>& tokens = block.is_cell ? cells_ : texts_;
    std::ranges::move(read->tokens, std::back_inserter(tokens));
    tokens.push_back(
        {.kind = Kind::Splits, .source = {tokens.back().source.end, tokens.back().source.end}});
    for (Insertion& insertion : read->insertions) {
      inserted_ += insertion.text.size();
      sums_.push_back(inserted_);
      insertions_.push_back(std::move(insertion));
    }
  }

  std::string with_insertions() const {
    std::string bytes;
    std::size_t place = 0;
    for (const Insertion& insertion : insertions_) {
      bytes += markdown_.original.substr(place, insertion.place - place);
      bytes += insertion.text;
      place = insertion.place;
    }
    return bytes += markdown_.original.substr(place);
  }

  void shift(MarkupToken& token) const {
    for (MarkupToken::Attribute& attribute : token.attributes) shift(attribute.source);
    shift(token.source);
  }

  void shift(ByteRange& range) const {
    range = {range.begin + inserted_before(range.begin), range.end + inserted_before(range.end)};
  }

  /// The number of the bytes that are inserted in front of a place, or at it.
  std::size_t inserted_before(std::size_t place) const {
    const auto behind = std::ranges::upper_bound(insertions_, place, {}, &Insertion::place);
    return behind == insertions_.begin()
               ? 0
               : sums_[static_cast<std::size_t>(behind - insertions_.begin()) - 1];
  }

  const MaskedMarkdown markdown_;
  std::vector<MarkupToken> texts_, cells_;
  std::vector<Insertion> insertions_;
  std::vector<std::size_t> sums_;  // of the bytes of all insertions up to each
  std::size_t inserted_ = 0;
};

}  // namespace

MarkupDocument parse_markdown(std::string_view markdown) {
  return DocumentReader(markdown).document();
}

}  // namespace dragoman
