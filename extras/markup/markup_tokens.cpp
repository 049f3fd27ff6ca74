#include "extras/markup/markup_tokens.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>
#include <optional>
#include <span>
#include <unordered_map>
#include <utility>

#include "base/utf8.h"
#include "extras/markup/template_marks.h"
#include "tokenizer/translatable.h"

namespace dragoman {

// ---- passages -----------------------------------------------------------------------------------

namespace {

using Kind = MarkupToken::Kind;

std::size_t number_length(std::string_view text) {
  const bool is_hex = text.starts_with("&#x") || text.starts_with("&#X");
  const char* const last = text.data() + text.size();
  std::uint32_t number = 0;
  const auto [end, fault] =
      std::from_chars(text.data() + (is_hex ? 3 : 2), last, number, is_hex ? 16 : 10);
  // HTML reads these as characters of Windows-1252.
  const bool is_sign = number >= 0x80 && number <= 0x9F;
  if (fault != std::errc() || is_sign || !is_space(number)) return 0;
  return static_cast<std::size_t>(end - text.data()) + (end != last && *end == ';' ? 1 : 0);
}

/// The length of the reference to white space that a text begins with (&nbsp;, &#160;, &#xA0;); 0:
/// it begins with none. In HTML numbers and "nbsp" need no semicolon.
std::size_t space_reference_length(std::string_view text) {
  // A name that is the beginning of another one stands after it.
  static constexpr std::array<std::string_view, 17> kNames = {
      "&nbsp;",      "&nbsp",    "&NonBreakingSpace;", "&Tab;",         "&NewLine;",   "&ensp;",
      "&emsp;",      "&emsp13;", "&emsp14;",           "&numsp;",       "&puncsp;",    "&thinsp;",
      "&ThinSpace;", "&hairsp;", "&VeryThinSpace;",    "&MediumSpace;", "&ThickSpace;"};
  if (text.starts_with("&#")) return number_length(text);
  for (const std::string_view name : kNames)
    if (text.starts_with(name)) return name.size();
  return 0;
}

constexpr std::string_view kBlanks(" \t\n\r\f\0", 6);

bool is_blank(char c) { return kBlanks.find(c) != std::string_view::npos; }

/// Line ends and what surrounds them are one blank each; other blanks stay. At the start of a
/// passage, and after a blank of the text before, there are none.
void append_text(std::string& text, std::string_view more) {
  if (text.empty() || text.ends_with(' '))
    more.remove_prefix(std::min(more.find_first_not_of(kBlanks), more.size()));
  while (!more.empty()) {
    const std::size_t length = std::min(more.find_first_not_of(kBlanks), more.size());
    if (length > 0) {
      const std::string_view blanks = more.substr(0, length);
      const bool is_plain = blanks.find_first_not_of(' ') == std::string_view::npos;
      text += is_plain ? blanks : " ";
    }
    more.remove_prefix(length);
    const std::size_t word = std::min(more.find_first_of(kBlanks), more.size());
    text += more.substr(0, word);
    more.remove_prefix(word);
  }
}

/// White space at the ends of a text, which HTML and XML may write as references.
enum class References { None, Read };

std::size_t lead_of(std::string_view text, References references = References::None) {
  std::string_view rest = strip_left(text);
  while (references == References::Read) {
    const std::size_t length = space_reference_length(rest);
    if (length == 0) break;
    rest = strip_left(rest.substr(length));
  }
  return text.size() - rest.size();
}

std::size_t trail_of(std::string_view text, References references = References::None) {
  std::string_view rest = strip(text);
  while (references == References::Read) {
    const std::size_t last = rest.rfind('&');
    if (last == std::string_view::npos || rest.substr(0, last).ends_with('\\'))
      break;  // there is none, or Markdown escapes it
    if (last + space_reference_length(rest.substr(last)) != rest.size()) break;
    rest = strip(rest.substr(0, last));
  }
  return static_cast<std::size_t>(text.data() + text.size() - (rest.data() + rest.size()));
}

References references_of(Writing writing) {
  return writing == Writing::SrtText || writing == Writing::PoString ? References::None
                                                                     : References::Read;
}

/// The lines of a text without their ends: line feed, carriage return, both, or NUL.
std::vector<ByteRange> lines_of(std::string_view text) {
  constexpr std::string_view kLineEnds("\n\r\0", 3);
  std::vector<ByteRange> lines;
  for (std::size_t begin = 0;;) {
    const std::size_t end = std::min(text.find_first_of(kLineEnds, begin), text.size());
    lines.push_back({begin, end});
    if (end == text.size()) return lines;
    begin = end + (text.substr(end).starts_with("\r\n") ? 2 : 1);
  }
}

/// Tokens between two that split.
class Stretch {
 public:
  Stretch(std::string_view document, std::span<const MarkupToken> tokens)
      : document_(document),
        tokens_(tokens),
        partners_(tokens.size(), InlineTag::kNone),
        next_texts_(tokens.size()) {}

