// Normalisation rules that make a SentencePiece model lower-case its text: the rule is part of the
// model, so that whatever program applies the model lower-cases alike.
#pragma once

#include <functional>
#include <string>
#include <string_view>

namespace dragoman {

/// A table of SentencePiece's --normalization_rule_tsv: what `normalise` makes of each character,
/// whichever canonically equivalent sequence it is written as, in lower case; ß stays.
std::string lowercase_rules(const std::function<std::string(std::string_view)>& normalise);

}  // namespace dragoman
