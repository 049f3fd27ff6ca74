#include "extras/markup/writing.h"

#include <algorithm>
#include <utility>

#include "base/formatted_text.h"
#include "base/utf8.h"
#include "extras/markup/markdown_syntax.h"
#include "extras/markup/markup_tokens.h"
#include "extras/markup/template_marks.h"

namespace dragoman {

namespace {

constexpr std::string_view kNoBreakSpace = "\u00A0";

/// Whether a blank stands at an offset, or the text ends.
bool blank_at(std::string_view text, std::size_t offset) {
  return offset >= text.size() || text[offset] == ' ' || text[offset] == '\n';
}

/// The byte at an offset as a reference if it is one of `signs`, or a "{" that would begin a mark
/// of a template.
std::string written_byte(std::string_view text, std::size_t offset, std::string_view signs,
                         char after) {
  const bool is_mark = text[offset] == '{' && begins_mark(text, offset, after);
  return with_references(text.substr(offset, 1), is_mark ? "{" : signs);
}

std::string written_bytes(std::string_view text, std::string_view signs, char after) {
  std::string written;
  for (std::size_t i = 0; i < text.size(); ++i) written += written_byte(text, i, signs, after);
  return written;
}

std::string html_text(std::string_view text, const BareSigns& bare, char after) {
  std::string written;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool ends_section = written.ends_with("]]");  // of CDATA
    const bool is_bare = (text[i] == '&' && bare.ampersand && blank_at(text, i + 1)) ||
                         (text[i] == '>' && bare.greater && !ends_section);
    if (text.substr(i).starts_with(kNoBreakSpace))
      written += "&nbsp;", ++i;
    else
      written += written_byte(text, i, is_bare ? "" : "&<>", after);
  }
  return written;
}

std::string html_attribute(std::string_view text, std::string_view source) {
  const std::string quote = source.starts_with('\'') ? "'" : "\"";
  return quote + written_bytes(text, "&<" + quote, 0) + quote;
}

std::string xml_text(std::string_view text, char after) {
  std::string written = written_bytes(text, "&<>", after);
  std::erase_if(written, [](unsigned char c) { return c < ' '; });  // not in XML
  return written;
}

/// A section cannot have its own end in it, and it has no references: it ends within such signs,
/// and another one begins.
std::string cdata_text(std::string_view text, char after) {
  std::string written;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (static_cast<unsigned char>(text[i]) < ' ') continue;
    written += text[i];
    const bool ends_section = written.ends_with("]]") && text.substr(i).starts_with("]>");
    if (begins_mark(text, i, after) || ends_section) written += "]]><![CDATA[";
  }
  return written;
}

/// As aapt reads it: signs with a backslash mean themselves.
std::string android_text(std::string_view text, char after) {
  std::string written;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool is_reference = i == 0 && (text[i] == '@' || text[i] == '?');
    if (is_reference || std::string_view("\\'\"").find(text[i]) != std::string_view::npos)
      written += '\\';
    written += text[i];
  }
  return xml_text(written, after);
}

// ---- Markdown -----------------------------------------------------------------------------------

bool is_one_of(char c, std::string_view any) { return any.find(c) != std::string_view::npos; }
/// White space, or an end.
bool is_blank_or_end(char c) { return c == ' ' || c == '\n' || c == '\r' || c == '\t' || c == 0; }
/// A byte of a word, or of any character outside of ASCII.
bool is_word(char c) {
  return is_ascii_letter(c) || is_ascii_digit(c) || static_cast<unsigned char>(c) >= 0x80;
}

/// The length of the mark that a line begins with: of a quote, a list, a task or a footnote, or a
/// blank. 0: it begins with none.
std::size_t mark_length(std::string_view line) {
  if (is_one_of(line[0], " \t>")) return 1;
  if (const std::size_t footnote = footnote_begin_length(line)) return footnote;
  const std::size_t digits = std::min(line.find_first_not_of(kAsciiDigits), line.size());
  const bool is_number = digits > 0 && digits < line.size() && is_one_of(line[digits], ".)");
  const bool is_task = line.size() > 2 && line[0] == '[' && line[2] == ']';
  if (!is_number && !is_task && !is_one_of(line[0], "-+*")) return 0;
  const std::size_t mark = is_number ? digits + 1 : is_task ? 3 : 1;
  return mark < line.size() && is_blank_or_end(line[mark]) ? mark : 0;
}

/// Whether the last line of a text has only marks.
bool begins_line(std::string_view before) {
  constexpr std::size_t kLongest = 1'000;
  const std::size_t earliest = before.size() - std::min(before.size(), kLongest);
  const std::size_t end = before.substr(earliest).find_last_of("\r\n");
  if (end == std::string_view::npos && earliest > 0) return false;
  std::string_view line = before.substr(end == std::string_view::npos ? 0 : earliest + end + 1);
  while (!line.empty()) {
    const std::size_t mark = mark_length(line);
    if (mark == 0) return false;
    line.remove_prefix(mark);
  }
  return true;
}

