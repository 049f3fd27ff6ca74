#include "extras/markup/markdown_masks.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <utility>

#include "base/utf8.h"

namespace dragoman {

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
/// and does not look further behind one that another begins with: "th" hides "thead".
/// Each stands beside one that is as long, and that md4c finds.
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

  /// The blanks at its end are no part of a fence.
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

  /// A quote's first line is the label alone.
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

}  // namespace dragoman
