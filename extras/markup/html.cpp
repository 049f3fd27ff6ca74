// HTML. The parser's tree (html_tree.h) has the elements of a page and says where their tags stand;
// everything between the tags is text.

#include "extras/markup/markup_formats.h"

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <map>
#include <string_view>
#include <unordered_set>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/formatted_text.h"
#include "base/utf8.h"
#include "extras/markup/html_tree.h"
#include "extras/markup/template_marks.h"

namespace dragoman {

namespace {

// ---- the meaning of HTML's elements for a translation -------------------------------------------

enum class HtmlElement {
  Inline,  ///< its tags stand within sentences
  Single,  ///< the same, without content
  Kept,    ///< stands within sentences, and is kept as it is: code
  Hidden,  ///< the same, and nobody reads its content: a script
  KeptBlock,
  Splits,
};

/// `name` in lower case. Elements that HTML does not know are inline, as browsers show them.
HtmlElement html_element(std::string_view name) {
  using enum HtmlElement;
  static const std::map<std::string_view, HtmlElement> all = [] {
    std::map<std::string_view, HtmlElement> elements;
    for (const char* single : {"img", "wbr", "area", "embed"}) elements[single] = Single;
    for (const char* kept : {"code", "kbd", "samp", "var", "tt"}) elements[kept] = Kept;
    for (const char* hidden : {"script", "style", "svg", "math", "object", "iframe", "canvas",
                               "audio", "video", "picture", "map", "noembed", "template"})
      elements[hidden] = Hidden;
    for (const char* block : {"pre", "textarea", "xmp", "listing", "plaintext", "noframes"})
      elements[block] = KeptBlock;
    for (const char* block :
         {"address",  "article", "aside",      "base",   "basefont", "blockquote", "body",
          "br",       "button",  "caption",    "center", "col",      "colgroup",   "datalist",
          "dd",       "details", "dialog",     "dir",    "div",      "dl",         "dt",
          "fieldset", "figure",  "figcaption", "footer", "form",     "frame",      "frameset",
          "h1",       "h2",      "h3",         "h4",     "h5",       "h6",         "head",
          "header",   "hgroup",  "hr",         "html",   "input",    "label",      "legend",
          "li",       "link",    "main",       "menu",   "meta",     "meter",      "nav",
          "noscript", "ol",      "optgroup",   "option", "output",   "p",          "param",
          "progress", "search",  "section",    "select", "source",   "summary",    "table",
          "tbody",    "td",      "tfoot",      "th",     "thead",    "title",      "tr",
          "track",    "ul"})
      elements[block] = Splits;
    return elements;
  }();
  const auto found = all.find(name);
  return found == all.end() ? Inline : found->second;
}

/// Whether an element of this name stands only in a table, as <td> does.
bool is_part_of_table(std::string_view name) {
  return is_among(name,
                  {"caption", "col", "colgroup", "tbody", "td", "tfoot", "th", "thead", "tr"});
}

// ---- tokens -------------------------------------------------------------------------------------

using Kind = MarkupToken::Kind;

constexpr std::string_view kHtmlBlanks = " \t\n\r\f", kNameEnds = " \t\n\r\f/>";

/// A text as the parser has decoded it. The parser takes a character's number beyond 32 bits for a
/// smaller one, and may write bytes that are not UTF-8.
std::string valid_text(const char* decoded) { return replace_invalid_utf8(decoded); }

/// Whether "<" begins a tag or means itself.
enum class TagsIn { Markup, Literal };

/// The text of HTML that has no tags: entities become characters.
std::string decoded(std::string_view html, TagsIn tags) {
  if (html.find('&') == std::string_view::npos) return std::string(html);
  // Leading white space would not be part of the body.
  const std::string page = (tags == TagsIn::Literal ? "<title>" : "<body>.") + std::string(html);
  const HtmlTree tree(page);
  std::string text;
  for (const GumboNode* node : tree.nodes())
    if (node->type == GUMBO_NODE_TEXT || node->type == GUMBO_NODE_WHITESPACE)
      text += valid_text(node->v.text.text);
  if (tags == TagsIn::Markup && text.starts_with('.')) text.erase(0, 1);
  return text;
}

/// "b" of "<b class=x>" and "</B>".
std::string name_of_tag(std::string_view tag) {
  tag.remove_prefix(std::min<std::size_t>(tag.size(), tag.starts_with("</") ? 2 : 1));
  return ascii_lower(tag.substr(0, tag.find_first_of(kNameEnds)));
}

/// In a page the parser drops the tag of a <td> outside of a table. The first tag says whether the
/// HTML is cut out of a table.
HtmlContext context_of(std::string_view html) {
  constexpr std::size_t kMostLetters = 20;  // of a tag that is looked at
  std::size_t place = html.find('<');
  while (place < html.size()) {
    const std::string_view rest = html.substr(place);
    const std::string name = name_of_tag(rest.substr(0, kMostLetters));
    if (!name.empty() && name[0] >= 'a' && name[0] <= 'z')
      return is_part_of_table(name) ? HtmlContext::Table : HtmlContext::Page;
    if (rest.starts_with("<!--")) place = html.find("-->", place + 2);
    place = html.find('<', std::min(place, html.size() - 1) + 1);
  }
  return HtmlContext::Page;
}

class TokenFinder {
 public:
  TokenFinder(std::string_view html, const MarkupOptions& options)
      : html_(html),
        options_(options),
        marks_(template_marks(html)),
        without_marks_(marks_.empty() ? "" : without_marks(std::string(html), marks_)),
        parsed_(marks_.empty() ? html : without_marks_) {}

