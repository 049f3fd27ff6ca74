// Normalisation rules that make a SentencePiece model lower-case its text. The rules are part of
// the model, so every program that applies the model lower-cases alike.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "tokenizer/tokenizer.h"

namespace dragoman {

/// A table for SentencePiece's --normalization_rule_tsv. It maps each character, in every
/// canonically equivalent spelling, to the lower case of normalise(character). ß does not change.
std::string lowercase_rules(const std::function<std::string(std::string_view)>& normalise);

/// Whether the texts that the tokenizer decodes have no capitals (see TokenizerConfig::lowercase).
bool lower_cases(const Tokenizer& tokenizer);

}  // namespace dragoman
