// The markup that CommonMark does not know: it is masked, so that it stays as it is.

#include <re2/re2.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <set>
#include <string>
#include <utility>

#include "base/utf8.h"
#include "extras/markup/markdown_syntax.h"
#include "extras/markup/markup_tokens.h"

namespace dragoman {

namespace {

re2::StringPiece piece(std::string_view text) { return {text.data(), text.size()}; }

constexpr std::size_t kFootnoteIndent = 4;  // of the lines that belong to a footnote
constexpr std::size_t kMostLines = 100;     // that are looked at for the end of what one begins

/// [^1], [!NOTE].
std::size_t label_length(std::string_view text) {
  constexpr std::size_t kLongest = 200;
  if (!text.starts_with("[^") && !text.starts_with("[!")) return 0;
  const std::size_t end = text.substr(0, kLongest).find_first_of("[] \t`\\", 2);
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

using Role = MaskedMarkdown::Label::Role;

class Masker {
 public:
  explicit Masker(std::string_view markdown)
      : masked_{.original = markdown, .text = std::string(markdown)} {}

  MaskedMarkdown masked() {
    std::ranges::replace(masked_.text, '\0', ' ');
    find_definitions();
    std::size_t place = 0;
    if (masked_.original.starts_with(kByteOrderMark)) blank({0, place = kByteOrderMark.size()});
    place = mask_front_matter(place);
    while (place < masked_.text.size()) {
      const std::size_t end = line_end(place);
      const ByteRange whole{place, end};
      if (!is_in_fence(whole) && !mask_kept_lines(whole)) mask_inline(whole);
      mask_labels(whole);
      mask_block_name(whole);
      place = end + 1;
    }
    sort_labels();
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

  /// A line without the blanks at its end, which are not part of a fence.
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
        mask_item({begin, begin + length + 1}, lead);
      else if (length > 0 && (rest[1] == '^' || is_alert(text, at, length)))
        mask({begin, begin + length}, rest[1] == '!' ? Role::Splits : Role::Mark);
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

  void mask(const ByteRange& label, Role role) {
    for (std::size_t i = label.begin; i < label.end; ++i) masked_.text[i] = '.';
    masked_.labels.push_back({.place = label, .role = role});
  }

  /// The label, after `lead` blanks, becomes the mark of an item of a list, so that what is
  /// indented like a footnote's text belongs to it.
  void mask_item(const ByteRange& label, std::size_t lead) {
    const std::size_t indent = std::max<std::size_t>(kFootnoteIndent - lead, 2);
    mask({label.begin + indent, label.end}, Role::Splits);
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

  // ---- templates, mathematics and the constructs of generators of sites -------------------------

  /// The rest of a line after the marks of quotes and the blanks at its beginning.
  ByteRange content(const ByteRange& range) const {
    const std::string_view text = line(range);
    return {range.begin + std::min(text.find_first_not_of(" \t>"), text.size()), range.end};
  }

  /// Whether a line belongs to a fenced code block, as far as its fences show it.
  bool is_in_fence(const ByteRange& range) {
    std::string_view text = line(range);
    const std::string_view quote =
        text.substr(0, std::min(text.find_first_not_of(" \t>"), text.size()));
    text = text.substr(std::min(text.find_first_not_of(" \t>*+-0123456789.)"), text.size()));
    const std::size_t length =
        text.empty() ? 0 : std::min(text.find_first_not_of(text[0]), text.size());
    const bool is_quote = quote.find('>') != std::string_view::npos;
    if (!fence_.empty()) {
      if (is_fence_quoted_ && !is_quote) return fence_.clear(), false;
      if (text.starts_with(fence_) && strip(text.substr(length)).empty()) fence_.clear();
      return true;
    }
    const bool begins =
        length >= 3 && (text[0] == '~' || (text[0] == '`' && text.find('`', length) == text.npos));
    if (begins) fence_ = text.substr(0, length), is_fence_quoted_ = is_quote;
    return begins;
  }

  /// Its line is an empty heading, which ends a paragraph, but no block of HTML.
  void keep_line(const ByteRange& range) {
    const ByteRange kept = content(range);
    if (kept.empty()) return;
    blank(kept);
    masked_.text[kept.begin] = '#';
  }

  /// Masks a line that stays as it is, and the lines that belong to it. Returns whether it is one.
  bool mask_kept_lines(const ByteRange& range) {
    const std::string_view text = strip(line(content(range)));
    if (range.begin < kept_until_) return true;
    if (text.empty()) return false;
    if (is_admonition(text) && content(range).begin == range.begin) {
      mask_item({range.begin, range.begin + text.size()}, 0);
      return true;
    }
    const std::string_view end = end_of_kept_lines(text);
    if (!end.empty() && keep_lines(range, end)) return true;
    if (!is_kept_line(text)) return false;
    keep_up_to(is_of_module(text) ? end_of_module_lines(range) : range.end, range.begin);
    return true;
  }

  /// import and export of MDX. Lines belong to them until their brackets are closed.
  static bool is_of_module(std::string_view text) {
    return text.starts_with("import") || text.starts_with("export");
  }

  std::size_t end_of_module_lines(const ByteRange& first) const {
    std::ptrdiff_t open = 0;
    std::size_t place = first.begin;
    for (std::size_t lines = 0; lines < kMostLines && place < masked_.text.size(); ++lines) {
      const std::size_t end = line_end(place);
      for (const char c : line({place, end})) {
        if (std::string_view("([{").find(c) != std::string_view::npos) ++open;
        if (std::string_view(")]}").find(c) != std::string_view::npos) --open;
      }
      if (open <= 0) return end;
      place = end + 1;
    }
    return first.end;
  }

  void keep_up_to(std::size_t last, std::size_t place) {
    while (place < last) {
      const std::size_t end = line_end(place);
      keep_line({place, end});
      place = end + 1;
    }
    kept_until_ = last;
  }

  /// The text that ends the lines that begin with this one; empty: they are not kept.
  static std::string_view end_of_kept_lines(std::string_view text) {
    if (text.starts_with("$$")) return text.find("$$", 2) == text.npos ? "$$" : "";
    static const RE2 code(R"((?:\{%-?|\{\{[<%])\s*(?:highlight|raw|verbatim)\b.*)");
    if (RE2::FullMatch(piece(text), code)) return text.starts_with("{{") ? "{{< /" : "{% end";
    for (const auto& [begin, end] : {std::pair("{{<", ">}}"), std::pair("{{%", "%}}"),
                                     std::pair("{%", "%}"), std::pair("{/*", "*/}")})
      if (text.starts_with(begin)) return text.find(end) == text.npos ? end : "";
    static const RE2 component(R"(<[A-Z][\w.]*(?:\s[^>]*)?)");
    return RE2::FullMatch(piece(text), component) ? ">" : "";
  }

  /// Masks the lines up to the one with `end`, unless that is far away. Returns whether it is near.
  bool keep_lines(const ByteRange& first, std::string_view end) {
    std::size_t last = first.end;
    for (std::size_t lines = 0; lines < kMostLines && last < masked_.text.size(); ++lines) {
      const std::size_t begin = last + 1;
      if (begin >= masked_.text.size()) return false;
      last = line_end(begin);
      const std::string_view text = strip(line({begin, last}));
      const bool may_have_blank_lines =
          end == "$$" || end.ends_with('/') || end == "{% end" || end == "*/}";
      if (text.empty() && !may_have_blank_lines) return false;
      if (text.find(end) == std::string_view::npos) continue;
      if (end == ">" && !text.ends_with('>')) continue;
      keep_up_to(last, first.begin);
      return true;
    }
    return false;
  }

  /// !!! note "Title" or === "Tab", of MkDocs: the lines that belong to it are indented.
  static bool is_admonition(std::string_view text) {
    static const RE2 pattern(R"((?:!!!|\?\?\?\+?)\s+[\w-]+(?:\s.*)?|===[!+]?\s+"[^"]*")");
    return RE2::FullMatch(piece(text), pattern);
  }

  static bool is_kept_line(std::string_view text) {
    static const RE2 pattern(
        R"(:{3,}.*)"  // :::note
        // Shortcodes, without a text between two of them.
        R"(|(?:\s*(?:\{\{(?:[^}]|\}[^}])*\}\}+|\{%(?:[^%]|%[^}])*%\})"
        R"(|\{#(?:[^#]|#[^}])*#\}|<%(?:[^%]|%[^>])*%>))+)"
        R"(|\{:?\s*[.#:][^{}]*\}|\{:[^{}]*\})"  // attributes
        R"(|(?i:\[TOC\]|\[\[_?TOC_?\]\]))"
        R"(|-+8<-+(?:\s.*)?)"  // snippets of MkDocs
        R"(|import\s+(?:[^'"]*\sfrom\s+)?['"][^'"]+['"];?|import\s*\{[^{}'"]*)"  // MDX
        R"(|export\s+(?:default|const|let|var|function|class|async)\s.*[;{}(\[]\)?)"
        R"(|\{/\*.*\*/\})"
        R"(|<[A-Z][\w.]*\s[^<]*\{[^<]*>)");
    return RE2::FullMatch(piece(text), pattern);
  }

  /// Constructs within a line.
  void mask_inline(const ByteRange& range) {
    static const RE2 any(R"(\{\{.+?\}\}|\{%.+?%\}|\{#.+?#\}|<%.+?%>)"
                         R"(|!?\[\[[^\[\]]+\]\]|:(?:[a-z][a-z0-9_+-]*|[+-]1):|\{[^{}\s][^{}]*\})"
                         R"(|@[A-Za-z0-9][\w-]*(?:/[\w.-]*\w)?|#[0-9]+)"  // of GitHub
                         R"(|https?://[^\s<>"'`\[\]]+)",
                         RE2::Latin1);
    constexpr std::size_t kLongest = 300;  // bytes: the time grows with the text's length
    const ByteRange all = content(range);
    const std::string_view text = line(all);
    if (all.begin - range.begin < kFootnoteIndent)
      if (const std::size_t label = definition_length(text); label > 0)
        mask({all.begin, all.begin + label}, Role::Splits);
    for (std::size_t at = 0; at < text.size();) {
      if (const std::size_t length = math_length(text, at)) {
        mask({all.begin + at, all.begin + at + length}, Role::Text);
        at += length;
        continue;
      }
      if (const std::size_t length = code_length(text.substr(at))) {
        at += length;
        continue;
      }
      re2::StringPiece found;
      const bool is_begin = std::string_view("{<![:@#h").find(text[at]) != std::string_view::npos;
      const std::string_view rest = text.substr(at, kLongest);
      if (is_begin && any.Match(piece(rest), 0, rest.size(), RE2::ANCHOR_START, &found, 1) &&
          may_be_masked(text, at, found.size())) {
        mask({all.begin + at, all.begin + at + found.size()}, role_of(text, at, found.size()));
        at += found.size();
      } else {
        at += text[at] == '\\' ? 2 : 1;
      }
    }
  }

  /// The length of the mark of a definition in a list (": ") or of an abbreviation ("*[HTML]:").
  static std::size_t definition_length(std::string_view text) {
    if (text.starts_with(": ")) return 1;
    static const RE2 abbreviation(R"(\*\[[^\[\]]+\]:)", RE2::Latin1);
    re2::StringPiece found;
    return abbreviation.Match(piece(text), 0, text.size(), RE2::ANCHOR_START, &found, 1)
               ? found.size()
               : 0;
  }

  /// The length of the code between backticks that begins a text, or of backticks without partners;
  /// 0 if there are none.
  static std::size_t code_length(std::string_view text) {
    if (!text.starts_with('`')) return 0;
    const std::size_t length = std::min(text.find_first_not_of('`'), text.size());
    for (std::size_t at = text.find('`', length); at != std::string_view::npos;) {
      const std::size_t end = std::min(text.find_first_not_of('`', at), text.size());
      if (end - at == length) return end;
      at = text.find('`', end);
    }
    return length;
  }

  /// The labels in front of "]:".
  void find_definitions() {
    constexpr std::size_t kLongest = 300;
    const std::string_view text = masked_.original;
    for (std::size_t end = text.find("]:"); end != std::string_view::npos;
         end = text.find("]:", end + 1)) {
      const std::string_view before =
          text.substr(end - std::min(end, kLongest), std::min(end, kLongest));
      if (const std::size_t begin = before.rfind('['); begin != std::string_view::npos)
        definitions_.insert(before.substr(begin + 1));
    }
  }

  bool may_be_masked(std::string_view text, std::size_t at, std::size_t length) const {
    const std::string_view found = text.substr(at, length);
    const char before = at > 0 ? text[at - 1] : ' ',
               after = at + length < text.size() ? text[at + length] : ' ';
    const auto is_word = [](char c) {
      return is_ascii_letter(c) || is_ascii_digit(c) || c == ':' || c == '/';
    };
    if (found.find('`') != std::string_view::npos) return false;
    if (found[0] == '@' || found[0] == '#')
      return std::string_view(" \t(").find(before) != std::string_view::npos &&
             !is_ascii_letter(after);
    if (found[0] == 'h') return before == '"' || before == '\'';  // GitHub reads it, md4c does not
    if (found[0] == ':') return !is_word(before) && !is_word(after);
    if (found[0] != '[' && found[0] != '!') return true;
    const std::string_view name = found.substr(found.find("[[") + 2);
    const bool is_link = after == '(' || after == ':' ||
                         (after == '[' && !text.substr(at + length).starts_with("[^"));
    return !is_link &&  // with brackets in its text
           !definitions_.contains(name.substr(0, name.size() - 2));
  }

  static Role role_of(std::string_view text, std::size_t at, std::size_t length) {
    const std::string_view found = text.substr(at, length);
    const bool is_attribute =
        found[0] == '{' && (found[1] == '#' || found[1] == '.' || found[1] == ':');
    if (is_attribute &&
        strip(text.substr(at + length)).find_first_not_of('#') == std::string_view::npos)
      return Role::Splits;
    return found[0] == ':' || is_attribute ? Role::Mark : Role::Text;
  }

  /// In their order, without those within others.
  void sort_labels() {
    std::vector<MaskedMarkdown::Label> sorted;
    std::ranges::stable_sort(masked_.labels, {},
                             [](const auto& label) { return label.place.begin; });
    for (const MaskedMarkdown::Label& label : masked_.labels)
      if (sorted.empty() || label.place.begin >= sorted.back().place.end) sorted.push_back(label);
    masked_.labels = std::move(sorted);
  }

  MaskedMarkdown masked_;
  std::set<std::string_view> definitions_;  // labels of links
  std::string fence_;                       // of the code that a line stands in
  bool is_fence_quoted_ = false;
  std::size_t kept_until_ = 0;  // the lines up to here are masked
};

}  // namespace

std::size_t footnote_begin_length(std::string_view text) {
  const std::size_t length = text.starts_with("[^") ? label_length(text) : 0;
  return length > 0 && text.substr(length).starts_with(':') ? length + 1 : 0;
}

MaskedMarkdown masked_markdown(std::string_view markdown) { return Masker(markdown).masked(); }

std::size_t math_length(std::string_view text, std::size_t offset) {
  static const RE2 math(R"(\$`[^`\n]+`\$|\$\$[^$\n`]+\$\$)"
                        R"(|\$(?:[^\s$\\`]|\\.)(?:(?:[^$\\`\n]|\\.)*?(?:[^\s$\\`]|\\.))?\$)",
                        RE2::Latin1);
  constexpr std::size_t kLongest = 500;  // bytes: the time grows with the text's length
  if (text[offset] != '$') return 0;
  const char before = offset > 0 ? text[offset - 1] : ' ';
  if (is_ascii_letter(before) || is_ascii_digit(before) || before == '$' || before == '\\')
    return 0;
  const std::string_view rest = text.substr(offset, kLongest);
  re2::StringPiece found;
  if (!math.Match(piece(rest), 0, rest.size(), RE2::ANCHOR_START, &found, 1)) return 0;
  const std::size_t end = offset + found.size();
  const bool is_amount =
      end < text.size() && (is_ascii_digit(text[end]) || is_ascii_letter(text[end]));
  return is_amount ? 0 : found.size();
}

}  // namespace dragoman
