#include "tokenizer/term_marks.h"

#include <algorithm>

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

std::vector<TextChange> marks_of(std::span<const RequiredText> terms) {
  std::vector<TextChange> marks;
  for (const RequiredText& term : terms)
    marks.push_back({term.end, term.end, join_text(kTermBegins, ' ', term.text, kTermEnds)});
  return marks;
}

MarkedText::MarkedText(std::string_view text, const std::vector<TextChange>& changes) {
  std::size_t copied = 0;
  for (const TextChange& change : changes) {
    text_ += text.substr(copied, change.begin - copied);
    const std::size_t begin = text_.size();
    text_ += change.text;
    stretches_.push_back({change.begin, change.end, begin, text_.size()});
    copied = change.end;
  }
  text_ += text.substr(copied);
}

std::size_t MarkedText::marked_offset(std::size_t original) const {
  std::size_t end = 0, marked_end = 0;  // of the last stretch in front of it
  for (const Stretch& stretch : stretches_) {
    if (original < stretch.end) {
      if (original <= stretch.begin) break;
      return std::min(stretch.marked_begin + original - stretch.begin, stretch.marked_end);
    }
    end = stretch.end;
    marked_end = stretch.marked_end;
  }
  return marked_end + original - end;
}

std::size_t MarkedText::original_offset(std::size_t offset) const {
  std::size_t end = 0, marked_end = 0;
  for (const Stretch& stretch : stretches_) {
    if (offset < stretch.marked_begin) break;
    if (offset < stretch.marked_end)
      return stretch.begin == stretch.end ? stretch.begin - 1 : stretch.begin;
    end = stretch.end;
    marked_end = stretch.marked_end;
  }
  return end + offset - marked_end;
}

}  // namespace dragoman