  std::vector<MarkupToken> tokens() {
    const HtmlTree tree(parsed_, context_of(parsed_));
    walk(tree.document());
    std::ranges::stable_sort(found_, {},
                             [](const MarkupToken& token) { return token.source.begin; });
    return with_texts();
  }

 private:
  /// Node by node, in the order of the document.
  void walk(const GumboNode* root) {
    struct Visit {
      const GumboNode* node;
      unsigned int child = 0;
    };
    std::vector<Visit> open = {{root}};
    while (!open.empty()) {
      Visit& visit = open.back();
      const GumboVector& children = HtmlTree::children_of(*visit.node);
      if (visit.child == children.length) {
        if (visit.node->type == GUMBO_NODE_ELEMENT) leave(visit.node->v.element);
        open.pop_back();
        continue;
      }
      const auto* child = static_cast<const GumboNode*>(children.data[visit.child++]);
      const bool is_element =
          child->type == GUMBO_NODE_ELEMENT || child->type == GUMBO_NODE_TEMPLATE;
      if (is_element && enter(child->v.element)) open.push_back({child});
      if (child->type == GUMBO_NODE_COMMENT || child->type == GUMBO_NODE_CDATA)
        add({.kind = Kind::Single, .source = range_of(child->v.text.original_text)});
    }
  }

  ByteRange range_of(const GumboStringPiece& piece) const {
    if (piece.length == 0 || piece.data < parsed_.data() ||
        piece.data + piece.length > parsed_.data() + parsed_.size())
      return {};
    const auto begin = static_cast<std::size_t>(piece.data - parsed_.data());
    return {begin, begin + piece.length};
  }

  /// Misnested elements are copied by the parser, and their tags are found more than once.
  bool add(MarkupToken token) {
    if (token.source.empty() || !begins_.insert(token.source.begin).second) return false;
    found_.push_back(std::move(token));
    return true;
  }

  /// True if the element's content is to be visited.
  bool enter(const GumboElement& element) {
    const ByteRange tag = range_of(element.original_tag);
    // The parser has inserted an element, or a copy: its content is that of the page.
    if (tag.empty() || !html_.substr(tag.begin).starts_with('<')) return true;
    const std::string name = name_of_tag(tag.of(html_));
    const HtmlElement kind = kind_of(name);
    const bool is_kept =
        kind == HtmlElement::Kept || kind == HtmlElement::Hidden || kind == HtmlElement::KeptBlock;
    if (is_kept || is_excluded(element)) {
      keep(element, tag, kind);
      return false;
    }
    MarkupToken token{.kind = kind == HtmlElement::Inline   ? Kind::Opens
                              : kind == HtmlElement::Single ? Kind::Single
                                                            : Kind::Splits,
                      .source = tag,
                      .name = name};
    add_attributes(element, token);
    add(std::move(token));
    if (name == "title") add_title(element, tag);
    return true;
  }

