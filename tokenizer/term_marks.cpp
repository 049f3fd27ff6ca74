#include "tokenizer/term_marks.h"

#include "base/error.h"

namespace dragoman {

bool has_term_marks(const Tokenizer& source) {
  const std::vector<PieceKind>& kinds = source.facts().kinds;
  const auto is_symbol = [&](std::string_view piece) {
    return kinds[static_cast<std::size_t>(source.id(piece))] == PieceKind::UserDefined;
  };
  return is_symbol(kTermBegins) && is_symbol(kTermEnds);
}

bool is_term_mark(std::string_view piece) { return piece == kTermBegins || piece == kTermEnds; }

MarkedText::MarkedText(std::string_view text, std::span<const RequiredText> terms) {
  std::size_t copied = 0;
  for (const RequiredText& term : terms) {
    text_ += text.substr(copied, term.end - copied);
    copied = term.end;
    const std::string written = join_text(kTermBegins, ' ', term.text, kTermEnds);
    insertions_.push_back({.original = copied, .begin = text_.size(), .size = written.size()});
    text_ += written;
  }
  text_ += text.substr(copied);
}

std::size_t MarkedText::marked_offset(std::size_t original) const {
  std::size_t offset = original;
  for (const Insertion& insertion : insertions_)
    if (insertion.original <= original) offset += insertion.size;
  return offset;
}

std::size_t MarkedText::original_offset(std::size_t offset) const {
  std::size_t inserted = 0;
  for (const Insertion& insertion : insertions_) {
    if (offset < insertion.begin) break;
    if (offset < insertion.begin + insertion.size) return insertion.original - 1;
    inserted += insertion.size;
  }
  return offset - inserted;
}

}  // namespace dragoman
