// Markdown's tokens: md4c finds blocks and spans (markdown_syntax.h), and the marks are found here.

#include "extras/markup/markup_formats.h"

#include <algorithm>
#include <map>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/formatted_text.h"
#include "extras/markup/markdown_syntax.h"
#include "extras/markup/markup_tokens.h"
#include "extras/markup/writing.h"
#include "tokenizer/translatable.h"

namespace dragoman {

namespace {

using Kind = MarkupToken::Kind;
using EventKind = MarkdownEvent::Kind;
using Role = MaskedMarkdown::Label::Role;

std::string decoded_entity(std::string_view entity) {
  std::string text;
  for (const MarkupToken& token : html_tokens(std::string(entity), {})) text += token.text;
  return text;
}

/// Escapes and entities become characters.
std::string decoded_title(std::string_view title) {
  std::string text;
  for (std::size_t i = 0; i < title.size(); ++i) {
    const bool escapes = title[i] == '\\' && i + 1 < title.size() &&
                         kMarkdownSigns.find(title[i + 1]) != std::string_view::npos;
    const std::size_t end = title[i] == '&' ? title.substr(0, i + 50).find(';', i) : title.npos;
    if (end != title.npos) {
      text += decoded_entity(title.substr(i, end + 1 - i));
      i = end;
    } else {
      text += title[escapes ? ++i : i];
    }
  }
  return text;
}

/// A text that is added to the document.
struct Insertion {
  std::size_t place;
  std::string text;
};

struct MarkdownTokens {
  std::vector<MarkupToken> tokens;
  std::vector<Insertion> insertions = {};  ///< in order
};

/// The tokens of a block, from its first to its last. md4c says where texts stand, and which spans
/// begin and end between them; the marks themselves are found here. Nothing if they are not as
/// expected: such a block is left alone.
class BlockReader {
 public:
  BlockReader(const MaskedMarkdown& markdown, const MarkdownBlock& block)
      : masked_(markdown.text),
        original_(markdown.original),
        labels_(markdown.labels),
        events_(block.events),
        earliest_(block.earliest),
        text_writing_(block.is_cell ? Writing::MarkdownCell : Writing::MarkdownText) {}

  std::optional<MarkdownTokens> read() {
    const auto first = std::ranges::find_if(
        events_, [](const MarkdownEvent& event) { return !event.place.empty(); });
    if (first == events_.end()) return std::nullopt;
    const auto marks = static_cast<std::size_t>(first - events_.begin());
    const std::optional<std::size_t> begin = find_begin(marks);
    if (!begin || !read_from(*begin, events_.size())) return std::nullopt;
    return std::move(read_);
  }

 private:
  bool at(std::string_view mark) const { return masked_.compare(place_, mark.size(), mark) == 0; }

  /// The beginning of the block: its first marks end where its first text begins.
  std::optional<std::size_t> find_begin(std::size_t marks) {
    constexpr std::size_t kMostTries = 1'000;
    std::size_t text = events_[marks].place.begin;
    std::size_t least = 0;
    for (std::size_t e = 0; e < marks; ++e)
      if (events_[e].kind == EventKind::Opens)
        least += events_[e].span == MarkdownSpan::Strong || events_[e].span == MarkdownSpan::Image
                     ? 2
                     : 1;
    if (marks == 0) return is_escape(text) ? text - 1 : text;
    const std::size_t latest = text - std::min(least, text - std::min(text, earliest_));
    for (std::size_t tries = 0; tries < kMostTries && latest >= earliest_ + tries; ++tries)
      if (!continues_marks(latest - tries) && read_from(latest - tries, marks + 1))
        return latest - tries;
    return std::nullopt;
  }

  /// Whether the place is within a row of the same marks, whose number counts.
  bool continues_marks(std::size_t place) const {
    return place > earliest_ && masked_[place - 1] == masked_[place] &&
           (masked_[place] == '`' || masked_[place] == '~');
  }

  bool is_escape(std::size_t place) const {
    return place > earliest_ && masked_[place - 1] == '\\';
  }

  bool read_from(std::size_t begin, std::size_t events) {
    read_ = {};
    open_.clear();
    html_.clear();
    place_ = begin;
    next_ = 0;
    while (next_ < events)
      if (!read_event()) return false;
    return true;
  }