  void leave(const GumboElement& element) {
    const ByteRange tag = own_end_tag(element);
    const std::string name = name_of_tag(tag.of(html_));
    const bool is_inline = kind_of(name) == HtmlElement::Inline;
    add({.kind = is_inline ? Kind::Closes : Kind::Splits, .source = tag, .name = name});
  }

  HtmlElement kind_of(const std::string& name) const {
    if (options_.ignore_tags.contains(name))
      return html_element(name) == HtmlElement::Splits ? HtmlElement::KeptBlock : HtmlElement::Kept;
    if (options_.splitting_tags.contains(name)) return HtmlElement::Splits;
    if (options_.non_splitting_tags.contains(name)) return HtmlElement::Inline;
    return html_element(name);
  }

  static const char* attribute(const GumboElement& element, const char* name) {
    const GumboAttribute* found = gumbo_get_attribute(&element.attributes, name);
    return found ? found->value : nullptr;
  }

  static bool is_excluded(const GumboElement& element) {
    if (const char* translate = attribute(element, "translate"))
      return ascii_lower(translate) == "no";
    const char* names = attribute(element, "class");
    if (!names) return false;
    std::string spaced = join_text(' ', names, ' ');
    for (char& c : spaced)
      if (kHtmlBlanks.find(c) != std::string_view::npos) c = ' ';
    return spaced.find(" notranslate ") != std::string::npos;
  }

  /// The end tag, if the page has one; else nothing.
  ByteRange own_end_tag(const GumboElement& element) const {
    const ByteRange tag = range_of(element.original_tag);
    const ByteRange end = range_of(element.original_end_tag);
    const bool is_own = !end.empty() && html_.substr(end.begin).starts_with("</") &&
                        name_of_tag(end.of(html_)) == name_of_tag(tag.of(html_));
    return is_own ? end : ByteRange{};
  }

  void keep(const GumboElement& element, const ByteRange& tag, HtmlElement kind) {
    const ByteRange end = own_end_tag(element);
    std::size_t until = !end.empty() ? end.end : element.end_pos.offset;
    until = std::clamp(until, tag.end, html_.size());
    MarkupToken token{.kind = Kind::Kept, .source = {tag.begin, until}};
    if (kind == HtmlElement::KeptBlock || kind == HtmlElement::Splits)
      token.kind = Kind::Splits;
    else if (kind != HtmlElement::Hidden)
      token.text = text_in(element);
    add(std::move(token));
  }

  /// The text of an element of this kind, unless it is too much for a sentence.
  static std::string text_in(const GumboElement& element) {
    constexpr std::size_t kMostText = 200, kMostNodes = 100;
    std::string text;
    std::vector<const GumboVector*> open = {&element.children};
    for (std::size_t o = 0; o < open.size() && o < kMostNodes; ++o)
      for (unsigned int i = 0; i < open[o]->length && i < kMostNodes; ++i) {
        const auto* child = static_cast<const GumboNode*>(open[o]->data[i]);
        if (child->type == GUMBO_NODE_ELEMENT) open.push_back(&child->v.element.children);
        if (child->type == GUMBO_NODE_TEXT) text += valid_text(child->v.text.text);
      }
    return text.size() > kMostText ? "" : text;
  }

  void add_attributes(const GumboElement& element, MarkupToken& token) const {
    for (unsigned int i = 0; i < element.attributes.length; ++i) {
      const auto* found = static_cast<const GumboAttribute*>(element.attributes.data[i]);
      if (!is_translated(*found, element, token.name)) continue;
      const ByteRange value = range_of(found->original_value);
      const bool is_inside = token.source.begin < value.begin && value.end < token.source.end;
      if (!is_inside) continue;
      if (has_marks(value))
        add_attribute_with_marks(value, token);
      else
        token.attributes.push_back({.source = value, .text = valid_text(found->value)});
    }
  }

