// Words that tell whether a full stop ends a sentence: abbreviations, words that often begin
// sentences, and words around ordinal numbers. The lists have the words of the common languages
// together, as no line says which language it is in.
#pragma once

#include <string_view>

namespace dragoman {

/// Whether a full stop after a word ends the sentence.
enum class Abbreviation {
  None,          ///< yes: the word is not an abbreviation
  Inside,        ///< never: more must follow ("Dr.", "e.g.")
  BeforeNumber,  ///< not before a number ("No. 5", "p. 7", "Jan. 3")
  Anywhere,      ///< only if the next word is one that begins sentences ("etc.", "Inc.")
};

enum class LetterCase {
  Kept,
  Lost,  ///< the text has no capitals
};

/// The kind of a word in UTF-8, without its last full stop but with its other full stops ("e.g",
/// "z.b").
Abbreviation abbreviation(std::string_view word, LetterCase letter_case);

/// Whether a capital of the word is most likely due to the beginning of a sentence ("The", "Er",
/// "Elle"). The case of `word` does not matter.
bool often_begins_sentence(std::string_view word);

/// Whether a number with a full stop after this word is an ordinal ("am 3. Oktober").
bool comes_before_ordinal(std::string_view word);

/// Names of months in languages whose dates have ordinals ("3. Mai").
bool is_month(std::string_view word);

}  // namespace dragoman