  bool read_event() {
    const MarkdownEvent& event = events_[next_++];
    switch (event.kind) {
      case EventKind::Text:
      case EventKind::Entity:
        return read_text(event);
      case EventKind::Html:
        return read_html(event.place);
      case EventKind::SoftBreak:
        return read_break(Kind::Divides);
      case EventKind::HardBreak:
        return read_break(Kind::Splits);
      case EventKind::Opens:
        return read_opening(event.span);
      case EventKind::Closes:
        return read_closing(event.span);
    }
    return false;
  }

  void push(Kind kind, std::size_t end, std::string name = {}, std::string text = {}) {
    read_.tokens.push_back(
        {.kind = kind, .source = {place_, end}, .name = std::move(name), .text = std::move(text)});
    place_ = end;
  }

  // ---- texts ------------------------------------------------------------------------------------

  bool read_text(const MarkdownEvent& event) {
    if (event.place.empty()) return false;
    if (at("\\") && event.place.begin == place_ + 1) push_text(event.place.begin, "");
    if (event.place.begin != place_) return false;
    if (event.kind == EventKind::Entity) {
      push_text(event.place.end, decoded_entity(event.place.of(original_)));
      return true;
    }
    auto label = std::ranges::lower_bound(labels_, place_, {},
                                          [](const auto& each) { return each.place.begin; });
    for (; label != labels_.end() && label->place.begin < event.place.end; ++label) {
      if (label->place.end > event.place.end) return false;
      push_plain(label->place.begin);
      if (label->role == Role::Text)
        push(Kind::Kept, label->place.end, {}, std::string(label->place.of(original_)));
      else
        push(label->role == Role::Splits ? Kind::Splits : Kind::Single, label->place.end);
    }
    push_plain(event.place.end);
    return true;
  }

  void push_plain(std::size_t end) {
    if (end > place_) push_text(end, original_.substr(place_, end - place_));
  }

  void push_text(std::size_t end, std::string_view text) {
    std::vector<MarkupToken>& tokens = read_.tokens;
    if (tokens.empty() || tokens.back().kind != Kind::Text) {
      push(Kind::Text, end, {}, std::string(text));
    } else {
      tokens.back().text += text;
      tokens.back().source.end = place_ = end;
    }
  }

  /// A line end, with the blanks before it and the marks of the next line after it.
  bool read_break(Kind kind) {
    std::size_t end = std::min(masked_.find_first_not_of(" \t\\", place_), masked_.size());
    if (end == masked_.size() || kLineEnds.find(masked_[end]) == std::string_view::npos)
      return false;
    end += masked_.compare(end, 2, "\r\n") == 0 ? 2 : 1;
    if (next_ == events_.size()) return false;
    const MarkdownEvent& event = events_[next_];
    if (!event.place.empty()) {
      if (event.place.begin < end) return false;
      end = is_escape(event.place.begin) ? event.place.begin - 1 : event.place.begin;
    } else {
      end = std::min(masked_.find_first_not_of(" \t>", end), masked_.size());
    }
    push(follows_label() || leads_label(end) || ++lines_ % kMostLines == 0 ? Kind::Splits : kind,
         end);
    return true;
  }

  bool follows_label() const {
    return read_.tokens.empty() || read_.tokens.back().kind == Kind::Splits;
  }

  bool leads_label(std::size_t place) const {
    const auto label = std::ranges::lower_bound(labels_, place, {},
                                                [](const auto& each) { return each.place.begin; });
    return label != labels_.end() && label->place.begin == place && label->role == Role::Splits;
  }

  // ---- tags -------------------------------------------------------------------------------------

  bool read_html(const ByteRange& first) {
    if (first.begin != place_ || first.empty()) return false;
    std::size_t end = first.end;
    const auto is_whole = [&] {
      const std::string_view tag = original_.substr(place_, end - place_);
      return tag.starts_with("<!--") ? tag.ends_with("-->") : tag.ends_with('>');
    };
    for (; !is_whole() && next_ < events_.size() && events_[next_].kind == EventKind::Html; ++next_)
      if (!events_[next_].place.empty()) end = events_[next_].place.end;
    if (!is_whole()) return false;
    const std::string_view tag = original_.substr(place_, end - place_);
    const std::vector<MarkupToken> tokens = text_tokens(tag, AlsoKept::Positions);
    Kind kind = tokens.size() == 1 && tokens[0].kind != Kind::Text ? tokens[0].kind : Kind::Single;
    const std::string name = join_text("<", tokens[0].name);
    if (name == "<br") kind = Kind::Splits;
    if (kind == Kind::Opens && read_kept_element(end, tokens[0].name)) return true;
    int& open = html_[name];
    if (kind == Kind::Opens) ++open;
    // A tag that ends nothing must not be looked for among all that are open.
    if (kind == Kind::Closes && open-- == 0) kind = Kind::Single, open = 0;
    push(kind, end, name);
    return true;
  }

