#include "extras/markup/markdown_blocks.h"

#include <md4c.h>

#include <algorithm>
#include <limits>
#include <string>
#include <utility>

#include "base/error.h"

namespace dragoman {

namespace {

using EventKind = MarkdownEvent::Kind;

/// The row below a table's head. md4c 0.4 wants three dashes in each cell, GitHub one.
bool is_delimiter_row(std::string_view line) {
  const std::size_t first = line.find_first_not_of(" \t>");
  return first != std::string_view::npos && !line.substr(first).starts_with("- ") &&
         line.find_first_not_of("|-: \t>") == std::string_view::npos &&
         line.find('|') != std::string_view::npos && line.find('-') != std::string_view::npos;
}

/// Markdown with other signs for brackets: the same blocks, without links and their definitions.
std::string without_brackets(std::string_view markdown) {
  constexpr std::string_view kBegin = "<![CDATA[", kEnd = "]]>";  // of a block
  std::string text(markdown);
  for (std::size_t i = 0; i < text.size(); ++i) {
    const std::string_view rest = markdown.substr(i);
    if (rest.starts_with(kBegin))
      i += kBegin.size() - 1;
    else if (rest.starts_with(kEnd))
      i += kEnd.size() - 1;
    else if (text[i] == '[' || text[i] == ']')
      text[i] = ',';
  }
  return text;
}

/// The lines of each paragraph, heading and row of a table: md4c looks for links in these.
std::vector<ByteRange> stretches_with_links(std::string_view markdown) {
  std::vector<ByteRange> stretches;
  for (const MarkdownBlock& block : markdown_blocks(without_brackets(markdown))) {
    std::size_t first = markdown.size(), last = 0;
    for (const MarkdownEvent& event : block.events) {
      if (event.place.size() == 0) continue;
      first = std::min(first, event.place.begin);
      last = event.place.end;
    }
    if (first >= last || (!stretches.empty() && last <= stretches.back().end)) continue;
    const std::size_t line_end = markdown.substr(0, first).find_last_of("\r\n");
    stretches.push_back({line_end == std::string_view::npos ? 0 : line_end + 1,
                         std::min(markdown.find_first_of("\r\n", last), markdown.size())});
  }
  return stretches;
}

/// md4c 0.4 looks for the label of each pair of brackets in all the text between them, where there
/// are definitions at all. Which brackets are pairs is not known yet: code and tags may have
/// others.
void check_brackets(std::string_view text) {
  constexpr std::size_t kMostWork = 100'000'000;  // bytes; less than a second
  std::size_t opened = 0, deepest = 0;
  auto left = static_cast<std::size_t>(std::ranges::count(text, ']'));
  for (const char c : text) {
    if (c == '[') ++opened;
    if (c == ']') --left;
    deepest = std::max(deepest, std::min(opened, left));
  }
  if (deepest * text.size() > kMostWork)
    throw Error("markdown: too many brackets in one paragraph; blank lines divide it");
}

void check_all_brackets(std::string_view markdown) {
  if (markdown.find("]:") == std::string_view::npos) return;
  for (const ByteRange& stretch : stretches_with_links(markdown))
    check_brackets(stretch.of(markdown));
}

/// Markdown with longer dashes in the rows below the heads of tables.
class WidenedMarkdown {
 public:
  explicit WidenedMarkdown(std::string_view markdown) {
    for (std::size_t begin = 0; begin < markdown.size();) {
      const std::size_t end =
          std::min(markdown.find_first_of("\r\n", begin), markdown.size() - 1) + 1;
      const std::string_view line = markdown.substr(begin, end - begin);
      if (is_delimiter_row(line.substr(0, line.find_last_not_of("\r\n") + 1)))
        widen(line);
      else
        text_ += line;
      begin = end;
    }
  }

  const std::string& text() const { return text_; }

  /// The place in the document.
  std::size_t original(std::size_t place) const {
    const auto behind = std::ranges::upper_bound(added_, place);
    return place - kMore * static_cast<std::size_t>(behind - added_.begin());
  }

 private:
  static constexpr std::size_t kMore = 2;

  void widen(std::string_view line) {
    for (std::size_t i = 0; i < line.size(); ++i) {
      text_ += line[i];
      if (line[i] != '-' || (i > 0 && line[i - 1] == '-')) continue;
      text_.append(kMore, '-');
      added_.push_back(text_.size());
    }
  }

  std::string text_;
  std::vector<std::size_t> added_;  // ends of what was added
};

class BlockCollector {
 public:
  explicit BlockCollector(std::string_view document) : widened_(document) {}

