// Source text with the translations of its terms written into it: "the dog<term> Hund</term> runs".
// A model that was trained on such text (--train-terms) copies the translation of a term, in the
// form that its sentence needs: Dinu et al. 2019, "Training neural machine translation to apply
// terminology constraints".
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tokenizer/terms.h"
#include "tokenizer/tokenizer.h"

namespace dragoman {

/// User-defined symbols of the tokenizer of a model with --train-terms.
inline constexpr std::string_view kTermBegins = "<term>", kTermEnds = "</term>";

/// Whether the tokenizer has these symbols.
bool has_term_marks(const Tokenizer& source);
bool is_term_mark(std::string_view piece);

/// A text that is read instead of the bytes [begin, end) of another one.
struct TextChange {
  std::size_t begin, end;
  std::string text;
  bool operator==(const TextChange&) const = default;
};

/// The translations of `terms`, to be written behind them. They are in the order of the text and do
/// not overlap.
std::vector<TextChange> marks_of(std::span<const RequiredText> terms);

/// A text with changes, and the way from one to the other.
class MarkedText {
 public:
  MarkedText() = default;
  /// `changes` are in the order of the text and do not overlap.
  explicit MarkedText(std::string_view text, const std::vector<TextChange>& changes = {});

  const std::string& text() const { return text_; }
  /// The offset in the marked text of a byte of the original text. The end of a term's stretch lies
  /// behind the translation that is written there.
  std::size_t marked_offset(std::size_t original) const;
  /// The offset in the original text of a byte of the marked text. A byte of a written translation
  /// has the offset of the term's last byte, a byte of another change that of its first.
  std::size_t original_offset(std::size_t offset) const;

 private:
  struct Stretch {
    std::size_t begin, end;                // of the original text
    std::size_t marked_begin, marked_end;  // of text_, which stand there instead
  };
  std::string text_;
  std::vector<Stretch> stretches_;
};

}  // namespace dragoman
