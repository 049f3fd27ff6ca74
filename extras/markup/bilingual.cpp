// Files with a text and its translation side by side: XLIFF 1.2 and 2.1 of OASIS, TMX 1.4 of LISA.
// An empty translation is filled with its source, whose texts are then the passages.

#include <algorithm>
#include <cstddef>
#include <functional>
#include <iterator>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/formatted_text.h"
#include "base/utf8.h"
#include "extras/markup/icu_messages.h"
#include "extras/markup/xml_formats.h"
#include "extras/markup/xml_tokens.h"

namespace dragoman {

namespace {

using Kind = MarkupToken::Kind;

// ---- elements -----------------------------------------------------------------------------------

struct Element {
  std::string_view name;  ///< without its prefix
  const Element* parent;  ///< null: it is the root
  ByteRange tag;          ///< its start tag, or all of <a/>
  ByteRange content;      ///< empty in <a/>
  ByteRange all;
  bool is_blank = true;  ///< it has neither text nor elements
};

/// Whether a token has neither text nor an element: white space, a comment, an instruction.
bool has_nothing(std::string_view xml, const MarkupToken& token) {
  const std::string_view bytes = token.source.of(xml);
  if (is_section(bytes)) return strip(within_section(token.source).of(xml)).empty();
  return token.kind == Kind::Text ? strip(token.text).empty()
                                  : bytes.starts_with("<!--") || bytes.starts_with("<?");
}

/// In the order of their start tags. Parents stand in the same list.
std::vector<Element> elements_of(std::string_view xml, const std::vector<MarkupToken>& tokens) {
  std::vector<Element> elements;
  elements.reserve(tokens.size());  // so that parents stay where they are
  std::vector<Element*> open;
  for (const MarkupToken& token : tokens) {
    Element* const parent = open.empty() ? nullptr : open.back();
    if (token.kind == Kind::Closes) {
      parent->content.end = token.source.begin;
      parent->all.end = token.source.end;
      open.pop_back();
      continue;
    }
    if (parent != nullptr && !has_nothing(xml, token)) parent->is_blank = false;
    if (token.name.empty()) continue;
    elements.push_back({.name = local_name(token.name),
                        .parent = parent,
                        .tag = token.source,
                        .content = {token.source.end, token.source.end},
                        .all = token.source});
    if (token.kind == Kind::Opens) open.push_back(&elements.back());
  }
  return elements;
}

/// The children of an element that have this name.
std::vector<const Element*> children_of(const Element& parent, std::string_view name,
                                        const std::vector<Element>& elements) {
  std::vector<const Element*> children;
  for (const Element* child = &parent + 1;
       child != elements.data() + elements.size() && child->all.begin < parent.all.end; ++child)
    if (child->parent == &parent && child->name == name) children.push_back(child);
  return children;
}

const Element* child_of(const Element& parent, std::string_view name,
                        const std::vector<Element>& elements) {
  const auto children = children_of(parent, name, elements);
  return children.empty() ? nullptr : children.front();
}

// ---- units --------------------------------------------------------------------------------------

/// A change of the document: bytes in the place of a range, with a copy of a source in the middle.
struct Fill {
  ByteRange replaced;
  std::string before = {};
  std::string content = {};  ///< empty: a unit that stays untranslated
  std::string after = {};
};

/// Whether two languages are the same, or one is a kind of the other: "en" and "en-US".
bool is_same_language(std::string_view a, std::string_view b) {
  const auto primary = [](std::string_view language) {
    return ascii_lower(language.substr(0, language.find_first_of("-_")));
  };
  return primary(a) == primary(b);
}

/// The units of a file without a translation. What XLIFF and TMX say about their units is here.
class UnitFinder {
 public:
  UnitFinder(XmlFormat format, std::string_view xml, const std::vector<MarkupToken>& tokens)
      : format_(format), xml_(xml), elements_(elements_of(xml, tokens)) {
    for (const MarkupToken& token : tokens)
      if (is_section(token.source.of(xml))) sections_.push_back(token.source);
  }

  std::vector<Fill> fills() {
    const bool is_tmx = format_ == XmlFormat::Tmx;
    const std::string_view unit = is_tmx                         ? "tu"
                                  : format_ == XmlFormat::Xliff1 ? "trans-unit"
                                                                 : "segment";
    std::string_view language;  // of the sources, in TMX
    std::size_t end = 0;        // of the unit before: a unit within another one is not one
    for (const Element& element : elements_) {
      if (is_tmx && element.name == "header") language = attribute(element, "srclang");
      if (element.name != unit || element.all.begin < end) continue;
      end = element.all.end;
      if (is_tmx)
        fill_tmx(element, language);
      else
        fill_xliff(element);
    }
    return std::move(fills_);
  }

 private:
  std::string_view attribute(const Element& element, std::string_view name) const {
    return xml_attribute(xml_, element.tag, name).of(xml_);
  }