bool looks_like_entity(std::string_view text) {
  constexpr std::size_t kLongest = 50;
  const std::size_t end = text.substr(0, kLongest).find(';');
  if (end == std::string_view::npos || end < 2) return false;
  return std::all_of(text.begin() + 1, text.begin() + static_cast<std::ptrdiff_t>(end),
                     [](char c) { return is_ascii_letter(c) || is_ascii_digit(c) || c == '#'; });
}

class TextWriter {
 public:
  TextWriter(std::string_view text, Writing writing, const WritingPlace& place)
      : before_(place.before.empty() ? '\n' : place.before.back()),
        after_(place.after),
        is_cell_(writing == Writing::MarkdownCell),
        begins_line_(begins_line(place.before)),
        // More blanks would move the lines below out of their item of a list.
        text_(text.substr(begins_line_ ? std::min(text.find_first_not_of(' '), text.size()) : 0)) {}

  std::string written() {
    std::string written;
    const std::size_t escaped = begins_line_ ? sign_at_line_begin() : text_.size();
    for (std::size_t i = 0; i < text_.size(); ++i) {
      const bool is_sign = i == escaped || is_read(i);
      // Not all readers of tables see that a line's only "|" has a backslash.
      const bool is_bar = is_sign && text_[i] == '|' && !is_cell_;
      if (is_sign && !is_bar) written += '\\';
      written += is_bar ? std::string_view("&#124;") : text_.substr(i, 1);
    }
    return written;
  }

 private:
  char at(std::size_t i) const { return i < text_.size() ? text_[i] : after_; }
  char before(std::size_t i) const { return i > 0 ? text_[i - 1] : before_; }

  /// The place of the sign that Markdown would read because it stands at the beginning of a line;
  /// the end of the text if there is none.
  std::size_t sign_at_line_begin() const {
    if (text_.empty()) return 0;
    const std::size_t digits = std::min(text_.find_first_not_of(kAsciiDigits), text_.size());
    const bool is_number = digits > 0 && digits < text_.size() && is_one_of(text_[digits], ".)") &&
                           is_blank_or_end(at(digits + 1));
    if (is_number) return digits;
    const char c = text_[0], next = at(1);
    const std::size_t hashes = std::min(text_.find_first_not_of('#'), text_.size());
    const bool is_sign = (c == '+' && is_blank_or_end(next)) || (c == '-' && !is_word(next)) ||
                         c == '=' || c == '>' || (c == '|' && !is_cell_) || c == '_' ||
                         (c == '*' && is_blank_or_end(next)) ||
                         (c == ':' && (next == '-' || next == ' ' || text_.starts_with(":::"))) ||
                         text_.starts_with("$$") || text_.starts_with("!!! ") ||
                         text_.starts_with("???") || (hashes > 0 && is_blank_or_end(at(hashes)));
    return is_sign ? 0 : text_.size();
  }

  static bool begins_link(std::string_view before) {
    return before.ends_with("http") || before.ends_with("https") || before.ends_with("ftp");
  }

  /// Whether Markdown would read the sign at a place as its own.
  bool is_read(std::size_t i) const {
    const char c = text_[i], next = at(i + 1), last = before(i);
    const bool stands_alone = is_blank_or_end(last) && is_blank_or_end(next);
    switch (c) {
      case '`':
      case '[':
      case ']':
        return true;
      case '|':  // at the end of a line it may begin a table with the line below
        return is_cell_ || last == '\\' ||
               (is_blank_or_end(after_) &&
                text_.find_first_not_of(' ', i + 1) == std::string_view::npos);
      case '^':
        return last == '[';  // of a link
      case '\\':
        return next == 0 || is_one_of(next, kMarkdownSigns);
      case '<':
        return is_ascii_letter(next) || is_one_of(next, "/!?%");
      case '*':
      case '~':
        return !stands_alone;
      case '_':
        return !stands_alone && !(is_word(last) && is_word(next));
      case '!':
        return i + 1 == text_.size() && after_ == '[';
      case '(':
        return i == 0 && last == ']';  // of a footnote or a link to a page
      case ':':
        return (i == 0 && last == ']') ||
               (text_.substr(i).starts_with("://") && begins_link(text_.substr(0, i)));
      case '.':
        return text_.substr(0, i).ends_with("www");
      case '{':
        return last == '{' || !is_blank_or_end(next);
      case '%':
        return last == '{';
      case '$':
        return math_length(text_, i) > 0 || !(stands_alone || is_ascii_digit(next));
      case '&':
        return looks_like_entity(text_.substr(i));
      case '#':  // at the end of a heading
        return last == ' ' && after_ == 0 &&
               text_.find_first_not_of('#', i) == std::string_view::npos;
      default:
        return false;
    }
  }

