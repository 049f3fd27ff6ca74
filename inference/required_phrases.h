// Texts that a translation should have as phrases of the search: their pieces, for each place where
// they may begin, and the places of the source that they translate.
#pragma once

#include <string_view>
#include <vector>

#include "inference/demands.h"
#include "inference/phrases.h"
#include "inference/search.h"
#include "tokenizer/tokenizer.h"

namespace dragoman {

/// `texts` of a stretch of source; `lacking` is a translation of it that lacks them, with
/// attention.
RequiredPhrases phrases_of(const std::vector<RequiredText>& texts, std::string_view source,
                           const Hypothesis& lacking, const Tokenizer& source_tokenizer,
                           const Tokenizer& target_tokenizer);

}  // namespace dragoman
