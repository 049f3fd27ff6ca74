#include "markup/markdown_masks.h"

#include <algorithm>
#include <cstddef>

#include "base/utf8.h"

namespace dragoman {

namespace {

constexpr std::string_view kLineEnds = "\r\n";

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
      mask_line({place, end});
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

  /// YAML between lines of "---", TOML between lines of "+++"; returns its end.
  std::size_t mask_front_matter(std::size_t place) {
    const std::string_view fence = line({place, line_end(place)});
    if (fence != "---" && fence != "+++") return place;
    for (std::size_t begin = line_end(place); begin < masked_.text.size();) {
      const std::size_t end = line_end(begin + 1);
      if (line({begin + 1, end}) == fence) return blank({place, end}), end;
      begin = end;
    }
    return place;
  }

  void mask_line(const ByteRange& range) {
    const std::string_view text = line(range);
    const std::size_t lead = std::min(text.find_first_not_of(" \t"), text.size());
    if (lead == text.size()) {
      is_after_blank_ = true;
      return;
    }
    const bool is_deep = lead >= 4 || text.starts_with('\t');
    if (in_footnote_ && is_after_blank_ && is_deep) masked_.text[range.begin] = '>';
    if (is_after_blank_ && !is_deep) in_footnote_ = false;
    is_after_blank_ = false;
    mask_labels(range, lead < 4 ? lead : text.size());
  }

  void mask_labels(const ByteRange& range, std::size_t lead) {
    const std::string_view text = line(range);
    for (std::size_t at = text.find('['); at != std::string_view::npos;
         at = text.find('[', at + 1)) {
      const std::string_view rest = text.substr(at);
      std::size_t length = label_length(rest);
      if (length == 0) continue;
      const bool defines = rest[1] == '^' && at == lead && rest.substr(length).starts_with(':');
      if (rest[1] == '!' && !is_alert(text, at, length)) continue;
      if (defines) ++length, in_footnote_ = true;
      const std::size_t begin = range.begin + at;
      masked_.text.replace(begin, length, length, '.');
      masked_.labels.push_back(
          {.place = {begin, begin + length}, .begins_block = defines || rest[1] == '!'});
    }
  }

  /// [^1], [!NOTE].
  static std::size_t label_length(std::string_view text) {
    constexpr std::size_t kLongest = 200;
    if (!text.starts_with("[^") && !text.starts_with("[!")) return 0;
    const std::size_t end = text.substr(0, kLongest).find_first_of("[] \t`", 2);
    return end == std::string_view::npos || text[end] != ']' || end == 2 ? 0 : end + 1;
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
  bool in_footnote_ = false, is_after_blank_ = true;
};

}  // namespace

MaskedMarkdown masked_markdown(std::string_view markdown) { return Masker(markdown).masked(); }

}  // namespace dragoman
