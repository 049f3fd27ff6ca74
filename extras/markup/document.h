// A document with markup: its passages, which are translated, and all its other bytes, which stay.
#pragma once

#include <array>
#include <compare>
#include <cstddef>
#include <functional>
#include <limits>
#include <map>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/utf8.h"
#include "inference/translation.h"

namespace dragoman {

/// Markup inside a passage. Its bytes appear once in the translated document.
struct InlineTag {
  static constexpr std::size_t kNone = std::numeric_limits<std::size_t>::max();

  ByteRange source;  ///< in the document
  /// In Passage::text. If empty, the tag stands at that offset. Otherwise the text stands for an
  /// element that is kept as it is (`<code>x</code>`), and gives way to it.
  ByteRange text;
  std::size_t partner = kNone;  ///< the tag that begins or ends the same element
  /// One of a pair whose partner stands outside of the passage: it keeps its order among such tags.
  bool keeps_order = false;
  bool blank_before = false, blank_after = false;  ///< white space stands there
  bool divides = false;  ///< placed by length: the same fraction of the text comes before it
  /// The number of a placeholder among the arguments of its format string, from 1; such
  /// placeholders keep their order. 0: it is not a placeholder, or it names its argument itself.
  std::size_t argument = 0;
  bool takes_number = false;  ///< if the order changes, the number is written: %2$s
};

/// How a translation is written into the document.
enum class Writing {
  HtmlText,
  HtmlAttribute,  ///< in quotes, which belong to Passage::source
  HtmlQuoted,     ///< within quotes of either kind
  XmlText,
  Cdata,          ///< in a CDATA section of XML
  AndroidString,  ///< in XML
  PoString,       ///< between quotes
  MarkdownText,
  MarkdownCell,   ///< of a table
  MarkdownTitle,  ///< in quotes, which belong to Passage::source
  SrtText,
  VttText,
};

/// How the apostrophes of a translation are written.
enum class Apostrophes {
  AsTheyAre,
  Doubled,  ///< in a message of ICU: two are one
  /// U+2019, as ICU's manual recommends: it quotes nothing, whatever follows it.
  Typographic,
};

/// A stretch of a document that is translated as one line.
struct Passage {
  ByteRange source;                  ///< in the document
  std::string text;                  ///< without tags, entities and line ends; valid UTF-8
  std::vector<InlineTag> tags = {};  ///< in order
  Writing writing = Writing::HtmlText;
  Apostrophes apostrophes = Apostrophes::AsTheyAre;
  bool is_escaped = false;  ///< what is written is a text of XML: "&lt;b&gt;"
  /// White space between the text and tags around it that the document must keep: no-break spaces.
  std::string space_before = {}, space_after = {};
};

/// A stretch that stays untranslated if its translation is not sound, or if a passage in it gets
/// no words.
struct CheckedStretch {
  ByteRange source;          ///< in the document; each passage lies inside of it or outside
  std::string untranslated;  ///< its bytes without a translation
  std::function<bool(std::string_view written)> is_sound;
};

struct MarkupDocument {
  std::string bytes;
  /// Sorted by their beginnings. An attribute's passage may lie inside a tag of another one.
  std::vector<Passage> passages = {};
  std::vector<CheckedStretch> checked = {};  ///< in order
  /// Whether a translation of the document has its structure; null: any translation has it.
  std::function<bool(std::string_view written)> has_structure = {};
  std::string charset = {};  ///< MarkupOptions::charset
};

// ---- reading ------------------------------------------------------------------------------------

enum class MarkupFormat { None, Html, Xml, Srt, Vtt, Po, Markdown };
constexpr std::array<std::string_view, 7> names_of(MarkupFormat) {
  return {"none", "html", "xml", "srt", "vtt", "po", "markdown"};
}

/// The meaning of line ends in a document.
enum class LineEnds {
  ByTags,  ///< in HTML without any tag they split, else they are blanks
  Blanks,  ///< they are white space like any other
  Split,   ///< no sentence crosses them
};

/// A caller's wishes about the elements of a document. The names are DeepL's.
struct MarkupOptions {
  using Names = std::set<std::string, std::less<>>;

  Names ignore_tags = {};         ///< elements that are kept as they are
  Names splitting_tags = {};      ///< they end sentences
  Names non_splitting_tags = {};  ///< their tags stand within sentences
  /// For XML only. An element splits sentences unless some element of its name has text beside it
  /// in its parent. Without this, only those in splitting_tags split.
  bool outline_detection = true;
  LineEnds line_ends = LineEnds::ByTags;
  /// For HTML only. Attributes that are translated besides title, alt and placeholder: value (of
  /// buttons), content (of a <meta> that describes the page), and any others.
  Names attributes = {};
  /// The charset that the text of a file has been read in (file_text()). The document declares it,
  /// and the translation is written in it. Empty: UTF-8.
  std::string charset = {};
};

/// `text` is valid UTF-8, and `format` is not None. Throws Error as parse_html() and parse_xml()
/// do.
MarkupDocument parse_document(MarkupFormat format, std::string text,
                              const MarkupOptions& options = {});

/// Unicode code points of all passages.
std::size_t count_characters_of(const MarkupDocument& document);

// ---- translations with the alignment of their words ---------------------------------------------

/// A word of the source, counted from 0 between white space, and its weight: 1 for a word that is
/// translated by this word alone.
struct SourceLink {
  std::size_t source_word;
  double weight;
};

struct AlignedWord {
  ByteRange place;  ///< in AlignedText::text
  std::vector<SourceLink> links;
};

struct AlignedText {
  std::string text;
  std::vector<AlignedWord> words = {};  ///< in order; none: nothing is known
};

/// The most words of a line that is aligned with its translation: attention takes memory for the
/// product of the numbers of words on both sides.
inline constexpr std::size_t kMostAlignedWords = 1'000;

/// Whether the passage has tags that an alignment places. In longer passages the place in the text
/// alone decides.
bool needs_alignment(const Passage& passage);

/// LineInput::kept of the passage: the texts of its tags.
std::vector<ByteRange> kept_texts(const Passage& passage);

/// The links of a translation that was asked for with its attention. The weight of a link is the
/// square of the attention; links with less than a twentieth of a word's sum are left out.
AlignedText aligned_text(const TranslatedText& translation);

/// The links that a text has through another language: `first` translates the source, and `second`
/// translates the text of `first`.
AlignedText through_pivot(const AlignedText& first, AlignedText second);

// ---- writing ------------------------------------------------------------------------------------

/// An inline element that has text, but no word of its passage's translation.
struct LostElement {
  std::size_t passage, tag;  ///< the tag that begins it: in Passage::tags

  auto operator<=>(const LostElement&) const = default;
};
/// In order. If such elements are nested, the innermost ones.
std::vector<LostElement> lost_elements(const MarkupDocument& document,
                                       std::span<const AlignedText> translations);
std::string_view text_of(const MarkupDocument& document, const LostElement& element);
/// The translations of the texts of elements, each translated by itself. If a translation has no
/// words, the text stays.
using ElementTexts = std::map<LostElement, std::string>;

struct TranslatedDocument {
  std::string bytes;
  /// How many of MarkupDocument::checked were not translated, and how many passages kept their text
  /// because their translation would have changed the structure.
  std::size_t untranslated = 0;
};

/// The document with its passages replaced by their translations, in its charset. Tags move with
/// the words that they belong to (place_tags()). A lost element gets its text of `elements`.
TranslatedDocument translated_document(const MarkupDocument& document,
                                       std::span<const AlignedText> translations,
                                       const ElementTexts& elements = {});

}  // namespace dragoman
