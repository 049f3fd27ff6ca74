#include "extras/markup/markdown_link.h"

#include <algorithm>
#include <optional>

namespace dragoman {

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
    if (title.of(text_).find_first_of("\r\n") != std::string_view::npos) title = {};
    return MarkdownLinkTail{.end = place_ + 1, .title = title};
  }

 private:
  // So that many that never end take no quadratic time.
  static constexpr std::size_t kLongest = 10'000;

  bool at(char c) const { return place_ < text_.size() && text_[place_] == c; }

  /// Line ends may have the marks of quotes behind them.
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

/// The end of "[label]"; nothing where there is none.
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