  bool is_translated(const GumboAttribute& attribute, const GumboElement& element,
                     std::string_view element_name) const {
    const std::string_view name = attribute.name;
    if (name == "title" || name == "alt" || name == "placeholder") return true;
    if (options_.attributes.empty() || !options_.attributes.contains(name)) return false;
    const auto is_one_of = [&](const char* key, std::initializer_list<std::string_view> values) {
      const char* value = TokenFinder::attribute(element, key);
      return value && is_among(ascii_lower(value), values);
    };
    if (name == "value")
      return element_name == "input" && is_one_of("type", {"submit", "button", "reset"});
    if (name == "content" && element_name == "meta")
      return is_one_of("name", {"description", "twitter:title", "twitter:description"}) ||
             is_one_of("property", {"og:title", "og:description"});
    return true;
  }

  /// A value without quotes has no blanks, so it has few words; it stays as it is.
  void add_attribute_with_marks(const ByteRange& value, MarkupToken& token) const {
    const char quote = html_[value.begin];
    if (quote != '"' && quote != '\'') return;
    MarkupToken::Attribute attribute{.source = {}, .text = {}, .writing = Writing::HtmlQuoted};
    push_text({value.begin + 1, value.end - 1}, TagsIn::Literal, attribute.tokens);
    token.attributes.push_back(std::move(attribute));
  }

  bool has_marks(const ByteRange& range) const {
    const auto next = next_mark(range.begin);
    return next != marks_.end() && next->source.begin < range.end;
  }

  std::vector<MarkupToken>::const_iterator next_mark(std::size_t place) const {
    return std::ranges::lower_bound(marks_, place, {},
                                    [](const MarkupToken& mark) { return mark.source.begin; });
  }

  /// Within a title "<" is a character like any other.
  void add_title(const GumboElement& element, const ByteRange& tag) {
    const ByteRange end = own_end_tag(element);
    if (end.begin <= tag.end) return;
    std::vector<MarkupToken> texts;
    push_text({tag.end, end.begin}, TagsIn::Literal, texts);
    for (MarkupToken& text : texts) add(std::move(text));
  }

  std::vector<MarkupToken> with_texts() {
    std::vector<MarkupToken> all;
    std::size_t place = html_.starts_with(kByteOrderMark) ? kByteOrderMark.size() : 0;
    if (place > 0) all.push_back({.kind = Kind::Splits, .source = {0, place}});
    for (MarkupToken& token : found_) {
      if (token.source.begin < place) continue;  // a tag inside of a kept element
      add_text({place, token.source.begin}, all);
      place = token.source.end;
      all.push_back(std::move(token));
    }
    add_text({place, html_.size()}, all);
    return all;
  }

  /// Text, and tags in it that are in no tree: an end tag without a start, a <td> without a table.
  void add_text(ByteRange range, std::vector<MarkupToken>& all) const {
    std::size_t begin = range.begin;
    for (std::size_t place = range.begin; place < range.end;) {
      const ByteRange tag = stray_tag({place, range.end});
      if (tag.empty()) {
        ++place;
        continue;
      }
      push_text({begin, tag.begin}, TagsIn::Markup, all);
      const std::string_view bytes = tag.of(html_);
      const std::string name = name_of_tag(bytes);
      const HtmlElement kind = kind_of(name);
      const bool splits = kind == HtmlElement::Splits || kind == HtmlElement::KeptBlock;
      const bool is_inline = kind == HtmlElement::Inline && bytes[1] != '!' && bytes[1] != '?';
      all.push_back({.kind = splits                    ? Kind::Splits
                             : !is_inline              ? Kind::Single
                             : bytes.starts_with("</") ? Kind::Closes
                                                       : Kind::Opens,
                     .source = tag,
                     .name = name});
      begin = place = tag.end;
    }
    push_text({begin, range.end}, TagsIn::Markup, all);
  }

