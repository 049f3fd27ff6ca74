// Makes phrases for the search of texts that a translation must have: their pieces, for each way in
// which they may begin, and the source positions that they translate.
#pragma once

#include <string>
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

/// The hypothesis with each of the texts in the place of the word that attention says it stands for
/// (RequiredPhrase::begin, end); all else stays as it is. Tokens without </s>. None where no word
/// can be replaced, or the tokenizer cannot write the text. `phrases` are those of the texts.
std::vector<TokenId> with_words_replaced(const std::vector<RequiredText>& texts,
                                         const RequiredPhrases& phrases,
                                         const Hypothesis& hypothesis, const Tokenizer& tokenizer);

/// A translation with its copied texts as they are. The tokenizer may have written them otherwise:
/// "10⁴" as "104", a no-break space as a blank.
std::string with_exact_texts(std::string translation, const std::vector<RequiredText>& texts,
                             const Tokenizer& tokenizer);

}  // namespace dragoman
