// A source text with characters that the model has never seen, as the model reads it. A letter is
// read in another form that the model has seen: composed, decomposed, a variant, in the other case,
// without its accent; a quotation mark as a typographic or a plain one. If a letter has no such
// form, its word is copied, and the model reads a stand-in for it. Other signs are left out and
// copied. The forms are Unicode's (UAX #15); place_copies() puts the copies into the translation.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/unicode.h"
#include "base/utf8.h"
#include "tokenizer/terms.h"

namespace dragoman {

/// Bytes [begin, end) of the source text that are copied into the translation.
struct CopiedText {
  enum class Kind {
    Word,  ///< in the place of a word of the translation: that of the stand-in
    Sign,  ///< beside the translation of the words around it
  };
  std::size_t begin, end;
  Kind kind;
  /// The text that the model reads instead of a word. If the model has seen no letter that could
  /// stand in, it reads the word itself.
  std::string stand_in = {};
  std::size_t word = 0;  ///< the number of its word in the source line, if words are asked for
  bool operator==(const CopiedText&) const = default;
};

struct UnseenText {
  std::vector<TextChange> changes = {};  ///< in the order of the text
  std::vector<CopiedText> copies = {};   ///< in the order of the text
  /// There is no letter and no number besides the copies: the whole text stays as it is.
  bool is_all = false;
};

/// `text` is valid UTF-8. The stretches `kept`, in order, are read as they are. Empty if the model
/// has seen all of the text.
UnseenText unseen_text(std::string_view text, const CharacterSet& seen,
                       std::span<const ByteRange> kept = {});

}  // namespace dragoman
