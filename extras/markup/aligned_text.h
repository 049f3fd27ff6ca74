// A translation with the alignment of its words.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "extras/markup/byte_range.h"
#include "inference/translation.h"

namespace dragoman {

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
  /// In their order. None: nothing is known.
  std::vector<AlignedWord> words = {};
};

/// The words between white space.
std::vector<ByteRange> words_of(std::string_view text);

/// The links of a translation that was asked for with its attention. A word is linked to the source
/// words of much attention: squares of it count, and what has less than a twentieth of them is left
/// out.
AlignedText aligned_text(const TranslatedText& translation);

/// The links that a text has through another language: `first` translates the source, and `second`
/// translates the text of `first`.
AlignedText through_pivot(const AlignedText& first, AlignedText second);

}  // namespace dragoman