  /// <kbd>x</kbd>, as HTML has it. `tag_end` is the end of its first tag.
  bool read_kept_element(std::size_t tag_end, std::string_view name) {
    if (!is_among(name, {"code", "kbd", "samp", "tt", "var"})) return false;
    const std::string end_tag = join_text("</", name, '>');
    for (std::size_t e = next_; e < events_.size(); ++e) {
      const MarkdownEvent& event = events_[e];
      const bool is_html = event.kind == EventKind::Html;
      if (event.kind != EventKind::Text && event.kind != EventKind::Entity && !is_html)
        return false;
      if (!is_html || ascii_lower(event.place.of(original_)) != end_tag) continue;
      next_ = e + 1;
      const std::string_view text = ByteRange{tag_end, event.place.begin}.of(original_);
      push(Kind::Kept, event.place.end, {}, text.size() > kMostCode ? "" : std::string(text));
      return true;
    }
    return false;
  }

  // ---- spans ------------------------------------------------------------------------------------

  struct OpenSpan {
    MarkdownSpan span;
    std::string mark;        ///< that ends it
    std::size_t text_begin;  ///< after the mark that began it
  };

  bool read_opening(MarkdownSpan span) {
    if (place_ >= masked_.size()) return false;
    switch (span) {
      case MarkdownSpan::Emphasis:
        return (at("*") || at("_")) && open(span, 1);
      case MarkdownSpan::Strong:
        return (at("**") || at("__")) && open(span, 2);
      case MarkdownSpan::Strike:
        return at("~") && open(span, at("~~") ? 2 : 1);
      case MarkdownSpan::Link:
        if (at("[")) return open(span, 1);
        return read_bare_link();
      case MarkdownSpan::Image:
        return at("![") && (read_image() || open(span, 2));
      case MarkdownSpan::Code:
        return at("`") && read_code();
      case MarkdownSpan::None:
        return false;
    }
    return false;
  }

  bool open(MarkdownSpan span, std::size_t length) {
    const std::string mark(masked_.substr(place_, length));
    push(Kind::Opens, place_ + length, mark);
    open_.push_back({.span = span, .mark = mark, .text_begin = place_});
    return true;
  }

  /// Events up to the end of a span; nothing if there are spans in it.
  std::optional<std::size_t> end_of_span(MarkdownSpan span) const {
    for (std::size_t e = next_; e < events_.size(); ++e) {
      if (events_[e].kind == EventKind::Closes && events_[e].span == span) return e;
      if (events_[e].kind == EventKind::Opens) return std::nullopt;
    }
    return std::nullopt;
  }

  /// <https://example.org>, or without the brackets.
  bool read_bare_link() {
    const auto end = end_of_span(MarkdownSpan::Link);
    if (!end || *end == next_ || events_[next_].place.empty()) return false;
    const ByteRange text{events_[next_].place.begin, events_[*end - 1].place.end};
    const std::size_t bracket = at("<") ? 1 : 0;
    if (text.begin != place_ + bracket || text.end < text.begin) return false;
    next_ = *end + 1;
    push(Kind::Kept, text.end + bracket, {}, std::string(text.of(original_)));
    return true;
  }

  bool read_code() {
    const auto end = end_of_span(MarkdownSpan::Code);
    const std::size_t ticks_end = masked_.find_first_not_of('`', place_);
    if (!end || ticks_end == std::string::npos) return false;
    const std::size_t length = ticks_end - place_;
    std::size_t run = masked_.find('`', ticks_end), run_end = 0;
    for (; run != std::string::npos; run = masked_.find('`', run_end)) {
      run_end = std::min(masked_.find_first_not_of('`', run), masked_.size());
      if (run_end - run == length) break;
    }
    if (run == std::string::npos) return false;
    // If a block begins with code, this may not be the beginning of that code.
    const std::size_t text = events_[next_].place.begin;
    if (text < ticks_end || text > run) return false;
    next_ = *end + 1;
    const std::string_view code = original_.substr(ticks_end, run - ticks_end);
    push(Kind::Kept, run_end, {}, code.size() > kMostCode ? "" : std::string(code));
    return true;
  }