  void fill_xliff(const Element& unit) {
    const Element* source = child_of(unit, "source", elements_);
    const Element* segmented = child_of(unit, "seg-source", elements_);
    const Element* target = child_of(unit, "target", elements_);
    if (source == nullptr || source->is_blank || (target != nullptr && !target->is_blank)) return;
    const Element& copied = segmented != nullptr ? *segmented : *source;
    const std::string name = name_beside(*source, "target");
    Fill fill{.replaced = {copied.all.end, copied.all.end},
              .before = '<' + name + '>',
              .content = copy_of(copied),
              .after = "</" + name + '>'};
    if (target != nullptr) {
      fill.replaced = target->all;
      fill.before = opened(target->tag);
    }
    if (format_ == XmlFormat::Xliff1) {
      fill.before = with_attribute(fill.before, "state", "translated");
      fill.before = with_attribute(fill.before, "state-qualifier", "mt-suggestion");
    }
    if (target == nullptr) fill.before.insert(0, blanks_before(source->all.begin));
    if (format_ == XmlFormat::Xliff2) {
      const ByteRange between{unit.tag.end, fill.replaced.begin};
      fill.before.insert(0, join_text(with_state(unit.tag), between.of(xml_)));
      fill.replaced.begin = unit.tag.begin;
    }
    add(std::move(fill));
  }

  /// A unit with several empty translations stays untranslated: their languages differ.
  void fill_tmx(const Element& unit, std::string_view language) {
    const std::string_view own = attribute(unit, "srclang");
    if (!own.empty()) language = own;
    const bool is_any = language.empty() || language == "*all*";
    const Element* source = nullptr;
    bool is_alone = true;
    std::vector<const Element*> empty;
    for (const Element* variant : children_of(unit, "tuv", elements_)) {
      const Element* segment = child_of(*variant, "seg", elements_);
      if (segment == nullptr) continue;
      const bool is_source =
          source == nullptr && !segment->is_blank &&
          (is_any || is_same_language(attribute(*variant, "xml:lang"), language));
      if (is_source)
        source = segment;
      else
        is_alone = false;
      if (segment->is_blank) empty.push_back(segment);
    }
    if (source == nullptr) return;
    if (is_alone)
      add({.replaced = source->content, .content = copy_of(*source)});
    else if (empty.size() == 1)
      add({.replaced = empty.front()->all,
           .before = opened(empty.front()->tag),
           .content = copy_of(*source),
           .after = "</" + name_beside(*source, "seg") + '>'});
    else if (empty.size() > 1)
      add({.replaced = {unit.all.begin, unit.all.begin}});
  }

  /// Texts of a message that chooses can be found if no tag stands in the message, and no text
  /// beside the choice.
  void add(Fill fill) {
    const IcuMessage message =
        icu_message(decoded_xml(fill.content, {0, fill.content.size()}).text);
    const bool has_tags = fill.content.find('<') != std::string::npos;
    if (message.chooses && (has_tags || message.texts.empty()))
      fill = {.replaced = {fill.replaced.begin, fill.replaced.begin}};
    fills_.push_back(std::move(fill));
  }

  /// The content of an element. Its sections are escaped texts, so that what they have is
  /// translated as in any other text.
  std::string copy_of(const Element& element) const {
    std::string copy;
    std::size_t place = element.content.begin;
    auto section = std::ranges::lower_bound(sections_, place, {}, &ByteRange::begin);
    for (; section != sections_.end() && section->end <= element.content.end; ++section) {
      copy += ByteRange{place, section->begin}.of(xml_);
      copy += with_references(within_section(*section).of(xml_), "&<>");
      place = section->end;
    }
    copy += ByteRange{place, element.content.end}.of(xml_);
    return copy;
  }

  /// With the prefix of another element.
  std::string name_beside(const Element& element, std::string_view name) const {
    const std::string_view tag = element.tag.of(xml_).substr(1);
    const std::size_t prefix = tag.find(element.name);
    return std::string(tag.substr(0, prefix)).append(name);
  }

  /// <a> of <a/>.
  std::string opened(const ByteRange& tag) const {
    std::string bytes(tag.of(xml_));
    if (bytes.ends_with("/>")) bytes.erase(bytes.size() - 2, 1);
    return bytes;
  }

  std::string with_state(const ByteRange& tag) const {
    return with_attribute(std::string(tag.of(xml_)), "state", "translated");
  }

  static std::string with_attribute(std::string tag, std::string_view name,
                                    std::string_view value) {
    const ByteRange old = xml_attribute(tag, {0, tag.size()}, name);
    if (old.end > 0) return tag.replace(old.begin, old.size(), value);
    const std::string added = join_text(' ', name, "=\"", value, '"');
    return tag.insert(tag.find_last_not_of(" \t\r\n/>") + 1, added);
  }

  std::string blanks_before(std::size_t place) const {
    const std::size_t text = xml_.find_last_not_of(" \t\r\n", place - 1);
    return std::string(xml_.substr(text + 1, place - text - 1));
  }