  /// Text, and the marks of templates in it.
  void push_text(ByteRange range, TagsIn tags, std::vector<MarkupToken>& all) const {
    const auto push = [&](const ByteRange& text) {
      if (!text.empty())
        all.push_back({.kind = Kind::Text, .source = text, .text = decoded(text.of(html_), tags)});
    };
    for (auto mark = next_mark(range.begin); mark != marks_.end() && mark->source.end <= range.end;
         ++mark) {
      push({range.begin, mark->source.begin});
      all.push_back(*mark);
      range.begin = mark->source.end;
    }
    push(range);
  }

  /// The tag at the beginning of a range; empty if there is none.
  ByteRange stray_tag(const ByteRange& range) const {
    const std::string_view text = range.of(parsed_);
    if (text.size() < 2 || text[0] != '<') return {};
    const bool is_end = text[1] == '/';
    const char first = is_end && text.size() == 2 ? ' ' : text[is_end ? 2 : 1];
    const bool is_tag = (first >= 'a' && first <= 'z') || (first >= 'A' && first <= 'Z') ||
                        (!is_end && (first == '!' || first == '?'));
    if (!is_tag) return {};
    char quote = 0;
    for (std::size_t i = 2; i < text.size(); ++i) {
      if (quote == 0 && text[i] == '>') return {range.begin, range.begin + i + 1};
      if (quote != 0 && text[i] == quote)
        quote = 0;
      else if (quote == 0 && text[i - 1] == '=' && (text[i] == '"' || text[i] == '\''))
        quote = text[i];
    }
    return range;  // never ended: no reader sees it
  }

  const std::string_view html_;
  const MarkupOptions& options_;
  const std::vector<MarkupToken> marks_;  // of templates
  const std::string without_marks_;       // empty if there are none
  const std::string_view parsed_;         // html_, or without_marks_
  std::vector<MarkupToken> found_;
  std::unordered_set<std::size_t> begins_;
};

}  // namespace

namespace {

/// Finds tags that end an element while others within it are open: <b><i></b></i>.
class NestingCheck {
 public:
  /// Whether the tag does. Tags come in order.
  bool misnests(const MarkupToken& token) {
    // A mark of a template has another name.
    if (token.name.empty() || !is_ascii_letter(token.name[0])) return false;
    if (token.kind == Kind::Opens) open_.push_back(token.name);
    if (token.kind != Kind::Closes || open_.empty()) return false;
    const bool is_innermost = open_.back() == token.name;
    const auto most =
        open_.end() - static_cast<std::ptrdiff_t>(std::min(open_.size(), HtmlTree::kMostOpen));
    const auto found = std::find(open_.rbegin(), std::make_reverse_iterator(most), token.name);
    if (found.base() == most) return false;  // it ends nothing
    open_.erase(found.base() - 1, open_.end());
    return !is_innermost;
  }