  std::optional<Passage> passage(Writing writing) {
    if (!find_text()) return std::nullopt;
    find_partners();
    find_next_texts();
    take_in_partners();
    return build(writing);
  }

 private:
  static bool has_text(const MarkupToken& token) {
    return (token.kind == Kind::Text || token.kind == Kind::Kept) &&
           strip(token.text).find_first_not_of(kBlanks) != std::string_view::npos;
  }

  bool find_text() {
    bool speaks = false;
    for (std::size_t t = 0; t < tokens_.size(); ++t) {
      if (!has_text(tokens_[t])) continue;
      if (end_ == 0) begin_ = t;
      end_ = t + 1;
      speaks = speaks || (tokens_[t].kind == Kind::Text && has_letter_or_digit(tokens_[t].text));
    }
    return speaks;
  }

  void find_partners() {
    std::vector<std::size_t> open;
    std::unordered_map<std::string_view, std::vector<std::size_t>> open_of;  // by name
    for (std::size_t t = 0; t < tokens_.size(); ++t) {
      const std::string_view name = tokens_[t].name;
      if (tokens_[t].kind == Kind::Opens) {
        open.push_back(t);
        open_of[name].push_back(t);
      }
      if (tokens_[t].kind != Kind::Closes) continue;
      const auto found = open_of.find(name);
      if (found == open_of.end() || found->second.empty()) continue;
      const std::size_t partner = found->second.back();
      partners_[t] = partner;
      partners_[partner] = t;
      // Elements that were opened within this one end with it.
      for (std::size_t last = tokens_.size(); last != partner;) {
        last = open.back();
        open.pop_back();
        open_of[tokens_[last].name].pop_back();
      }
    }
  }

  /// The tags of an element that has text inside and outside belong to the passage.
  void take_in_partners() {
    while (true) {
      std::size_t first = begin_, last = end_;
      for (std::size_t t = begin_; t < end_; ++t) {
        if (partners_[t] == InlineTag::kNone) continue;
        first = std::min(first, partners_[t]);
        last = std::max(last, partners_[t] + 1);
      }
      if (first == begin_ && last == end_) return;
      begin_ = first;
      end_ = last;
    }
  }

  void find_next_texts() {
    std::size_t next = tokens_.size();
    for (std::size_t t = tokens_.size(); t-- > 0;) {
      next_texts_[t] = next;
      if (tokens_[t].kind == Kind::Text || tokens_[t].kind == Kind::Divides) next = t;
    }
  }

  Passage build(Writing writing) const {
    Passage passage{.source = {tokens_[begin_].source.begin, tokens_[end_ - 1].source.end},
                    .text = {},
                    .writing = writing};
    const References references = references_of(writing);
    if (tokens_[begin_].kind == Kind::Text)
      passage.source.begin += lead_of(tokens_[begin_].source.of(document_), references);
    if (tokens_[end_ - 1].kind == Kind::Text)
      passage.source.end -= trail_of(tokens_[end_ - 1].source.of(document_), references);
    std::vector<std::size_t> numbers(tokens_.size(), InlineTag::kNone);  // of tags
    for (std::size_t t = begin_; t < end_; ++t) {
      if (tokens_[t].kind != Kind::Text) {
        numbers[t] = passage.tags.size();
        passage.tags.push_back(tag_at(t, passage.text));
      } else {
        passage.apostrophes = tokens_[t].apostrophes;
      }
      append_text(passage.text, tokens_[t].kind == Kind::Divides ? " " : tokens_[t].text);
      if (tokens_[t].kind == Kind::Kept)
        passage.tags.back().text = without_blanks(passage.text, passage.tags.back().text.begin);
    }
    for (std::size_t t = begin_; t < end_; ++t)
      if (partners_[t] != InlineTag::kNone && numbers[t] != InlineTag::kNone)
        passage.tags[numbers[t]].partner = numbers[partners_[t]];
    trim(passage);
    return passage;
  }

