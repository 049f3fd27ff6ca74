#include "extras/explanation/word_starts.h"

#include <string>
#include <utility>

#include "base/utf8.h"
#include "base/word_characters.h"
#include "tokenizer/byte_piece.h"
#include "tokenizer/space_mark.h"

namespace dragoman {

namespace {

/// What the ends of a piece say of words.
struct Ends {
  bool goes_on;  ///< with the character before: a mark, or a byte that is not its first
  bool is_first_unspaced, is_last_unspaced;
};

Ends ends_of(std::string_view piece) {
  if (const auto byte = byte_of_piece(piece)) {
    // Three bytes from U+3000 to U+9FFF, or four.
    const bool unspaced = (*byte >= 0xE3 && *byte <= 0xE9) || *byte >= 0xF0;
    return {.goes_on = *byte >= 0x80 && *byte < 0xC0,
            .is_first_unspaced = unspaced,
            .is_last_unspaced = unspaced};
  }
  const std::u32string characters = code_points(piece);
  return {.goes_on = general_category(characters.front()).front() == 'M',
          .is_first_unspaced = is_unspaced(characters.front()),
          .is_last_unspaced = is_unspaced(characters.back())};
}

}  // namespace

bool WordStarts::next(std::string_view piece) {
  const bool has_space = piece.starts_with(kSpaceMark);
  const bool is_first = !std::exchange(has_begun_, true);
  if (has_space) piece.remove_prefix(kSpaceMark.size());
  if (piece.empty()) {
    is_after_space_ = has_space;
    is_after_unspaced_ = false;
    return is_first || has_space;
  }
  const Ends ends = ends_of(piece);
  const bool is_after_space = std::exchange(is_after_space_, false);
  const bool is_after_unspaced = is_after_unspaced_;
  if (!ends.goes_on) is_after_unspaced_ = ends.is_last_unspaced;
  if (is_first || has_space) return true;
  return !is_after_space && !ends.goes_on && (ends.is_first_unspaced || is_after_unspaced);
}

}  // namespace dragoman
