// A sentence and a translation that is given.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "tokenizer/tokenizer.h"

namespace dragoman {

/// The tokens of both sides, as the model reads them: TokenizerPair::source_tokens() and
/// target_tokens().
struct SentencePair {
  std::vector<TokenId> source, target;
};

/// The tokens of the longer side.
inline std::int64_t longer_side(const SentencePair& pair) {
  return static_cast<std::int64_t>(std::max(pair.source.size(), pair.target.size()));
}

/// The most tokens of one worker (a thread or an engine) of a group that has `max_tokens` together.
/// With fewer than 512, its products would be small and slow.
inline std::int64_t tokens_of_worker(std::int64_t max_tokens, std::int64_t workers) {
  return std::max(std::min<std::int64_t>(max_tokens, 512), max_tokens / workers);
}

}  // namespace dragoman
