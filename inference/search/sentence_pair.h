// A sentence and a translation that is given.
#pragma once

#include <vector>

#include "tokenizer/tokenizer.h"

namespace dragoman {

/// The tokens of both sides, as the model reads them: TokenizerPair::source_tokens() and
/// target_tokens().
struct SentencePair {
  std::vector<TokenId> source, target;
};

}  // namespace dragoman
