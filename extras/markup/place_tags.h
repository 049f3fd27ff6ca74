// Where the tags of a passage stand in its translation.
#pragma once

#include <cstddef>
#include <vector>

#include "extras/markup/document.h"

namespace dragoman {

struct PlacedTag {
  std::size_t tag;       ///< in Passage::tags
  ByteRange text;        ///< of the translation; it gives way to the tag, and is mostly empty
  bool is_same = false;  ///< that text is the one that the tag stands for
};

/// Each tag once, in the order in which they are written; their texts do not overlap. An element
/// takes the stretch of the translation whose words come mostly from its own. Elements of the same
/// parent do not overlap, and stay inside of it. A single tag goes after the translation of the
/// word in front of it, or before that of the next word if it touches that one alone. All tags stay
/// on their side of half an element whose other half is in another passage.
std::vector<PlacedTag> place_tags(const Passage& passage, const AlignedText& translation);

/// LineInput::kept of a translation of the passage that is to be translated again: the texts that
/// stand for those of the tags (kept_texts(passage)).
std::vector<ByteRange> kept_texts(const Passage& passage, const AlignedText& translation);

}  // namespace dragoman
