// Makes phrases for the search of texts that a translation must have: their pieces, for each way in
// which they may begin, and the source positions that they translate.
#pragma once

#include <string_view>
#include <vector>

#include "inference/demands.h"
#include "inference/search/required_phrases.h"
#include "inference/search/search.h"
#include "tokenizer/tokenizer.h"

namespace dragoman {

/// `texts` have byte ranges in `source`. `hypothesis` is a translation of `source` without these
/// texts, with attention.
RequiredPhrases phrases_of(const std::vector<RequiredText>& texts, std::string_view source,
                           const Hypothesis& hypothesis, const Tokenizer& source_tokenizer,
                           const Tokenizer& target_tokenizer);

}  // namespace dragoman
