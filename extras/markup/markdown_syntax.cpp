#include "extras/markup/markdown_syntax.h"

#include <md4c.h>

#include <algorithm>
#include <iterator>
#include <limits>
#include <optional>
#include <utility>

#include "base/error.h"
#include "base/utf8.h"

namespace dragoman {

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

/// Markdown with other characters for brackets: the same blocks, but no links or definitions.
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

/// A line without the marks of quotes and the blanks before it, and those after it.
std::string_view without_marks(std::string_view line) {
  return strip(line.substr(std::min(line.find_first_not_of(" \t>"), line.size())));
}

/// The number of cells of a row of a table.
std::size_t count_cells(std::string_view row) {
  row = without_marks(row);
  if (row.starts_with('|')) row.remove_prefix(1);
  if (row.ends_with('|') && !row.ends_with("\\|")) row.remove_suffix(1);
  std::size_t cells = 1;
  for (std::size_t i = 0; i < row.size(); ++i) {
    if (row[i] == '\\')
      ++i;
    else if (row[i] == '|')
      ++cells;
  }
  return cells;
}

/// Where the heads of tables begin that follow a paragraph without a blank line. GitHub makes
/// tables of them; md4c 0.4 takes them for text of the paragraph.
std::vector<std::size_t> heads_within_paragraphs(std::string_view markdown,
                                                 const std::vector<MarkdownBlock>& blocks) {
  std::vector<std::size_t> heads;
  for (const MarkdownBlock& block : blocks) {
    std::size_t first = markdown.size(), last = 0;
    for (const MarkdownEvent& event : block.events)
      if (!event.place.empty() && event.kind != EventKind::Html)
        first = std::min(first, event.place.begin), last = event.place.end;
    if (block.is_cell || first >= last || first < (heads.empty() ? 0 : heads.back())) continue;
    std::vector<ByteRange> lines;
    for (std::size_t begin = first; begin < last;) {
      const std::size_t end = std::min(markdown.find_first_of(kLineEnds, begin), markdown.size());
      lines.push_back({begin, end});
      begin = end + (markdown.substr(end).starts_with("\r\n") ? 2 : 1);
      if (lines.size() < 3) continue;
      const ByteRange& head = lines[lines.size() - 2];
      const std::string_view rule = lines.back().of(markdown);
      if (!is_delimiter_row(rule) || count_cells(rule) != count_cells(head.of(markdown))) continue;
      heads.push_back(head.begin);
      break;
    }
  }
  return heads;
}

/// Markdown with longer dashes in the rows below the heads of tables, and with a blank line before
/// some lines.
class WidenedMarkdown {
 public:
  /// `apart`: where the lines begin that get a blank line before them.
  WidenedMarkdown(std::string_view markdown, const std::vector<std::size_t>& apart) {
    auto next = apart.begin();
    for (std::size_t begin = 0; begin < markdown.size();) {
      const std::size_t end =
          std::min(markdown.find_first_of(kLineEnds, begin), markdown.size() - 1) + 1;
      const std::string_view line = markdown.substr(begin, end - begin);
      if (next != apart.end() && *next == begin) {
        add(join_text(line.substr(0, line.find_first_not_of(" \t>")), '\n'));
        ++next;
      }
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
    const auto after = std::ranges::upper_bound(added_, place, {}, &Added::end);
    return after == added_.begin() ? place : place - (after - 1)->sum;
  }

 private:
  struct Added {
    std::size_t end, sum;  ///< in text_; of the bytes that were added up to it
  };

  void add(std::string_view bytes) {
    text_ += bytes;
    added_.push_back({text_.size(), (added_.empty() ? 0 : added_.back().sum) + bytes.size()});
  }

  void widen(std::string_view line) {
    for (std::size_t i = 0; i < line.size(); ++i) {
      text_ += line[i];
      if (line[i] == '-' && (i == 0 || line[i - 1] != '-')) add("--");
    }
  }

  std::string text_;
  std::vector<Added> added_;
};

/// What is particular to a block: the level of a heading, the first number of a list.
std::string described(MD_BLOCKTYPE type, const void* detail) {
  switch (type) {
    case MD_BLOCK_H:
      return join_text("heading ", static_cast<const MD_BLOCK_H_DETAIL*>(detail)->level);
    case MD_BLOCK_UL:
      return join_text("list ", static_cast<const MD_BLOCK_UL_DETAIL*>(detail)->mark);
    case MD_BLOCK_OL: {
      const auto& list = *static_cast<const MD_BLOCK_OL_DETAIL*>(detail);
      return join_text("list ", list.start, list.mark_delimiter);
    }
    case MD_BLOCK_LI:
      return static_cast<const MD_BLOCK_LI_DETAIL*>(detail)->is_task != 0 ? "task" : "item";
    case MD_BLOCK_CODE: {
      const MD_ATTRIBUTE& info = static_cast<const MD_BLOCK_CODE_DETAIL*>(detail)->info;
      return join_text("code ", std::string_view(info.text, info.size), '\n');
    }
    case MD_BLOCK_TH:
    case MD_BLOCK_TD:
      return join_text("cell ", static_cast<const MD_BLOCK_TD_DETAIL*>(detail)->align);
    default:
      return join_text("block ", static_cast<int>(type), '\n');
  }
}

struct ParsedMarkdown {
  std::vector<MarkdownBlock> blocks = {};
  std::vector<std::string> structure = {};  ///< each beginning and end of a block
  std::vector<std::string> kept = {};       ///< within them: code, tags, addresses
};

class BlockCollector {
 public:
  /// `apart`: as WidenedMarkdown has it.
  BlockCollector(std::string_view document, const std::vector<std::size_t>& apart)
      : widened_(document, apart) {}