  const char before_, after_;
  const bool is_cell_, begins_line_;
  const std::string_view text_;
};

std::string markdown_title(std::string_view text, std::string_view source) {
  const char quote = source.empty() ? '"' : source.front();
  std::string written;
  written += quote;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    const bool is_quote = quote == '(' ? c == '(' || c == ')' : c == quote;
    const bool is_escape =
        c == '\\' && (i + 1 == text.size() || is_one_of(text[i + 1], kMarkdownSigns));
    // Code, tags, links and templates bind tighter than the quotes.
    const bool is_sign = is_one_of(c, "`<[]{$|");
    if (is_quote || is_escape || is_sign || (c == '&' && looks_like_entity(text.substr(i))))
      written += '\\';
    written += c;
  }
  written += quote == '(' ? ')' : quote;
  return written;
}

}  // namespace

BareSigns bare_signs(std::string_view html) {
  return {.ampersand = html.find("& ") != std::string_view::npos,
          .greater = html.find(" > ") != std::string_view::npos};
}

std::string po_string(std::string_view text) {
  std::string written;
  for (const char c : text) {
    if (c == '"' || c == '\\') written += '\\';
    if (c == '\n')
      written += "\\n";
    else if (c == '\t')
      written += "\\t";
    else if (c == '\r')
      written += "\\r";
    else if (static_cast<unsigned char>(c) < ' ')
      written += {'\\', '0', static_cast<char>('0' + c / 8), static_cast<char>('0' + c % 8)};
    else
      written += c;
  }
  return written;
}

std::string written_text(std::string_view text, Writing writing, const WritingPlace& place) {
  switch (writing) {
    case Writing::Cdata:
      return cdata_text(text, place.after);
    case Writing::AndroidString:
      return android_text(text, place.after);
    case Writing::HtmlText:
    case Writing::VttText:
      return html_text(text, place.bare, place.after);
    case Writing::HtmlAttribute:
      return html_attribute(text, place.source);
    case Writing::HtmlQuoted:
      return written_bytes(text, "&<\"'", place.after);
    case Writing::XmlText:
      return xml_text(text, place.after);
    case Writing::PoString:
      return po_string(text);
    case Writing::MarkdownTitle:
      return markdown_title(text, place.source);
    case Writing::MarkdownText:
    case Writing::MarkdownCell:
      return TextWriter(text, writing, place).written();
    case Writing::SrtText:
      return std::string(text);
  }
  return {};
}

// ---- Markdown's marks of emphasis ---------------------------------------------------------------

namespace {

enum class Neighbour { Blank, Sign, Word };

Neighbour neighbour_of(char32_t c) {
  if (is_space(c)) return Neighbour::Blank;
  const bool is_sign = c < 0x80 ? is_one_of(static_cast<char>(c), kMarkdownSigns)
                                : general_category(c).starts_with('P');
  return is_sign ? Neighbour::Sign : Neighbour::Word;
}

class MarkPlacer {
 public:
  MarkPlacer(const MarkupDocument& document, const Passage& passage, std::string_view text)
      : document_(document), passage_(passage), text_(text) {}

  std::vector<PlacedTag> placed(const std::vector<PlacedTag>& tags) {
    for (const PlacedTag& placed : tags)
      if (!is_lost_break(placed)) add(placed);
    for (std::size_t t = 0; t < tags_.size(); ++t)
      if (is_mark(tags_[t])) move(t);
    for (const PlacedTag& placed : std::exchange(tags_, {})) add(placed);
    return std::move(tags_);
  }

 private:
  const InlineTag& tag(const PlacedTag& placed) const { return passage_.tags[placed.tag]; }

  std::string_view source(const PlacedTag& placed) const {
    return tag(placed).source.of(document_.bytes);
  }

  bool is_mark(const PlacedTag& placed) const {
    return tag(placed).partner != InlineTag::kNone &&
           source(placed).find_first_not_of("*_~") == std::string_view::npos;
  }

  bool opens(const PlacedTag& placed) const { return placed.tag < tag(placed).partner; }

  bool is_lost_break(const PlacedTag& placed) {
    if (!tag(placed).divides) return false;
    const ByteRange line{last_break_, std::max(last_break_, placed.text.begin)};
    if (strip(line.of(text_)).empty() || strip(text_.substr(placed.text.end)).empty()) return true;
    last_break_ = placed.text.end;
    return false;
  }