  /// The end of a text from an offset on, without blanks around it.
  static ByteRange without_blanks(std::string_view text, std::size_t begin) {
    const std::size_t end = text.size() - trail_of(text.substr(begin));
    return {begin + lead_of(text.substr(begin, end - begin)), end};
  }

  InlineTag tag_at(std::size_t t, const std::string& text) const {
    if (tokens_[t].kind == Kind::Divides)
      return {.source = tokens_[t].source,
              .text = {text.size(), text.size()},
              .keeps_order = true,
              .divides = true};
    const bool is_half = tokens_[t].kind == Kind::Opens || tokens_[t].kind == Kind::Closes;
    // A tag that touches no word at the one end of its passage would touch none elsewhere.
    const std::size_t next = next_texts_[t];
    const bool ends = next >= end_;
    const bool is_blank_next =
        !ends && (tokens_[next].kind == Kind::Divides || is_blank(tokens_[next].text.c_str()[0]));
    const bool blank_before = text.empty() ? is_blank_next : text.ends_with(' ');
    return {.source = tokens_[t].source,
            .text = {text.size(), text.size()},
            .keeps_order = is_half && partners_[t] == InlineTag::kNone,
            .blank_before = !is_half && blank_before,
            .blank_after = !is_half && (ends ? blank_before : is_blank_next),
            .argument = tokens_[t].argument,
            .takes_number = tokens_[t].takes_number};
  }

  /// The text has no white space at its ends, and no tag beyond.
  void trim(Passage& passage) const {
    std::string& text = passage.text;
    const std::size_t lead = lead_of(text), trail = trail_of(text.substr(lead));
    if (tokens_[begin_].kind != Kind::Text) passage.space_before = kept_space(text.substr(0, lead));
    if (tokens_[end_ - 1].kind != Kind::Text)
      passage.space_after = kept_space(text.substr(text.size() - trail));
    text = text.substr(lead, text.size() - lead - trail);
    const auto moved = [&](std::size_t place) {
      return std::min(place - std::min(place, lead), text.size());
    };
    for (InlineTag& tag : passage.tags) tag.text = {moved(tag.text.begin), moved(tag.text.end)};
  }

  /// Blanks at the ends of an element mean nothing.
  static std::string kept_space(const std::string& space) {
    return space.find_first_not_of(kBlanks) == std::string::npos ? "" : space;
  }

