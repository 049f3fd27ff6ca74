#include "extras/markup/markdown_syntax.h"

#include <md4c.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <limits>
#include <optional>
#include <string>
#include <utility>

#include "base/error.h"
#include "base/utf8.h"

namespace dragoman {

// ---- markup that CommonMark does not know: it is masked -----------------------------------------

namespace {

constexpr std::string_view kLineEnds = "\r\n";
constexpr std::size_t kFootnoteIndent = 4;  // of the lines that belong to a footnote

/// [^1], [!NOTE].
std::size_t label_length(std::string_view text) {
  constexpr std::size_t kLongest = 200;
  if (!text.starts_with("[^") && !text.starts_with("[!")) return 0;
  const std::size_t end = text.substr(0, kLongest).find_first_of("[] \t`", 2);
  return end == std::string_view::npos || text[end] != ']' || end == 2 ? 0 : end + 1;
}

/// Names of blocks of HTML (CommonMark, section 4.6) that md4c 0.4 does not find. It lacks some,
/// and a name hides longer ones that begin with it: "th" hides "thead". Each stands beside one that
/// is as long, and that md4c finds.
constexpr std::array<std::pair<std::string_view, std::string_view>, 15> kHiddenBlocks = {{
    {"h2", "h1"},
    {"h3", "h1"},
    {"h4", "h1"},
    {"h5", "h1"},
    {"h6", "h1"},
    {"link", "form"},
    {"param", "table"},
    {"thead", "table"},
    {"track", "table"},
    {"header", "center"},
    {"search", "center"},
    {"basefont", "fieldset"},
    {"colgroup", "fieldset"},
    {"frameset", "fieldset"},
    {"menuitem", "fieldset"},
}};

class Masker {
 public:
  explicit Masker(std::string_view markdown)
      : masked_{.original = markdown, .text = std::string(markdown)} {}

  MaskedMarkdown masked() {
    std::ranges::replace(masked_.text, '\0', ' ');
    std::size_t place = 0;
    if (masked_.original.starts_with(kByteOrderMark)) blank({0, place = kByteOrderMark.size()});
    place = mask_front_matter(place);
    while (place < masked_.text.size()) {
      const std::size_t end = line_end(place);
      mask_labels({place, end});
      mask_block_name({place, end});
      place = end + 1;
    }
    return std::move(masked_);
  }

 private:
  std::string_view line(const ByteRange& range) const { return range.of(masked_.original); }

  std::size_t line_end(std::size_t place) const {
    return std::min(masked_.text.find_first_of(kLineEnds, place), masked_.text.size());
  }

  void blank(const ByteRange& range) {
    for (std::size_t i = range.begin; i < range.end; ++i)
      if (kLineEnds.find(masked_.text[i]) == std::string_view::npos) masked_.text[i] = ' ';
  }

  /// A line without the blanks at its end, which are no part of a fence.
  std::string_view fence_at(const ByteRange& range) const {
    const std::string_view text = line(range);
    return text.substr(0, text.find_last_not_of(" \t") + 1);
  }

  /// YAML between lines of "---", or up to a line of "...", and TOML between lines of "+++".
  /// Returns its end.
  std::size_t mask_front_matter(std::size_t place) {
    const std::string_view fence = fence_at({place, line_end(place)});
    if (fence != "---" && fence != "+++") return place;
    for (std::size_t begin = line_end(place); begin < masked_.text.size();) {
      const std::size_t end = line_end(begin + 1);
      const std::string_view last = fence_at({begin + 1, end});
      if (last == fence || (fence == "---" && last == "...")) return blank({place, end}), end;
      begin = end;
    }
    return place;
  }

  void mask_labels(const ByteRange& range) {
    const std::string_view text = line(range);
    const std::size_t lead = std::min(text.find_first_not_of(' '), text.size());
    for (std::size_t at = text.find('['); at != std::string_view::npos;
         at = text.find('[', at + 1)) {
      const std::string_view rest = text.substr(at);
      const std::size_t length = label_length(rest);
      const std::size_t begin = range.begin + at;
      if (at == lead && lead < kFootnoteIndent && footnote_begin_length(rest) > 0)
        mask_footnote({begin, begin + length + 1}, lead);
      else if (length > 0 && (rest[1] == '^' || is_alert(text, at, length)))
        mask({begin, begin + length}, rest[1] == '!');
    }
  }

  void mask_block_name(const ByteRange& range) {
    const std::string_view text = line(range);
    std::size_t begin = text.find_first_not_of(" \t>*+-0123456789.)");  // of lists and quotes
    if (begin == std::string_view::npos || text[begin++] != '<') return;
    if (text.substr(begin).starts_with('/')) ++begin;
    const std::string_view tag = text.substr(begin);
    const std::string name = ascii_lower(tag.substr(0, tag.find_first_of(" \t/>")));
    for (const auto& [hidden, known] : kHiddenBlocks)
      if (name == hidden) masked_.text.replace(range.begin + begin, name.size(), known);
  }

  void mask(const ByteRange& label, bool begins_block) {
    masked_.text.replace(label.begin, label.size(), label.size(), '.');
    masked_.labels.push_back({.place = label, .begins_block = begins_block});
  }

  /// An item of a list, so that what is indented like the footnote's text belongs to it.
  void mask_footnote(const ByteRange& label, std::size_t lead) {
    const std::size_t indent = std::max<std::size_t>(kFootnoteIndent - lead, 2);
    mask({label.begin + indent, label.end}, true);
    masked_.text[label.begin] = '-';
    blank({label.begin + 1, label.begin + indent});
  }