  /// An image whose text has no marks in it. One with marks is like a link.
  bool read_image() {
    const auto end = end_of_span(MarkdownSpan::Image);
    if (!end) return false;
    const std::size_t text_begin = place_ + 2;
    std::size_t text_end = text_begin;
    std::string text;
    for (std::size_t e = next_; e < *end; ++e) {
      const ByteRange& place = events_[e].place;
      if (place.empty() || (place.begin != text_end && masked_[text_end] != '\\')) return false;
      text += events_[e].kind == EventKind::Entity ? decoded_entity(place.of(original_))
                                                   : place.of(original_);
      text_end = place.end;
    }
    if (masked_.compare(text_end, 1, "]") != 0) return false;
    const MarkdownLinkTail tail = markdown_link_tail(masked_, text_end);
    push(Kind::Single, tail.end);
    if (!tail.has_text_as_label)
      add_attribute({text_begin, text_end}, std::move(text), text_writing_);
    add_title(tail);
    next_ = *end + 1;
    return true;
  }

  void add_title(const MarkdownLinkTail& tail) {
    if (tail.title.size() < 2) return;
    const std::string_view title = tail.title.of(original_);
    add_attribute(tail.title, decoded_title(title.substr(1, title.size() - 2)),
                  Writing::MarkdownTitle);
  }

  void add_attribute(const ByteRange& source, std::string text, Writing writing) {
    read_.tokens.back().attributes.push_back(
        {.source = source, .text = std::move(text), .writing = writing});
  }

  bool read_closing(MarkdownSpan span) {
    if (open_.empty() || open_.back().span != span) return false;
    const OpenSpan open = std::move(open_.back());
    open_.pop_back();
    if (span != MarkdownSpan::Link && span != MarkdownSpan::Image) {
      if (!at(open.mark)) return false;
      push(Kind::Closes, place_ + open.mark.size(), open.mark);
      return true;
    }
    if (!at("]")) return false;
    const std::size_t text_end = place_;
    const MarkdownLinkTail tail = markdown_link_tail(masked_, text_end);
    push(Kind::Closes, tail.end, open.mark);
    add_title(tail);
    return !tail.has_text_as_label || add_label({open.text_begin, text_end}, tail.end);
  }

  /// The text of the link will change, so the label stands beside it.
  bool add_label(const ByteRange& label, std::size_t end) {
    const std::string_view text = label.of(original_);
    if (text.find_first_of(kLineEnds) != std::string_view::npos) return false;
    if (!has_letter_or_digit(text)) return true;
    const bool has_empty_label = end > label.end + 1;  // [text][]
    read_.insertions.push_back(
        {.place = has_empty_label ? end - 1 : end,
         .text = has_empty_label ? std::string(text) : join_text("[", text, "]")});
    return true;
  }

  static constexpr std::size_t kMostLines = 100;  // of a passage
  static constexpr std::size_t kMostCode = 200;   // bytes that the model sees

  const std::string& masked_;
  const std::string_view original_;
  const std::vector<MaskedMarkdown::Label>& labels_;
  const std::vector<MarkdownEvent>& events_;
  const std::size_t earliest_;
  const Writing text_writing_;

  MarkdownTokens read_;
  std::vector<OpenSpan> open_;
  std::map<std::string, int> html_;  // elements that are open, by their names
  std::size_t place_ = 0, next_ = 0, lines_ = 0;
};

/// Reads the blocks one after the other, and puts their insertions into the document.
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
    std::optional<MarkdownTokens> read = BlockReader(markdown_, block).read();
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

  /// The number of bytes that are inserted before a place, or at it.
  std::size_t inserted_before(std::size_t place) const {
    const auto after = std::ranges::upper_bound(insertions_, place, {}, &Insertion::place);
    return after == insertions_.begin()
               ? 0
               : sums_[static_cast<std::size_t>(after - insertions_.begin()) - 1];
  }

  const MaskedMarkdown markdown_;
  std::vector<MarkupToken> texts_, cells_;
  std::vector<Insertion> insertions_;
  std::vector<std::size_t> sums_;  // of the bytes of all insertions up to each
  std::size_t inserted_ = 0;
};

}  // namespace

MarkupDocument parse_markdown(std::string_view markdown) {
  MarkupDocument document = DocumentReader(markdown).document();
  document.has_structure = [structure =
                                markdown_structure(document.bytes)](std::string_view written) {
    try {
      return markdown_structure(written) == structure;
    } catch (const Error&) {  // too many brackets
      return false;
    }
  };
  return document;
}

}  // namespace dragoman
