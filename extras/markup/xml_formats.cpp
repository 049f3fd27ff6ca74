#include "extras/markup/xml_formats.h"

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <utility>

#include "base/formatted_text.h"
#include "base/utf8.h"
#include "extras/markup/format_directives.h"
#include "extras/markup/icu_messages.h"
#include "extras/markup/markup_formats.h"
#include "extras/markup/template_marks.h"
#include "extras/markup/xml_tokens.h"

namespace dragoman {

namespace {

using Kind = MarkupToken::Kind;

constexpr std::string_view kCdataBegin = "<![CDATA[", kCdataEnd = "]]>";

}  // namespace

std::string_view local_name(std::string_view name) { return name.substr(name.find(':') + 1); }

bool is_section(std::string_view bytes) { return bytes.starts_with(kCdataBegin); }

ByteRange within_section(const ByteRange& section) {
  return {section.begin + kCdataBegin.size(), section.end - kCdataEnd.size()};
}

XmlFormat xml_format(std::string_view xml, const std::vector<MarkupToken>& tokens) {
  const auto root = std::ranges::find_if(tokens, begins_content);
  if (root == tokens.end()) return XmlFormat::Other;
  const std::string_view name = local_name(root->name);
  const std::string_view version = xml_attribute(xml, root->source, "version").of(xml);
  if (name == "rss" && !version.empty()) return XmlFormat::Rss;
  if (name == "tmx" && !version.empty()) return XmlFormat::Tmx;
  if (name == "xliff" && version.starts_with("1.")) return XmlFormat::Xliff1;
  if (name == "xliff" && version.starts_with("2.")) return XmlFormat::Xliff2;
  const bool has_strings = std::any_of(root, tokens.end(), [&](const MarkupToken& token) {
    return is_among(token.name, {"string", "string-array", "plurals"}) &&
           !xml_attribute(xml, token.source, "name").empty();
  });
  return name == "resources" && has_strings ? XmlFormat::Android : XmlFormat::Other;
}

// ---- RSS ----------------------------------------------------------------------------------------

namespace {

/// Whether a text has a tag or a reference, as HTML does.
bool is_html(std::string_view text) {
  constexpr std::size_t kLongest = 40;  // name of a reference
  for (std::size_t i = 0; (i = text.find_first_of("<&", i)) != std::string_view::npos; ++i) {
    if (i + 1 == text.size()) return false;
    const char next = text[i + 1];
    const bool is_tag =
        text[i] == '<' && (is_ascii_letter(next) || next == '/' || next == '!' || next == '?');
    const std::string_view name = text.substr(i + 1, kLongest);
    const std::size_t end =
        name.find_first_not_of("#abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789");
    const bool is_reference =
        text[i] == '&' && end > 0 && name.substr(std::min(end, name.size())).starts_with(';');
    if (is_tag || is_reference) return true;
  }
  return false;
}

void move_to_document(const DecodedText& decoded, std::vector<MarkupToken>& tokens) {
  for (MarkupToken& token : tokens) {
    token.source = decoded.written(token.source);
    for (MarkupToken::Attribute& attribute : token.attributes) {
      attribute.source = decoded.written(attribute.source);
      for (MarkupToken& part : attribute.tokens) part.source = decoded.written(part.source);
    }
  }
}

/// The passages of a text that stands in XML: escaped, or in a CDATA section.
std::vector<Passage> passages_within(std::string_view xml, const DecodedText& decoded,
                                     bool is_cdata) {
  const bool has_markup = is_html(decoded.text);
  std::vector<MarkupToken> tokens =
      has_markup ? html_tokens(decoded.text, {}) : texts_and_marks(decoded.text);
  move_to_document(decoded, tokens);
  const Writing writing = has_markup ? Writing::HtmlText
                          : is_cdata ? Writing::Cdata
                                     : Writing::XmlText;
  std::vector<Passage> passages = passages_of(xml, tokens, writing);
  for (Passage& passage : passages) passage.is_escaped = has_markup && !is_cdata;
  return passages;
}

/// The text of a section, in which nothing is escaped.
DecodedText section_text(std::string_view xml, const ByteRange& inside) {
  DecodedText section{.text = std::string(inside.of(xml)), .places = {}};
  for (std::size_t place = inside.begin; place <= inside.end; ++place)
    section.places.push_back(place);
  return section;
}

/// A text that is not HTML stays untranslated if its translation would be read as HTML.
CheckedStretch check_of_plain_text(std::string_view xml, const ByteRange& text, bool is_cdata) {
  const auto is_plain = [is_cdata](std::string_view written) {
    if (!is_cdata) return !is_html(decoded_xml(written, {0, written.size()}).text);
    std::string translation(written);  // within one section or several
    replace_all(translation, "]]><![CDATA[", "");
    return !is_html(translation);
  };
  return {.source = text, .untranslated = std::string(text.of(xml)), .is_sound = is_plain};
}

}  // namespace

void add_rss_texts(const std::vector<MarkupToken>& tokens, MarkupDocument& document) {
  const std::string_view xml = document.bytes;
  std::vector<std::string_view> open;  // names of elements
  for (const MarkupToken& token : tokens) {
    if (token.kind == Kind::Opens) open.emplace_back(token.name);
    if (token.kind == Kind::Closes) open.pop_back();
    if (open.empty() || !is_among(open.back(), {"title", "description", "content:encoded",
                                                "itunes:title", "itunes:subtitle", "itunes:summary",
                                                "media:title", "media:description"}))
      continue;
    const bool is_cdata = is_section(token.source.of(xml));
    if (!is_cdata && token.kind != Kind::Text) continue;
    const ByteRange place = is_cdata ? within_section(token.source) : token.source;
    const DecodedText text = is_cdata ? section_text(xml, place) : decoded_xml(xml, place);
    if (!is_html(text.text)) document.checked.push_back(check_of_plain_text(xml, place, is_cdata));
    std::ranges::move(passages_within(xml, text, is_cdata), std::back_inserter(document.passages));
  }
}

// ---- strings of Android -------------------------------------------------------------------------

namespace {

class AndroidReader {
 public:
  explicit AndroidReader(MarkupDocument& document) : document_(document), xml_(document.bytes) {}

