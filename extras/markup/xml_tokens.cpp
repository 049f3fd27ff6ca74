// expat reads XML and says where its events stand; everything between them is text.

#include "extras/markup/xml_tokens.h"

#include <expat.h>

#include <algorithm>
#include <array>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <type_traits>
#include <utility>

#include "base/error.h"
#include "base/utf8.h"
#include "extras/markup/icu_messages.h"
#include "extras/markup/markup_formats.h"

// Expat 2.7 has names for positions of 64 bits besides; those before it have only these.
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"

namespace dragoman {

namespace {

using Kind = MarkupToken::Kind;

constexpr std::string_view kFragmentBegin = "<fragment>", kFragmentEnd = "</fragment>";

std::size_t mark_size(std::string_view xml) {
  return xml.starts_with(kByteOrderMark) ? kByteOrderMark.size() : 0;
}

/// Whether a text has what only a document can have in front of its elements.
bool is_document(std::string_view xml) {
  if (xml.substr(mark_size(xml)).starts_with("<?xml")) return true;
  // A document type stands in front of all elements, after comments at most.
  const std::size_t type = xml.find("<!DOCTYPE");
  return type != std::string_view::npos && xml.find("</") > type;
}

class XmlReader {
 public:
  /// `charset`: MarkupOptions::charset.
  XmlReader(std::string_view xml, std::string_view charset)
      : xml_(xml),
        is_converted_(!charset.empty()),
        is_fragment_(!is_document(xml)),
        offset_(is_fragment_ ? kFragmentBegin.size() - mark_size(xml) : 0),
        parser_(XML_ParserCreate("UTF-8"), XML_ParserFree) {
    if (!parser_) throw Error("xml: no memory for the parser");
    XML_SetUserData(parser_.get(), this);
    XML_SetElementHandler(parser_.get(), on_begin, on_end);
    XML_SetCharacterDataHandler(parser_.get(), on_text);
    XML_SetCommentHandler(parser_.get(), [](void* self, const XML_Char*) { single(self); });
    XML_SetProcessingInstructionHandler(
        parser_.get(), [](void* self, const XML_Char*, const XML_Char*) { single(self); });
    XML_SetCdataSectionHandler(parser_.get(), on_section, on_section_end);
    XML_SetDoctypeDeclHandler(parser_.get(), on_doctype, on_section_end);
    XML_SetXmlDeclHandler(parser_.get(), on_declaration);
    XML_SetEntityDeclHandler(parser_.get(), [](void* self, const XML_Char* name, int is_parameter,
                                               const XML_Char* value, int length, const XML_Char*,
                                               const XML_Char*, const XML_Char*, const XML_Char*) {
      const auto size = static_cast<std::size_t>(length);
      if (!is_parameter)
        of(self).declare(name, value ? std::string_view(value, size) : std::string_view());
    });
    // Leaves entities of the document type as they are written.
    XML_SetDefaultHandler(parser_.get(), on_other);
  }

  std::vector<MarkupToken> tokens() {
    if (const std::size_t mark = mark_size(xml_); is_fragment_) {
      // Within the fragment's element it would be a character of its text.
      if (mark > 0) tokens_.push_back({.kind = Kind::Splits, .source = {0, mark}});
      feed(kFragmentBegin, XML_FALSE);
      feed(xml_.substr(mark), XML_FALSE);
      feed(kFragmentEnd, XML_TRUE);
    } else {
      feed(xml_, XML_TRUE);
    }
    if (!fault_.empty()) throw Error("xml: ", fault_);
    flush_text(xml_.size());
    return std::move(tokens_);
  }

 private:
  static XmlReader& of(void* self) { return *static_cast<XmlReader*>(self); }

  void feed(std::string_view text, int is_last) {
    // One call for all: expat reads a long token again with each call.
    if (text.size() > static_cast<std::size_t>(std::numeric_limits<int>::max()))
      throw Error("xml: more than 2 GB; split the document");
    if (XML_Parse(parser_.get(), text.data(), static_cast<int>(text.size()), is_last) ==
        XML_STATUS_OK)
      return;
    if (!fault_.empty()) throw Error("xml: ", fault_);
    if (text == kFragmentEnd) fail_at_the_end();
    const XML_Error code = XML_GetErrorCode(parser_.get());
    const auto line = XML_GetCurrentLineNumber(parser_.get());
    auto column = XML_GetCurrentColumnNumber(parser_.get()) + 1;
    if (line == 1 && is_fragment_) column -= std::min<XML_Size>(kFragmentBegin.size(), column - 1);
    throw Error("xml: line ", line, ", column ", column, ": ", XML_ErrorString(code));
  }

  /// The parser does not know the place of the fragment's end.
  [[noreturn]] void fail_at_the_end() const {
    const std::size_t line = xml_.rfind('\n');
    const std::size_t line_begin = line == std::string_view::npos ? mark_size(xml_) : line + 1;
    throw Error("xml: line ", std::count(xml_.begin(), xml_.end(), '\n') + 1, ", column ",
                xml_.size() - line_begin + 1, ": an element is not closed");
  }