  /// Adds the tag; if it ends emphasis that has no text, both marks are left out.
  void add(const PlacedTag& placed) {
    std::size_t first = tags_.size();
    while (first > 0 && tag(tags_[first - 1]).divides) --first;
    const bool is_empty =
        is_mark(placed) && first > 0 && tags_[first - 1].tag == tag(placed).partner &&
        strip(ByteRange{tags_[first - 1].text.begin, placed.text.begin}.of(text_)).empty();
    if (is_empty)
      tags_.erase(tags_.begin() + static_cast<std::ptrdiff_t>(first - 1));
    else
      tags_.push_back(placed);
  }

  std::size_t lowest(std::size_t t) const { return t > 0 ? tags_[t - 1].text.end : 0; }
  std::size_t highest(std::size_t t) const {
    return t + 1 < tags_.size() ? tags_[t + 1].text.begin : text_.size();
  }

  std::size_t step_back(std::size_t place) const { return character_start(text_, place - 1); }

  /// What stands before a place, which is that of tag t.
  Neighbour before(std::size_t t, std::size_t place) const {
    if (place > lowest(t)) {
      std::size_t begin = step_back(place);
      return neighbour_of(next_code_point(text_, begin));
    }
    if (t == 0) return Neighbour::Blank;
    return neighbour_of(static_cast<unsigned char>(source(tags_[t - 1]).back()));
  }

  Neighbour after(std::size_t t, std::size_t place) const {
    if (place < highest(t)) return neighbour_of(next_code_point(text_, place));
    if (t + 1 == tags_.size()) return Neighbour::Blank;
    return neighbour_of(static_cast<unsigned char>(source(tags_[t + 1]).front()));
  }

  /// Moves a mark inwards over signs and blanks, and an underscore outwards to the end of its word.
  void move(std::size_t t) {
    std::size_t place = tags_[t].text.begin;
    const bool opens = this->opens(tags_[t]);
    const auto inner = [&] { return opens ? after(t, place) : before(t, place); };
    const auto outer = [&] { return opens ? before(t, place) : after(t, place); };
    const auto step = [&](bool forward) {
      if (forward ? place >= highest(t) : place <= lowest(t)) return false;
      if (forward)
        next_code_point(text_, place);
      else
        place = step_back(place);
      return true;
    };
    while (inner() == Neighbour::Blank && step(opens)) continue;
    while (inner() == Neighbour::Sign && outer() == Neighbour::Word && step(opens)) continue;
    const bool is_underscore = source(tags_[t]).starts_with('_');
    while (is_underscore && inner() == Neighbour::Word && outer() == Neighbour::Word &&
           step(!opens))
      continue;
    tags_[t].text = {place, place};
  }

  const MarkupDocument& document_;
  const Passage& passage_;
  const std::string_view text_;
  std::vector<PlacedTag> tags_;
  std::size_t last_break_ = 0;
};

}  // namespace

std::vector<PlacedTag> readable_marks(const MarkupDocument& document, const Passage& passage,
                                      std::string_view text, const std::vector<PlacedTag>& tags) {
  return MarkPlacer(document, passage, text).placed(tags);
}

bool is_bare_link(std::string_view tag) {
  return is_word(tag.front()) && tag.find_first_of(" \n") == std::string_view::npos;
}

namespace {

bool is_address_of_mail(std::string_view link) {
  const std::size_t sign = link.find_first_of("@/");
  return sign < link.size() && link[sign] == '@';
}

}  // namespace

bool may_precede_link(std::string_view before, std::string_view link) {
  if (before.empty()) return true;
  const char last = before.back();
  if (is_address_of_mail(link)) return !is_word(last) && !is_one_of(last, "._+-");
  return is_one_of(last, " \t\r\n*_~(") || (link.starts_with("http") && is_one_of(last, "'\""));
}

bool continues_link(std::string_view after, std::string_view link) {
  if (is_address_of_mail(link)) {
    const std::size_t end = std::min(after.find_first_not_of("._-"), after.size());
    return end < after.size() && (is_word(after[end]) || after[end] == '@');
  }
  const std::size_t end = std::min(after.find_first_not_of(".,:;!?'\""), after.size());
  return end < after.size() && after[end] != ' ';
}

bool are_read_as_one(const MarkupDocument& document, const Passage& passage, std::size_t first,
                     std::size_t second) {
  const InlineTag& tag = passage.tags[first];
  const InlineTag& next = passage.tags[second];
  if (!is_markdown_text(passage.writing)) return false;
  const char sign = document.bytes[tag.source.end - 1];
  const char next_sign = document.bytes[next.source.begin];
  if (is_bare_link(tag.source.of(document.bytes))) return !is_one_of(next_sign, "*_~<\r\n \t");
  if (sign != next_sign) return false;
  const bool ends_and_begins = tag.partner < first && next.partner > second;
  return sign == '`' || (ends_and_begins && is_one_of(sign, "*_~"));
}

}  // namespace dragoman
