// From the hypotheses of a line's sentences to its translation: texts, words and scores.
// place_copies.cpp puts the copies of unseen text (unseen_text.h) into their places.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "inference/line_preparer.h"
#include "inference/search/search.h"
#include "inference/translation.h"
#include "tokenizer/tokenizer.h"

namespace dragoman {

/// A stretch of a translation: a word, or a character in scripts without spaces between words.
struct WrittenUnit {
  std::size_t begin, end;  ///< tokens of the hypothesis; a copied sign has none
  std::string text;        ///< with the blanks in front of it
  std::optional<std::size_t> copy = std::nullopt;  ///< of a copied sign, in UnseenText::copies
  std::optional<std::size_t> word = std::nullopt;  ///< of the copied word that begins in it
};

/// Words of a translation that get at least this fraction of the most attention to a stretch of the
/// source that a word gets: any of them may translate it, because an article attends to its noun,
/// too.
inline constexpr double kAboutTheMost = 0.6;

/// The units of a translation without copies.
std::vector<WrittenUnit> units_of(std::span<const TokenId> tokens, const Tokenizer& target);

/// The translation with the part's copies, as units; it is their texts, joined. A copied word takes
/// the place of its stand-in. If the translation lacks the stand-in, attention chooses the place. A
/// copied sign stands beside the word that translates its neighbour.
std::vector<WrittenUnit> place_copies(const PreparedPart& part, const Hypothesis& hypothesis,
                                      const Tokenizer& target);

/// Joins the n best translations of the line's parts: the best of each part, the second best of
/// each, and so on. A part that has fewer repeats its last one. Copied text has the
/// log-probability 0.
Translation assemble_translation(const PreparedLine& line, const Tokenizer& target);

/// The translation of a part that has this hypothesis, without what is copied around it. The prefix
/// and copied texts stand as they were given: the tokenizer may write "m²" as "m2".
std::string translated_text(const PreparedPart& part, const Hypothesis& hypothesis,
                            const Tokenizer& target);

}  // namespace dragoman
