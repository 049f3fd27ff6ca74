// What a tokenizer does to the text of its side before it cuts it into pieces: its normalisation
// and its lower-casing. The rule is part of the SentencePiece model (normalizer_spec), so every
// program that applies the model writes alike.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>

#include "tokenizer/tokenizer.h"

namespace dragoman {

enum class Normalization : std::uint8_t {
  None,     ///< the text stays as it is, byte for byte
  Nfc,      ///< a letter and its marks become one character, where Unicode has it
  NmtNfkc,  ///< SentencePiece's: NFKC, and a run of white space is one space
};
constexpr std::array<std::string_view, 3> names_of(Normalization) {
  return {"none", "nfc", "nmt_nfkc"};
}

struct TextRule {
  Normalization normalization = Normalization::None;
  bool lowercase = false;
  bool escapes_term_marks = false;  ///< Escapes::SpaceAndTermMarks; not with NmtNfkc

  bool keeps_white_space() const { return normalization != Normalization::NmtNfkc; }
  /// Whether SentencePiece knows the rule by a name of its own.
  bool is_built_in() const { return normalization != Normalization::Nfc && !lowercase; }
  /// The name in the SentencePiece model: "identity", "nfc", "nmt_nfkc_lower".
  std::string name() const;
  bool operator==(const TextRule&) const = default;
};

/// A table for SentencePiece's --normalization_rule_tsv of a rule that is not built in.
/// `normalise` applies NmtNfkc to a character. The table has each character in every canonically
/// equivalent spelling, unless the normalisation is None. ß does not become lower case.
std::string rule_table(const TextRule& rule,
                       const std::function<std::string(std::string_view)>& normalise);

/// The name of a tokenizer's normalisation for people: one of Normalization, with which --lowercase
/// is left aside, or another name that its model has.
std::string normalization_of(const TokenizerFacts& facts);

/// Whether the texts that the tokenizer decodes have no capitals (see TokenizerConfig::lowercase).
bool lower_cases(const Tokenizer& tokenizer);

/// Lines that a tokenizer changes: a model that uses it for its target cannot write them.
struct ChangedLines {
  std::int64_t count = 0;
  std::int64_t first = 0;    ///< from 1; a line that changes in more than white space, if any does
  std::string example = "";  ///< "10⁴" becomes "104"
};
ChangedLines changed_lines(const Tokenizer& tokenizer, std::span<const std::string> lines);

/// The change of a line, from the words before it to those after it: "10⁴" becomes "104". `written`
/// is what the tokenizer makes of it.
std::string described_change(std::string_view line, std::string_view written);

/// Whether two texts differ in white space alone.
bool differ_in_space_alone(std::string_view a, std::string_view b);

}  // namespace dragoman
