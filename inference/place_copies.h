// Puts the copies of an unseen text (unseen_text.h) into its translation. A word stands in the
// place of its stand-in: where the translation has that itself, else where attention says. A sign
// stands beside the word that translates its neighbour.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "inference/prepared_line.h"
#include "inference/search/search.h"
#include "tokenizer/tokenizer.h"

namespace dragoman {

/// A stretch of a translation: of a word, or of a character where words have no spaces between
/// them.
struct WrittenUnit {
  std::size_t begin, end;  ///< tokens of the hypothesis; none of a copied sign
  std::string text;        ///< with the blanks in front of it
  std::optional<std::size_t> copy = std::nullopt;  ///< of a copied sign, in UnseenText::copies
  std::optional<std::size_t> word = std::nullopt;  ///< of the copied word that begins in it
};

/// The translation with the copies of the part. The texts of all units are its text.
std::vector<WrittenUnit> place_copies(const PreparedPart& part, const Hypothesis& hypothesis,
                                      const Tokenizer& target);

}  // namespace dragoman
