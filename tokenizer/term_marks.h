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

class MarkedText {
 public:
  MarkedText() = default;
  /// `terms` are in the order of the text and do not overlap. Without terms the text has no marks.
  explicit MarkedText(std::string_view text, std::span<const RequiredText> terms = {});

  const std::string& text() const { return text_; }
  /// The offset in the marked text of a byte of the original text. The end of a term's stretch lies
  /// behind the translation that is written there.
  std::size_t marked_offset(std::size_t original) const;
  /// The offset in the original text of a byte of the marked text. A byte of a written translation
  /// has the offset of the term's last byte.
  std::size_t original_offset(std::size_t offset) const;

 private:
  struct Insertion {
    std::size_t original;     // it stands before this byte
    std::size_t begin, size;  // in text_
  };
  std::string text_;
  std::vector<Insertion> insertions_;
};

}  // namespace dragoman