  /// The place of the event in xml_; nothing for the fragment's own tags.
  std::optional<ByteRange> event() const {
    const auto index = XML_GetCurrentByteIndex(parser_.get()) - static_cast<XML_Index>(offset_);
    const auto size = static_cast<std::size_t>(XML_GetCurrentByteCount(parser_.get()));
    if (index < 0 || static_cast<std::size_t>(index) + size > xml_.size()) return std::nullopt;
    return ByteRange{static_cast<std::size_t>(index), static_cast<std::size_t>(index) + size};
  }

  void add(Kind kind, const ByteRange& source, const XML_Char* name = "") {
    flush_text(source.begin);
    tokens_.push_back({.kind = kind, .source = source, .name = name});
  }

  /// The text that has come since the last token ends here.
  void flush_text(std::size_t end) {
    const std::size_t begin = tokens_.empty() ? 0 : tokens_.back().source.end;
    if (begin < end)
      tokens_.push_back({.kind = Kind::Text, .source = {begin, end}, .text = std::move(text_)});
    text_.clear();
  }

  static void on_begin(void* self, const XML_Char* name, const XML_Char** attributes) {
    const auto place = of(self).event();
    if (place) of(self).add(is_excluded(attributes) ? Kind::Kept : Kind::Opens, *place, name);
  }

  /// `attributes`: names and values in turn, also those that the document type supplies.
  static bool is_excluded(const XML_Char** attributes) {
    for (; *attributes != nullptr; attributes += 2) {
      const std::string_view name = attributes[0], value = attributes[1];
      if ((name == "translate" || name == "its:translate") && value == "no") return true;
    }
    return false;
  }

  static void on_end(void* self, const XML_Char* name) {
    XmlReader& reader = of(self);
    const auto place = reader.event();
    if (!place) return;
    if (!place->empty()) return reader.add(Kind::Closes, *place, name);
    reader.tokens_.back().kind = Kind::Single;  // <a/>: its end is an event without bytes
  }

  static void on_text(void* self, const XML_Char* text, int length) {
    XmlReader& reader = of(self);
    if (!reader.section_) reader.text_.append(text, static_cast<std::size_t>(length));
  }

  static void single(void* self) {
    XmlReader& reader = of(self);
    if (reader.section_) return;  // a comment in the document type
    if (const auto place = reader.event()) reader.add(Kind::Single, *place);
  }

  static void on_section(void* self) {
    if (const auto place = of(self).event()) of(self).section_ = place->begin;
  }

  static void on_doctype(void* self, const XML_Char*, const XML_Char*, const XML_Char*, int) {
    on_section(self);
    of(self).section_kind_ = Kind::Splits;
  }

  static void on_section_end(void* self) {
    XmlReader& reader = of(self);
    const auto place = reader.event();
    if (!place || !reader.section_) return;
    reader.add(reader.section_kind_, {*reader.section_, place->end});
    reader.section_.reset();
    reader.section_kind_ = Kind::Single;
  }

  static void on_declaration(void* self, const XML_Char*, const XML_Char* encoding, int) {
    XmlReader& reader = of(self);
    if (const auto place = reader.event()) reader.add(Kind::Splits, *place);
    const std::string name = ascii_upper(encoding ? encoding : "UTF-8");
    if (name == "UTF-8" || name == "UTF8" || reader.is_converted_) return;
    reader.fault_ = join_text("declares the encoding ", encoding,
                              "; convert it to UTF-8 (iconv -t UTF-8), and its declaration, too");
    XML_StopParser(reader.parser_.get(), XML_FALSE);
  }

  /// The first declaration of a name counts.
  void declare(const XML_Char* name, std::string_view value) {
    constexpr std::size_t kMostText = 200;
    const bool has_markup = value.find_first_of("<&") != std::string_view::npos;
    const bool is_text = value.size() <= kMostText && !has_markup;
    entities_.emplace(join_text('&', name, ';'), is_text ? value : "");
  }

  /// A reference to an entity of the document type.
  static void on_other(void* self, const XML_Char* text, int length) {
    XmlReader& reader = of(self);
    const auto place = reader.event();
    if (length == 0 || text[0] != '&' || reader.section_ || !place) return;
    const std::string& value = reader.value_of(std::string(place->of(reader.xml_)));
    const std::size_t characters = count_code_points(value);
    reader.add(characters == 0 ? Kind::Single : characters == 1 ? Kind::Text : Kind::Kept, *place);
    reader.tokens_.back().text = value;
  }

  /// Empty if it is not known, or is not a short text. A document type that is elsewhere most
  /// likely declares the names of HTML.
  const std::string& value_of(const std::string& reference) {
    const auto [entity, is_new] = entities_.try_emplace(reference);
    if (is_new) entity->second = html_character(reference);
    return entity->second;
  }