  const XmlFormat format_;
  const std::string_view xml_;
  const std::vector<Element> elements_;
  std::vector<ByteRange> sections_;
  std::vector<Fill> fills_;
};

/// The document with its fills, and the places of what is to be translated in it.
struct FilledDocument {
  std::string bytes = {};
  std::vector<ByteRange> copies = {};
  std::vector<CheckedStretch> checked = {};
};

/// Whether a fill is sound, written with a translation of its content.
std::function<bool(std::string_view)> check_of(const Fill& fill) {
  const std::string& content = fill.content;
  if (content.empty()) return [](std::string_view) { return false; };
  return [frame = fill.before.size() + fill.after.size(), begin = fill.before.size(),
          source = decoded_xml(content, {0, content.size()}).text](std::string_view written) {
    const ByteRange copy{begin, begin + written.size() - frame};
    return has_same_signs({}, source, decoded_xml(written, copy).text);
  };
}

FilledDocument filled(std::string_view xml, const std::vector<Fill>& fills) {
  FilledDocument document;
  std::string& bytes = document.bytes;
  std::size_t place = 0;
  for (const Fill& fill : fills) {
    bytes.append(xml, place, fill.replaced.begin - place);
    const std::size_t begin = bytes.size(), copy = begin + fill.before.size();
    bytes.append(join_text(fill.before, fill.content, fill.after));
    place = fill.replaced.end;
    if (!fill.content.empty()) document.copies.push_back({copy, copy + fill.content.size()});
    document.checked.push_back({.source = {begin, bytes.size()},
                                .untranslated = std::string(fill.replaced.of(xml)),
                                .is_sound = check_of(fill)});
  }
  bytes.append(xml, place);
  return document;
}

// ---- inline codes -------------------------------------------------------------------------------

/// Codes of the format that the text comes from; their content is not text.
enum class Code { None, Begins, Ends, Single };

Code code_of(std::string_view name) {
  if (is_among(name, {"bpt", "bx", "sc"})) return Code::Begins;
  if (is_among(name, {"ept", "ex", "ec"})) return Code::Ends;
  const bool is_single = is_among(name, {"ph", "x", "it", "ut", "cp", "sm", "em"});
  return is_single ? Code::Single : Code::None;
}

/// The number that a pair of codes has in common.
std::string_view number_of(std::string_view xml, const ByteRange& tag) {
  for (const std::string_view name : {"i", "rid", "startRef", "id"}) {
    const ByteRange value = xml_attribute(xml, tag, name);
    if (!value.empty()) return value.of(xml);
  }
  return {};
}

void read_code(std::string_view xml, MarkupToken& token) {
  const Code code = token.name.empty() ? Code::None : code_of(local_name(token.name));
  if (code == Code::None) return;
  token.kind = code == Code::Begins ? Kind::Opens
               : code == Code::Ends ? Kind::Closes
                                    : Kind::Single;
  token.name = join_text("code ", number_of(xml, token.source));
  token.text.clear();
}

/// The tokens of the copies, with all others as Kind::Splits.
std::vector<MarkupToken> tokens_of_copies(std::string_view xml, std::vector<MarkupToken> tokens,
                                          const std::vector<ByteRange>& copies) {
  for (MarkupToken& token : tokens) {
    if (token.kind != Kind::Opens) continue;
    const std::string_view name = local_name(token.name);
    const std::string_view type = xml_attribute(xml, token.source, "mtype").of(xml);
    if (code_of(name) != Code::None || (name == "mrk" && type == "protected"))
      token.kind = Kind::Kept;
  }
  std::vector<MarkupToken> found;
  auto copy = copies.begin();
  for (MarkupToken& token : with_kept(std::move(tokens), {})) {
    while (copy != copies.end() && copy->end <= token.source.begin) ++copy;
    const bool is_inside = copy != copies.end() && copy->begin <= token.source.begin;
    const bool is_segment = local_name(token.name) == "mrk" &&
                            xml_attribute(xml, token.source, "mtype").of(xml) == "seg";
    if (!is_inside || is_segment)
      found.push_back({.kind = Kind::Splits, .source = token.source});
    else if (token.kind == Kind::Text)
      std::ranges::move(tokens_within(decoded_xml(xml, token.source)), std::back_inserter(found));
    else
      read_code(xml, found.emplace_back(std::move(token)));
  }
  return found;
}

}  // namespace

void add_bilingual_units(XmlFormat format, const std::vector<MarkupToken>& tokens,
                         MarkupDocument& document) {
  FilledDocument filled_document =
      filled(document.bytes, UnitFinder(format, document.bytes, tokens).fills());
  document.bytes = std::move(filled_document.bytes);
  document.checked = std::move(filled_document.checked);
  std::vector<MarkupToken> found = tokens_of_copies(
      document.bytes, xml_tokens(document.bytes, document.charset), filled_document.copies);
  if (document.bytes.find("xml:space=\"preserve\"") != std::string::npos)
    found = split_at_line_ends(document.bytes, std::move(found));
  document.passages = passages_of(document.bytes, found, Writing::XmlText);
}

}  // namespace dragoman