  void read(const std::vector<MarkupToken>& tokens) {
    for (const MarkupToken& token : tokens) {
      const bool begins = token.kind == Kind::Opens && begins_string(token);
      const bool ends = token.kind == Kind::Closes && open_.size() == string_;
      if (ends) end(token.source.begin);
      if (string_ == 0 || begins || ends)
        found_.push_back({.kind = Kind::Splits, .source = token.source});
      else if (token.kind == Kind::Text)
        add_text(token);
      else
        found_.push_back(token);
      if (begins) begin(token.source.end);
      if (token.kind == Kind::Closes) open_.pop_back();
      if (ends) string_ = 0;
    }
    document_.passages = passages_of(xml_, found_, Writing::AndroidString);
  }

 private:
  struct Element {
    std::string_view name;
    bool is_translatable;
  };

  /// Goes into an element.
  bool begins_string(const MarkupToken& token) {
    const Element parent = open_.empty() ? Element{"", true} : open_.back();
    const bool is_translatable =
        parent.is_translatable &&
        xml_attribute(xml_, token.source, "translatable").of(xml_) != "false";
    open_.push_back({token.name, is_translatable});
    const bool is_string =
        (token.name == "string" && parent.name == "resources") ||
        (token.name == "item" && is_among(parent.name, {"string-array", "plurals"}));
    if (string_ > 0 || !is_string || !is_translatable) return false;
    string_ = open_.size();
    return true;
  }

  void begin(std::size_t begin) {
    begin_ = begin;
    first_ = found_.size();
    runs_ = 0;
  }

  /// A format string with other placeholders would stop the program that uses it.
  void end(std::size_t end) {
    const ByteRange content{begin_, end};
    const std::string source(content.of(xml_)), message = text_of_string(source);
    CheckedStretch checked{.source = content, .untranslated = source, .is_sound = {}};
    if (leaves_choice(source, message)) {
      found_.erase(found_.begin() + static_cast<std::ptrdiff_t>(first_), found_.end());
      checked.is_sound = [](std::string_view) { return false; };
    } else {
      const auto formats = format_syntaxes(has_placeholder(message) ? "java-printf-format" : "");
      checked.is_sound = [message, formats](std::string_view written) {
        return has_same_signs(formats, message, text_of_string(written));
      };
    }
    document_.checked.push_back(std::move(checked));
  }

