// What the end of a sentence is told from beside its full stop: abbreviations, words that often
// begin sentences, and what stands around ordinal numbers, of the common languages together, as no
// line says which language it is in.
#pragma once

#include <string_view>

namespace dragoman {

/// Whether a full stop behind a word ends the sentence.
enum class Abbreviation {
  None,          ///< it does: the word is no abbreviation
  Inside,        ///< never: more must follow ("Dr.", "e.g.")
  BeforeNumber,  ///< not before a number ("No. 5", "p. 7", "Jan. 3")
  Anywhere,      ///< only where the next word is one that begins sentences ("etc.", "Inc.")
};

enum class LetterCase {
  Kept,
  Lost,  ///< the text has no capitals
};

/// Of a word in UTF-8 without its last full stop, but with others that it has ("e.g", "z.b").
Abbreviation abbreviation(std::string_view word, LetterCase letter_case);

/// Whether a word, however it is written, is more likely to have a capital because a sentence
/// begins than for any other reason ("The", "Er", "Elle").
bool often_begins_sentence(std::string_view word);

/// Whether a number with a full stop behind this word is an ordinal ("am 3. Oktober").
bool comes_before_ordinal(std::string_view word);

/// Names of months in languages whose dates have ordinals ("3. Mai").
bool is_month(std::string_view word);

}  // namespace dragoman