  ParsedMarkdown parsed() {
    MD_PARSER parser{};
    parser.flags = MD_DIALECT_GITHUB;
    parser.enter_block = [](MD_BLOCKTYPE type, void* detail, void* self) {
      return static_cast<BlockCollector*>(self)->begin_block(type, detail);
    };
    parser.leave_block = [](MD_BLOCKTYPE type, void*, void* self) {
      return static_cast<BlockCollector*>(self)->leave_block(type);
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
    return std::move(parsed_);
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
    if (type == MD_SPAN_CODE) parsed_.kept.emplace_back("code ");
    if (type == MD_SPAN_A) {
      const auto& link = *static_cast<const MD_SPAN_A_DETAIL*>(detail);
      link_bytes_ += link.href.size + link.title.size;
      parsed_.kept.push_back(join_text("link ", std::string_view(link.href.text, link.href.size)));
    } else if (type == MD_SPAN_IMG) {
      const auto& image = *static_cast<const MD_SPAN_IMG_DETAIL*>(detail);
      link_bytes_ += image.src.size + image.title.size;
      parsed_.kept.push_back(join_text("image ", std::string_view(image.src.text, image.src.size)));
    }
    if (link_bytes_ > kMostReadings * markdown_.size()) return kTooManyLinks;
    return add({EventKind::Opens, span_of(type)});
  }

  int begin_block(MD_BLOCKTYPE type, const void* detail) {
    end_block();
    is_verbatim_ = type == MD_BLOCK_CODE || type == MD_BLOCK_HTML;
    block_.is_cell = type == MD_BLOCK_TH || type == MD_BLOCK_TD;
    parsed_.structure.push_back(described(type, detail));
    return 0;
  }

  int leave_block(MD_BLOCKTYPE type) {
    end_block();
    is_verbatim_ = false;
    parsed_.structure.push_back(join_text("end ", static_cast<int>(type)));
    return 0;
  }

  void end_block() {
    if (!block_.events.empty()) parsed_.blocks.push_back(std::move(block_));
    block_ = {.earliest = end_};
  }

  int add(MarkdownEvent event) {
    if (!is_verbatim_) block_.events.push_back(event);
    return 0;
  }

  int add_text(MD_TEXTTYPE type, std::string_view text) {
    if (is_verbatim_)
      parsed_.structure.back() += text;
    else if (type == MD_TEXT_CODE)
      parsed_.kept.back() += text;
    else if (type == MD_TEXT_HTML)
      parsed_.kept.emplace_back(text);
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
  ParsedMarkdown parsed_;
  MarkdownBlock block_;
  std::size_t end_ = 0;  // of the last text
  std::size_t link_bytes_ = 0;
  bool is_verbatim_ = false;
};

ParsedMarkdown parsed(std::string_view markdown) {
  ParsedMarkdown parsed = BlockCollector(markdown, {}).parsed();
  const std::vector<std::size_t> heads = heads_within_paragraphs(markdown, parsed.blocks);
  return heads.empty() ? parsed : BlockCollector(markdown, heads).parsed();
}

}  // namespace

std::vector<MarkdownBlock> markdown_blocks(std::string_view markdown) {
  return parsed(markdown).blocks;
}

std::vector<std::string> markdown_structure(std::string_view markdown) {
  constexpr std::string_view kWritable = "@#:";  // of marks that a translation may have, too
  const MaskedMarkdown masked = masked_markdown(markdown);
  ParsedMarkdown all = parsed(masked.text);
  for (const MaskedMarkdown::Label& label : masked.labels) {
    const std::string_view text = label.place.of(markdown);
    if (kWritable.find(text[0]) == std::string_view::npos)
      all.kept.push_back(join_text(text.starts_with("http") ? "link " : "", text));
  }
  std::ranges::sort(all.kept);
  std::ranges::move(all.kept, std::back_inserter(all.structure));
  return std::move(all.structure);
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
    const std::size_t url_end = place_;
    skip_blanks();
    ByteRange title;
    if (place_ > url_end && !at(')')) {
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
  // Keeps many links that never end from taking quadratic time.
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