  /// Whether a string has a choice that is not all of it, or is cut by a tag or a line end.
  bool leaves_choice(std::string_view source, std::string_view message) const {
    const IcuMessage choice = icu_message(message);
    return choice.chooses &&
           (choice.texts.empty() || runs_ != 1 || source.find('<') < source.size());
  }

  static bool has_placeholder(std::string_view text) {
    return std::ranges::any_of(text_tokens(text, AlsoKept::Placeholders),
                               [](const MarkupToken& token) {
                                 return token.kind == Kind::Kept && token.text.starts_with('%');
                               });
  }

  void add_text(const MarkupToken& token) {
    const std::string_view text = strip(token.source.of(xml_));
    const bool is_reference =
        found_.back().kind == Kind::Splits && (text.starts_with('@') || text.starts_with('?'));
    if (is_reference) {
      found_.push_back({.kind = Kind::Splits, .source = token.source});
      return;
    }
    const DecodedText all = decoded_xml(xml_, token.source);
    for (const ByteRange& character : characters_in(all.text)) {
      const ByteRange source = all.written(character);
      const std::string_view bytes = character.of(all.text);
      if (bytes == "\"" || bytes == "\\t")
        add_token(Kind::Single, source);
      else if (bytes == "\\n")
        add_token(Kind::Splits, source);
      else
        run_.append(character_of(bytes), source);
    }
    flush();
  }

  /// Bytes and escapes.
  static std::vector<ByteRange> characters_in(std::string_view text) {
    std::vector<ByteRange> characters;
    for (std::size_t begin = 0; begin < text.size(); begin = characters.back().end)
      characters.push_back({begin, begin + (text[begin] == '\\' ? escape_length(text, begin) : 1)});
    return characters;
  }

  /// The text of a string without tags.
  static std::string text_of_string(std::string_view xml) {
    const std::string decoded = decoded_xml(xml, {0, xml.size()}).text;
    std::string text;
    for (const ByteRange& character : characters_in(decoded))
      if (character.of(decoded) != "\"") text += character_of(character.of(decoded));
    return text;
  }

  static std::size_t escape_length(std::string_view text, std::size_t place) {
    constexpr std::size_t kEscapeLength = 6;  // \u00E9
    const std::string_view rest = text.substr(place);
    const bool is_number =
        rest.starts_with("\\u") && rest.size() >= kEscapeLength &&
        rest.substr(2, 4).find_first_not_of("0123456789abcdefABCDEF") == std::string_view::npos;
    if (is_number) return kEscapeLength;
    std::size_t end = 1;
    if (rest.size() > 1) next_code_point(rest, end);
    return end;
  }

  static std::string character_of(std::string_view bytes) {
    if (bytes.size() < 2 || bytes[0] != '\\') return std::string(bytes);
    if (bytes[1] == 'n') return "\n";
    if (bytes[1] == 't') return "\t";
    if (bytes[1] != 'u' || bytes.size() == 2) return std::string(bytes.substr(1));
    unsigned number = 0;
    std::from_chars(bytes.data() + 2, bytes.data() + bytes.size(), number, 16);
    std::string character;
    const bool is_half = number >= 0xD800 && number < 0xE000;  // of a character above U+FFFF
    append_utf8(character, is_half ? U'\uFFFD' : static_cast<char32_t>(number));
    return character;
  }

  void add_token(Kind kind, const ByteRange& source) {
    flush();
    found_.push_back({.kind = kind, .source = source});
  }

  void flush() {
    if (!strip(run_.text).empty()) ++runs_;
    std::ranges::move(tokens_within(run_), std::back_inserter(found_));
    run_ = {};
  }

  MarkupDocument& document_;
  const std::string_view xml_;
  std::vector<Element> open_;
  // The depth of the string's element, its content's begin, its first token, and its texts between
  // quotes and line ends.
  std::size_t string_ = 0, begin_ = 0, first_ = 0, runs_ = 0;
  DecodedText run_;
  std::vector<MarkupToken> found_;
};

}  // namespace

void add_android_strings(std::vector<MarkupToken> tokens, MarkupDocument& document) {
  MarkupOptions::Names kept;
  for (const MarkupToken& token : tokens)
    if (token.name.find(':') != std::string::npos && local_name(token.name) == "g")
      kept.insert(token.name);
  AndroidReader(document).read(with_kept(std::move(tokens), kept));
}

}  // namespace dragoman