  std::vector<MarkdownBlock> blocks() {
    MD_PARSER parser{};
    parser.flags = MD_DIALECT_GITHUB;
    parser.enter_block = [](MD_BLOCKTYPE type, void*, void* self) {
      return static_cast<BlockCollector*>(self)->turn(type, true);
    };
    parser.leave_block = [](MD_BLOCKTYPE type, void*, void* self) {
      return static_cast<BlockCollector*>(self)->turn(type, false);
    };
    parser.enter_span = [](MD_SPANTYPE type, void* detail, void* self) {
      return static_cast<BlockCollector*>(self)->begin_span(type, detail);
    };
    parser.leave_span = [](MD_SPANTYPE type, void*, void* self) {
      return static_cast<BlockCollector*>(self)->add({EventKind::Closes, span_of(type)});
    };
    parser.text = [](MD_TEXTTYPE type, const MD_CHAR* text, MD_SIZE size, void* self) {
      return static_cast<BlockCollector*>(self)->add_text(type, {text, size});
    };
    if (markdown_.size() > std::numeric_limits<MD_SIZE>::max() / 2)
      throw Error("markdown: more than 2 GB");
    check_all_brackets(markdown_);
    const int code =
        md_parse(markdown_.data(), static_cast<MD_SIZE>(markdown_.size()), &parser, this);
    if (code == kTooManyLinks)
      throw Error("markdown: long definitions of links are used too often; write shorter ones");
    if (code != 0) throw Error("markdown: not enough memory to read it");
    end_block();
    return std::move(blocks_);
  }

 private:
  /// md_parse ends and returns what a callback returns where it is below 0; -1 is md4c's own.
  static constexpr int kTooManyLinks = -2;

  static MarkdownSpan span_of(MD_SPANTYPE type) {
    switch (type) {
      case MD_SPAN_EM:
        return MarkdownSpan::Emphasis;
      case MD_SPAN_STRONG:
        return MarkdownSpan::Strong;
      case MD_SPAN_DEL:
        return MarkdownSpan::Strike;
      case MD_SPAN_A:
        return MarkdownSpan::Link;
      case MD_SPAN_IMG:
        return MarkdownSpan::Image;
      case MD_SPAN_CODE:
        return MarkdownSpan::Code;
      default:
        return MarkdownSpan::None;
    }
  }

  /// md4c reads a link's definition again at each use. All uses together may take so many times
  /// the document's bytes.
  int begin_span(MD_SPANTYPE type, const void* detail) {
    constexpr std::size_t kMostReadings = 16;
    if (type == MD_SPAN_A) {
      const auto& link = *static_cast<const MD_SPAN_A_DETAIL*>(detail);
      link_bytes_ += link.href.size + link.title.size;
    } else if (type == MD_SPAN_IMG) {
      const auto& image = *static_cast<const MD_SPAN_IMG_DETAIL*>(detail);
      link_bytes_ += image.src.size + image.title.size;
    }
    if (link_bytes_ > kMostReadings * markdown_.size()) return kTooManyLinks;
    return add({EventKind::Opens, span_of(type)});
  }

  int turn(MD_BLOCKTYPE type, bool begins) {
    end_block();
    if (type == MD_BLOCK_CODE || type == MD_BLOCK_HTML) is_verbatim_ = begins;
    block_.is_cell = begins && (type == MD_BLOCK_TH || type == MD_BLOCK_TD);
    return 0;
  }

  void end_block() {
    if (!block_.events.empty()) blocks_.push_back(std::move(block_));
    block_ = {.earliest = end_};
  }

  int add(MarkdownEvent event) {
    if (!is_verbatim_) block_.events.push_back(event);
    return 0;
  }

  int add_text(MD_TEXTTYPE type, std::string_view text) {
    ByteRange place;
    if (text.data() >= markdown_.data() &&
        text.data() + text.size() <= markdown_.data() + markdown_.size()) {
      const auto begin = static_cast<std::size_t>(text.data() - markdown_.data());
      place.begin = widened_.original(begin);
      place.end = end_ = widened_.original(begin + text.size());
    }
    const EventKind kind = type == MD_TEXT_ENTITY   ? EventKind::Entity
                           : type == MD_TEXT_HTML   ? EventKind::Html
                           : type == MD_TEXT_SOFTBR ? EventKind::SoftBreak
                           : type == MD_TEXT_BR     ? EventKind::HardBreak
                                                    : EventKind::Text;
    return add({.kind = kind, .place = place});
  }

  const WidenedMarkdown widened_;
  const std::string_view markdown_ = widened_.text();
  std::vector<MarkdownBlock> blocks_;
  MarkdownBlock block_;
  std::size_t end_ = 0;  // of the last text
  std::size_t link_bytes_ = 0;
  bool is_verbatim_ = false;
};

}  // namespace

std::vector<MarkdownBlock> markdown_blocks(std::string_view markdown) {
  return BlockCollector(markdown).blocks();
}

}  // namespace dragoman
