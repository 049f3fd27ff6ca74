// A document with markup: its passages, which are translated, and all its other bytes, which stay.
#pragma once

#include <cstddef>
#include <functional>
#include <limits>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "extras/markup/aligned_text.h"
#include "extras/markup/byte_range.h"

namespace dragoman {

/// Markup inside a passage. Its bytes appear once in the translated document.
struct InlineTag {
  static constexpr std::size_t kNone = std::numeric_limits<std::size_t>::max();

  ByteRange source;  ///< in the document
  /// In Passage::text. Empty: the tag stands in front of it. Not empty: the text stands for an
  /// element that is kept as it is (`<code>x</code>`), and gives way to it.
  ByteRange text;
  std::size_t partner = kNone;  ///< the tag that begins or ends the same element
  /// One of a pair whose partner stands outside of the passage: it keeps its order among such tags.
  bool keeps_order = false;
  bool blank_before = false, blank_behind = false;  ///< white space stands there
  bool divides = false;  ///< stands where the text has the same fraction of its length before it
  /// The number of a placeholder among the arguments of its format string, from 1; it keeps its
  /// order among such. 0: it is none, or says itself which argument it is.
  std::size_t argument = 0;
  bool takes_number = false;  ///< where the order changes the number is written: %2$s
};

/// How a translation is written into the document.
enum class Writing {
  HtmlText,
  HtmlAttribute,  ///< in quotes, which belong to Passage::source
  XmlText,
  PoString,  ///< between quotes
  MarkdownText,
  MarkdownCell,   ///< of a table
  MarkdownTitle,  ///< in quotes, which belong to Passage::source
  Plain,
};

/// A stretch of a document that is translated as one line.
struct Passage {
  ByteRange source;                  ///< in the document
  std::string text;                  ///< without tags, entities and line ends; valid UTF-8
  std::vector<InlineTag> tags = {};  ///< in their order
  Writing writing = Writing::HtmlText;
  /// White space between the text and tags around it, which the document must keep: a no-break
  /// space.
  std::string space_before = {}, space_behind = {};
};

/// A stretch that stays untranslated where its translation is not sound.
struct CheckedStretch {
  ByteRange source;          ///< in the document; each passage lies inside of it or outside
  std::string untranslated;  ///< its bytes without a translation
  std::function<bool(std::string_view written)> is_sound;
};

struct MarkupDocument {
  std::string bytes;
  /// Sorted by their begin. An attribute's passage may lie inside a tag of another one.
  std::vector<Passage> passages = {};
  std::vector<CheckedStretch> checked = {};  ///< in their order
};

struct TranslatedDocument {
  std::string bytes;
  std::size_t untranslated = 0;  ///< of MarkupDocument::checked
};

/// The document with a translation in the place of each passage. Tags move with the words that they
/// belong to (place_tags()).
TranslatedDocument translated_document(const MarkupDocument& document,
                                       std::span<const AlignedText> translations);

/// The most words of a line that is aligned with its translation: attention takes memory for the
/// words of the one times those of the other.
inline constexpr std::size_t kMostAlignedWords = 1'000;

/// Whether the passage has tags that an alignment places. In longer passages tags go by the place
/// in the text alone.
bool needs_alignment(const Passage& passage);

/// Unicode code points of all passages.
std::size_t count_characters_of(const MarkupDocument& document);

}  // namespace dragoman