 private:
  std::vector<std::string_view> open_;
};

/// Browsers repeat elements that end out of order, so none of the tags around can move: each text
/// between them is translated by itself.
void split_misnested(std::vector<MarkupToken>& tokens) {
  NestingCheck check;
  for (std::size_t begin = 0, end = 0; begin < tokens.size(); begin = end + 1) {
    bool is_misnested = false;
    for (end = begin; end < tokens.size() && tokens[end].kind != Kind::Splits; ++end)
      is_misnested = check.misnests(tokens[end]) || is_misnested;
    for (std::size_t t = begin; is_misnested && t < end; ++t)
      if (tokens[t].kind == Kind::Opens || tokens[t].kind == Kind::Closes)
        tokens[t].kind = Kind::Splits;
  }
}

}  // namespace

std::vector<MarkupToken> html_tokens(const std::string& html, const MarkupOptions& options) {
  std::vector<MarkupToken> tokens = TokenFinder(html, options).tokens();
  split_misnested(tokens);
  return tokens;
}

std::string html_character(const std::string& reference) {
  constexpr std::size_t kMost = 2;  // code points; the parser has left longer ones as they are
  std::string character = decoded(reference, TagsIn::Markup);
  return count_code_points(character) > kMost ? "" : character;
}

namespace {

// ---- the encoding that a page declares ----------------------------------------------------------

constexpr std::string_view kCharsetNameEnds = " \t\n\r\f;\"'";

bool is_same(std::string_view text, std::string_view lower) { return ascii_lower(text) == lower; }

std::string_view without_blanks_before(std::string_view text) {
  return text.substr(std::min(text.find_first_not_of(kHtmlBlanks), text.size()));
}

/// As it is written in the page, without quotes; empty: the element does not have the attribute.
std::string_view written_value(const GumboElement& element, const char* name) {
  const GumboAttribute* found = gumbo_get_attribute(&element.attributes, name);
  if (!found) return {};
  std::string_view value(found->original_value.data, found->original_value.length);
  if (value.size() >= 2 && (value[0] == '"' || value[0] == '\''))
    value = value.substr(1, value.size() - 2);
  return value;
}

/// "latin1" in "text/html; charset=latin1".
std::string_view name_in_content(std::string_view content) {
  constexpr std::string_view kKey = "charset";
  const std::size_t key = ascii_lower(content).find(kKey);
  if (key == std::string_view::npos) return {};
  const std::string_view rest = without_blanks_before(content.substr(key + kKey.size()));
  if (!rest.starts_with('=')) return {};
  const std::string_view name = without_blanks_before(rest.substr(1));
  return name.substr(0, name.find_first_of(kCharsetNameEnds));
}

/// The name of an encoding other than UTF-8, as the page writes it; empty: there is none.
std::string_view other_encoding(const GumboElement& meta) {
  std::string_view name = written_value(meta, "charset");
  if (name.empty() && is_same(written_value(meta, "http-equiv"), "content-type"))
    name = name_in_content(written_value(meta, "content"));
  const bool is_mark = name.find_first_of("{<") != std::string_view::npos;  // of a template
  return is_mark || is_same(name, "utf-8") || is_same(name, "utf8") ? std::string_view() : name;
}

/// The names of encodings other than UTF-8 that the page declares, in order.
std::vector<std::string_view> other_encodings(std::string_view html) {
  // Most fragments need no tree for this.
  if (ascii_lower(html).find("<meta") == std::string::npos) return {};
  const HtmlTree tree(html);
  std::vector<std::string_view> names;
  for (const GumboNode* node : tree.nodes()) {
    if (node->type != GUMBO_NODE_ELEMENT || node->v.element.tag != GUMBO_TAG_META) continue;
    const std::string_view name = other_encoding(node->v.element);
    if (!name.empty()) names.push_back(name);
  }
  std::ranges::sort(names, {}, [](std::string_view name) { return name.data(); });
  return names;
}

/// The page with "utf-8" in the place of each other encoding that a <meta> declares. `html` is
/// UTF-8, so another declaration is wrong, or right only until the translation has other letters.
std::string with_utf8_declared(std::string html) {
  std::string declared;
  std::size_t place = 0;
  for (const std::string_view name : other_encodings(html)) {
    const auto begin = static_cast<std::size_t>(name.data() - html.data());
    declared.append(html, place, begin - place).append("utf-8");
    place = begin + name.size();
  }
  return declared.append(html, place);
}

}  // namespace

std::string_view declared_encoding(std::string_view html) {
  const std::vector<std::string_view> names = other_encodings(html);
  return names.empty() ? std::string_view() : names.front();
}

MarkupDocument parse_html(std::string html, const MarkupOptions& options) {
  MarkupDocument document{
      .bytes = options.charset.empty() ? with_utf8_declared(std::move(html)) : std::move(html),
      .charset = options.charset};
  std::vector<MarkupToken> tokens = html_tokens(document.bytes, options);
  const bool is_plain = std::ranges::all_of(tokens, [&](const MarkupToken& token) {
    const std::string_view bytes = token.source.of(document.bytes);
    return token.kind == MarkupToken::Kind::Text || bytes == kByteOrderMark ||
           bytes.starts_with('{') || bytes.starts_with("<%");  // marks of templates
  });
  const bool splits =
      options.line_ends == LineEnds::ByTags ? is_plain : options.line_ends == LineEnds::Split;
  if (splits) tokens = split_at_line_ends(document.bytes, std::move(tokens));
  document.passages = passages_of(document.bytes, tokens, Writing::HtmlText);
  return document;
}

}  // namespace dragoman
