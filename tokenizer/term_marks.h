// Source text with the translations of its terms written into it: "the dog<term> Hund</term> runs".
// A model that was trained on such text (--train-terms) takes a term over, in the form that its
// sentence needs: Dinu et al. 2019, "Training neural machine translation to apply terminology
// constraints".
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tokenizer/terms.h"
#include "tokenizer/tokenizer.h"

namespace dragoman {

/// User-defined symbols of the tokenizer of such a model.
inline constexpr std::string_view kTermBegins = "<term>", kTermEnds = "</term>";

/// Whether the tokenizer has these symbols.
bool has_term_marks(const Tokenizer& source);
bool is_term_mark(std::string_view piece);

class MarkedText {
 public:
  MarkedText() = default;
  /// `terms` in their order, none overlapping another; none: the text as it is.
  explicit MarkedText(std::string_view text, std::span<const RequiredText> terms = {});

  const std::string& text() const { return text_; }
  /// Where a byte of the text without marks stands. Of a stretch's end: behind what is written for
  /// a term that ends there.
  std::size_t place_of(std::size_t original) const;
  /// The place in the text without marks; of what is written for a term, its last byte's.
  std::size_t original_of(std::size_t place) const;

 private:
  struct Insertion {
    std::size_t original;     // it stands before this byte
    std::size_t begin, size;  // in text_
  };
  std::string text_;
  std::vector<Insertion> insertions_;
};

}  // namespace dragoman