  /// The first line of the quote has only the label.
  static bool is_alert(std::string_view line, std::size_t at, std::size_t length) {
    const std::string_view before = line.substr(0, at);
    return before.find('>') != std::string_view::npos &&
           before.find_first_not_of(" \t>") == std::string_view::npos &&
           strip(line.substr(at + length)).empty() &&
           line.substr(at + 2, length - 3).find_first_not_of("ABCDEFGHIJKLMNOPQRSTUVWXYZ") ==
               std::string_view::npos;
  }

  MaskedMarkdown masked_;
};

}  // namespace

std::size_t footnote_begin_length(std::string_view text) {
  const std::size_t length = text.starts_with("[^") ? label_length(text) : 0;
  return length > 0 && text.substr(length).starts_with(':') ? length + 1 : 0;
}

MaskedMarkdown masked_markdown(std::string_view markdown) { return Masker(markdown).masked(); }

// ---- blocks, as md4c finds them -----------------------------------------------------------------

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
      if (event.place.empty()) continue;
      first = std::min(first, event.place.begin);
      last = event.place.end;
    }
    if (first >= last || (!stretches.empty() && last <= stretches.back().end)) continue;
    const std::size_t line_end = markdown.substr(0, first).find_last_of(kLineEnds);
    stretches.push_back({line_end == std::string_view::npos ? 0 : line_end + 1,
                         std::min(markdown.find_first_of(kLineEnds, last), markdown.size())});
  }
  return stretches;
}

/// If there are definitions, md4c 0.4 looks for the label of each pair of brackets in all the text
/// between them. Which brackets are pairs is not known yet: code and tags may have others.
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
          std::min(markdown.find_first_of(kLineEnds, begin), markdown.size() - 1) + 1;
      const std::string_view line = markdown.substr(begin, end - begin);
      if (is_delimiter_row(line.substr(0, line.find_last_not_of(kLineEnds) + 1)))
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
  /// If a callback returns a number below 0, md_parse ends and returns it; -1 is md4c's own.
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

  /// md4c reads a link's definition again at each use. All uses together may read kMostReadings
  /// times the document's bytes.
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

// ---- the ends of links --------------------------------------------------------------------------

namespace {

constexpr std::string_view kWhiteSpace = " \t\r\n";

bool is_white_space(char c) { return kWhiteSpace.find(c) != std::string_view::npos; }

/// Reads "(url "title")" (CommonMark 0.30, section 6.3).
class TailReader {
 public:
  TailReader(std::string_view markdown, std::size_t place)
      : text_(markdown.substr(0, place + kLongest)), place_(place) {}

  std::optional<MarkdownLinkTail> tail() {
    ++place_;
    skip_blanks();
    if (!skip_url()) return std::nullopt;
    const std::size_t behind_url = place_;
    skip_blanks();
    ByteRange title;
    if (place_ > behind_url && !at(')')) {
      title.begin = place_;
      if (!skip_title()) return std::nullopt;
      title.end = place_;
      skip_blanks();
    }
    if (!at(')')) return std::nullopt;
    if (title.of(text_).find_first_of(kLineEnds) != std::string_view::npos) title = {};
    return MarkdownLinkTail{.end = place_ + 1, .title = title};
  }

 private:
  // So that many links that never end take no quadratic time.
  static constexpr std::size_t kLongest = 10'000;

  bool at(char c) const { return place_ < text_.size() && text_[place_] == c; }

  /// The marks of quotes may stand after line ends.
  void skip_blanks() {
    bool is_line_begin = false;
    for (; place_ < text_.size(); ++place_) {
      const char c = text_[place_];
      if (!is_white_space(c) && !(is_line_begin && c == '>')) return;
      is_line_begin = is_line_begin || c == '\n' || c == '\r';
    }
  }

  bool skip_to(char end) {
    for (; place_ < text_.size(); ++place_) {
      if (text_[place_] == '\\')
        ++place_;
      else if (text_[place_] == end)
        return ++place_, true;
    }
    return false;
  }

  bool skip_url() {
    if (at('<')) return ++place_, skip_to('>');
    std::size_t depth = 0;
    for (; place_ < text_.size() && !is_white_space(text_[place_]); ++place_) {
      if (text_[place_] == '\\' && place_ + 1 < text_.size() &&
          !is_white_space(text_[place_ + 1])) {
        ++place_;
      } else if (text_[place_] == '(') {
        ++depth;
      } else if (text_[place_] == ')') {
        if (depth == 0) return true;
        --depth;
      }
    }
    return depth == 0 && place_ < text_.size();
  }

  bool skip_title() {
    const char quote = text_[std::min(place_, text_.size() - 1)];
    if (quote != '"' && quote != '\'' && quote != '(') return false;
    ++place_;
    return skip_to(quote == '(' ? ')' : quote);
  }

  const std::string_view text_;
  std::size_t place_;
};

/// The end of "[label]"; nothing if there is none.
std::optional<std::size_t> label_end(std::string_view text, std::size_t place) {
  constexpr std::size_t kLongest = 1'000;  // CommonMark: 999 characters
  for (std::size_t i = place + 1; i < text.size() && i < place + kLongest; ++i) {
    if (text[i] == '\\')
      ++i;
    else if (text[i] == ']')
      return i + 1;
    else if (text[i] == '[')
      return std::nullopt;
  }
  return std::nullopt;
}

}  // namespace

MarkdownLinkTail markdown_link_tail(std::string_view markdown, std::size_t place) {
  const std::size_t next = place + 1;
  if (next < markdown.size() && markdown[next] == '(')
    if (const auto tail = TailReader(markdown, next).tail()) return *tail;
  if (next < markdown.size() && markdown[next] == '[')
    if (const auto end = label_end(markdown, next))
      return {.end = *end, .has_text_as_label = *end == next + 2};
  return {.end = next, .has_text_as_label = true};
}

}  // namespace dragoman
