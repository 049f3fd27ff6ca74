// Where the words of a text begin among its pieces.
#pragma once

#include <string_view>

namespace dragoman {

/// Goes through the pieces of a text. A word begins at a space, and in scripts that are written
/// without spaces (is_unspaced) at each piece. A space that is a piece by itself belongs to the
/// word behind it. The bytes of a character that is no piece ("<0xE5>") stay together.
class WordStarts {
 public:
  /// Whether a word begins with the next piece. Valid UTF-8.
  bool next(std::string_view piece);

 private:
  bool has_begun_ = false;
  bool is_after_space_ = false;     // the piece before was a space by itself
  bool is_after_unspaced_ = false;  // the character before has a script without spaces
};

}  // namespace dragoman