  const std::string_view xml_;
  const bool is_converted_;  // from the encoding that it declares
  const bool is_fragment_;
  const std::size_t offset_;  // of xml_ in what the parser sees, which has no mark in a fragment
  const std::unique_ptr<std::remove_pointer_t<XML_Parser>, decltype(&XML_ParserFree)> parser_;
  std::vector<MarkupToken> tokens_;
  std::string text_;                    // since the last token
  std::optional<std::size_t> section_;  // begin of a CDATA section or the document type
  Kind section_kind_ = Kind::Single;
  std::map<std::string, std::string> entities_;  // texts of references: "&name;"
  std::string fault_;
};

constexpr std::string_view kXmlBlanks = " \t\r\n";

/// The character that a reference means; empty if XML does not know it.
std::string xml_character(std::string_view reference) {
  constexpr std::array<std::pair<std::string_view, char>, 5> kNames = {
      {{"&lt;", '<'}, {"&gt;", '>'}, {"&amp;", '&'}, {"&quot;", '"'}, {"&apos;", '\''}}};
  for (const auto& [name, character] : kNames)
    if (reference == name) return std::string(1, character);
  return reference.starts_with("&#") ? html_character(std::string(reference)) : "";
}

}  // namespace

std::vector<MarkupToken> xml_tokens(std::string_view xml, std::string_view charset) {
  return XmlReader(xml, charset).tokens();
}

bool begins_content(const MarkupToken& token) {
  return token.kind == Kind::Opens || (token.kind == Kind::Kept && !token.name.empty());
}

std::vector<MarkupToken> with_kept(std::vector<MarkupToken> tokens,
                                   const MarkupOptions::Names& names) {
  std::vector<MarkupToken> all;
  std::size_t depth = 0;  // in a kept element
  for (MarkupToken& token : tokens) {
    const bool is_named =
        !token.name.empty() && names.contains(token.name) && token.kind != Kind::Closes;
    const bool is_kept = depth > 0 || is_named || token.kind == Kind::Kept;
    const std::size_t deeper = is_kept && begins_content(token) ? 1 : 0;
    const std::size_t ends = depth > 0 && token.kind == Kind::Closes ? 1 : 0;
    if (depth == 0) {
      all.push_back(std::move(token));
      if (is_kept) all.back().kind = Kind::Kept;
    } else {
      all.back().source.end = token.source.end;
      if (token.kind == Kind::Text || token.kind == Kind::Kept) all.back().text += token.text;
    }
    depth = depth + deeper - ends;
  }
  return all;
}

void DecodedText::append(std::string_view more, const ByteRange& source) {
  text += more;
  places.back() = source.begin;
  places.insert(places.end(), more.size() - 1, source.begin);
  places.push_back(source.end);
}

ByteRange DecodedText::written(const ByteRange& range) const {
  return {places[range.begin], places[range.end]};
}

std::vector<MarkupToken> tokens_within(const DecodedText& decoded) {
  std::vector<MarkupToken> tokens;
  const auto add = [&](MarkupToken token, std::size_t offset) {
    token.source = decoded.written({token.source.begin + offset, token.source.end + offset});
    tokens.push_back(std::move(token));
  };
  const auto add_all = [&](std::vector<MarkupToken> more, std::size_t offset) {
    for (MarkupToken& token : more) add(std::move(token), offset);
  };
  std::size_t place = 0;
  if (const IcuMessage message = icu_message(decoded.text); message.chooses) {
    const auto add_frame = [&](std::size_t end) {
      if (end > place) add({.kind = Kind::Splits, .source = {place, end}}, 0);
    };
    for (const ByteRange& text : message.texts) {
      add_frame(text.begin);
      add_all(branch_tokens(text.of(decoded.text), {}, message.apostrophes), text.begin);
      place = text.end;
    }
    add_frame(decoded.text.size());
    return tokens;
  }
  add_all(text_tokens(decoded.text, AlsoKept::Placeholders), 0);
  return tokens;
}

DecodedText decoded_xml(std::string_view xml, const ByteRange& range) {
  DecodedText decoded;
  for (std::size_t place = range.begin; place < range.end;) {
    const std::string_view rest = xml.substr(place, range.end - place);
    const std::size_t end = rest.starts_with('&') ? rest.find(';') : std::string_view::npos;
    const std::string character =
        end == std::string_view::npos ? "" : xml_character(rest.substr(0, end + 1));
    const std::size_t length = character.empty() ? 1 : end + 1;
    decoded.append(character.empty() ? rest.substr(0, 1) : character, {place, place + length});
    place += length;
  }
  return decoded;
}

ByteRange xml_attribute(std::string_view xml, const ByteRange& tag, std::string_view name) {
  const std::string_view bytes = tag.of(xml);
  std::size_t place = bytes.find_first_of(kXmlBlanks);
  while ((place = bytes.find_first_not_of(kXmlBlanks, place)) < bytes.size()) {
    const std::size_t quote = bytes.find_first_of("\"'", place);
    if (quote == std::string_view::npos) break;
    const std::size_t end = bytes.find(bytes[quote], quote + 1);
    const std::size_t name_end = bytes.find_first_of(" \t\r\n=", place);
    if (bytes.substr(place, name_end - place) == name)
      return {tag.begin + quote + 1, tag.begin + end};
    place = end + 1;
  }
  return {};
}

}  // namespace dragoman