  const std::string_view document_;
  const std::span<const MarkupToken> tokens_;
  std::vector<std::size_t> partners_;
  std::vector<std::size_t> next_texts_;  // the texts or line ends after each token
  std::size_t begin_ = 0, end_ = 0;      // the tokens of the passage
};

}  // namespace

std::vector<Passage> passages_of(std::string_view document, const std::vector<MarkupToken>& tokens,
                                 Writing writing) {
  std::vector<Passage> passages;
  const std::span all(tokens);
  for (std::size_t begin = 0; begin < tokens.size();) {
    std::size_t end = begin;
    while (end < tokens.size() && tokens[end].kind != Kind::Splits) ++end;
    if (auto passage = Stretch(document, all.subspan(begin, end - begin)).passage(writing))
      passages.push_back(std::move(*passage));
    begin = end + 1;
  }
  for (const MarkupToken& token : tokens)
    for (const MarkupToken::Attribute& attribute : token.attributes) {
      if (!attribute.tokens.empty()) {
        const std::vector<Passage> parts =
            passages_of(document, attribute.tokens, attribute.writing);
        passages.insert(passages.end(), parts.begin(), parts.end());
        continue;
      }
      std::string text;
      append_text(text, attribute.text);
      while (text.ends_with(' ')) text.pop_back();
      if (has_letter_or_digit(text))
        passages.push_back(
            {.source = attribute.source, .text = std::move(text), .writing = attribute.writing});
    }
  std::ranges::stable_sort(passages, {},
                           [](const Passage& passage) { return passage.source.begin; });
  return passages;
}

std::vector<MarkupToken> split_at_line_ends(std::string_view document,
                                            std::vector<MarkupToken> tokens) {
  std::vector<MarkupToken> split;
  for (MarkupToken& token : tokens) {
    const std::vector<ByteRange> source = lines_of(token.source.of(document));
    const std::vector<ByteRange> text = lines_of(token.text);
    // A line end that is written as an entity is not a line end of the document.
    if (token.kind != Kind::Text || source.size() != text.size()) {
      split.push_back(std::move(token));
      continue;
    }
    for (std::size_t l = 0; l < source.size(); ++l) {
      const std::size_t offset = token.source.begin;
      if (l > 0)
        split.push_back({.kind = Kind::Splits,
                         .source = {offset + source[l - 1].end, offset + source[l].begin}});
      if (!source[l].empty())
        split.push_back({.kind = Kind::Text,
                         .source = {offset + source[l].begin, offset + source[l].end},
                         .text = std::string(text[l].of(token.text)),
                         .apostrophes = token.apostrophes});
    }
  }
  return split;
}

// ---- texts that are not documents ---------------------------------------------------------------

namespace {

// Each of the next four functions stops at a character that might begin another tag or sequence of
// its kind, so no byte is looked at for two beginnings of a kind.

/// `<b>`, `</font>`, `<a href="x">`; 0 if there is none.
std::size_t tag_length(std::string_view text) {
  if (!text.starts_with('<')) return 0;
  const std::size_t name = text.starts_with("</") ? 2 : 1;
  if (name >= text.size() || !is_ascii_letter(text[name])) return 0;
  const std::size_t end = text.find_first_of("<>", name);
  return end == std::string_view::npos || text[end] == '<' ? 0 : end + 1;
}

/// {\an8}.
std::size_t position_length(std::string_view text) {
  if (!text.starts_with("{\\")) return 0;
  const std::size_t end = text.find_first_of("{}", 1);
  return end == std::string_view::npos || text[end] == '{' ? 0 : end + 1;
}

/// The time of a word in a cue of WebVTT: <00:01.500>.
std::size_t word_time_length(std::string_view text) {
  if (text.size() < 2 || text[0] != '<' || !is_ascii_digit(text[1])) return 0;
  const std::size_t end = text.find_first_not_of("0123456789:.", 1);
  return end != std::string_view::npos && text[end] == '>' ? end + 1 : 0;
}

/// A control character, or a terminal's sequence: ESC[1m.
std::size_t control_length(std::string_view text) {
  const char first = text.front();
  if (static_cast<unsigned char>(first) >= ' ' || first == '\t' || first == '\n' || first == '\r')
    return 0;
  if (!text.starts_with("\x1b[")) return 1;
  const std::size_t end = text.find_first_not_of("0123456789;", 2);
  return end < text.size() && is_ascii_letter(text[end]) ? end + 1 : 1;
}

MarkupToken tag_token(std::string_view tag) {
  const bool ends = tag.starts_with("</");
  const std::size_t begin = ends ? 2 : 1;
  const std::size_t end =
      std::find_if_not(tag.begin() + static_cast<std::ptrdiff_t>(begin), tag.end(), is_of_name) -
      tag.begin();
  std::string name = ascii_lower(tag.substr(begin, end - begin));
  const bool is_single = tag.ends_with("/>") || name == "br" || name == "img" || name == "hr";
  return {.kind = is_single ? Kind::Single
                  : ends    ? Kind::Closes
                            : Kind::Opens,
          .source = {},
          .name = std::move(name)};
}

/// The directive of a format with the letters that follow it; or a placeholder of any kind.
FormatDirective placeholder_at(std::string_view text, std::size_t offset,
                               const FormatSyntaxes& formats) {
  using enum FormatDirective::Argument;
  FormatDirective directive = format_directive(formats, text, offset);
  // In Java's formats a text in quotes is a directive, but its text is for people.
  if (directive.length > 0 && (directive.argument != None || text[offset] != '\'')) {
    const std::size_t end = offset + directive.length;
    if (directive.argument != None && is_ascii_letter(text[end - 1]))
      directive.length = end_of_ascii_letters(text, end) - offset;
    return directive;
  }
  const std::size_t length = placeholder_length(text, offset);
  const bool takes_next = takes_next_argument(text.substr(offset, length));
  return {.length = length, .argument = takes_next ? Next : Named};
}

/// What a model sees of a placeholder: "{0}" of "{0,number,integer}", whose words it would
/// translate.
std::string short_placeholder(std::string_view placeholder) {
  const std::size_t end = placeholder.find_first_of(",:!");
  const bool is_named = placeholder.starts_with('{') && end != std::string_view::npos && end > 1;
  return is_named ? join_text(placeholder.substr(0, end), '}') : std::string(placeholder);
}

}  // namespace

std::vector<MarkupToken> text_tokens(std::string_view text, AlsoKept also,
                                     const FormatSyntaxes& formats) {
  std::vector<MarkupToken> tokens, marks;
  if (also == AlsoKept::Placeholders && formats.empty()) marks = template_marks(text);
  // A mark may stand within a tag.
  const std::string plain = without_marks(std::string(text), marks);
  auto mark = marks.begin();
  const auto add = [&](MarkupToken token, std::size_t begin, std::size_t end) {
    if (begin == end) return;
    token.source = {begin, end};
    if (token.kind == Kind::Text) token.text = text.substr(begin, end - begin);
    if (token.kind == Kind::Kept) token.text = short_placeholder(text.substr(begin, end - begin));
    tokens.push_back(std::move(token));
  };
  std::size_t begin = 0, place = 0, argument = 0;
  while (place < text.size()) {
    while (mark != marks.end() && mark->source.begin < place) ++mark;
    if (mark != marks.end() && mark->source.begin == place) {
      add({.kind = Kind::Text, .source = {}}, begin, place);
      begin = mark->source.end;
      add(*mark, place, begin);
      place = begin;
      continue;
    }
    const std::string_view rest = text.substr(place);
    const std::size_t tag = tag_length(std::string_view(plain).substr(place));
    const std::size_t time = also == AlsoKept::Positions ? word_time_length(rest) : 0;
    const std::size_t single =
        also == AlsoKept::Positions ? position_length(rest) : control_length(rest);
    const FormatDirective placeholder =
        also == AlsoKept::Placeholders ? placeholder_at(text, place, formats) : FormatDirective{};
    const std::size_t length = std::max({tag, time, single, placeholder.length});
    if (length == 0) {
      ++place;
      continue;
    }
    add({.kind = Kind::Text, .source = {}}, begin, place);
    begin = place + length;
    if (tag > 0)
      add(tag_token(rest.substr(0, tag)), place, begin);
    else if (time > 0)  // what begins here ends nowhere, so it keeps its order
      add({.kind = Kind::Opens, .source = {}, .name = "<time>"}, place, begin);
    else if (single > 0)
      add({.kind = Kind::Single, .source = {}}, place, begin);
    else
      add({.kind = Kind::Kept,
           .source = {},
           .argument = placeholder.argument == FormatDirective::Argument::Next ? ++argument : 0,
           .takes_number = placeholder.takes_number},
          place, begin);
    place = begin;
  }
  add({.kind = Kind::Text, .source = {}}, begin, text.size());
  return tokens;
}

KeptParts kept_parts(std::string_view text, const FormatSyntaxes& formats) {
  KeptParts all;
  for (const MarkupToken& token : text_tokens(text, AlsoKept::Placeholders, formats)) {
    if (token.kind == Kind::Text) continue;
    (token.name.empty() ? all.placeholders : all.tags).push_back(token.source.of(text));
  }
  std::ranges::sort(all.tags);
  std::ranges::sort(all.placeholders);
  return all;
}

}  // namespace dragoman
