#include "tokenizer/tokenizer_pair.h"

#include <utility>

namespace dragoman {

EndIds end_ids(const TokenizerPair& tokenizers) {
  return {.source = tokenizers.source->eos_id(),
          .target = tokenizers.target->eos_id(),
          .source_eos = tokenizers.source_eos};
}

std::vector<TokenId> TokenizerPair::source_tokens(std::string_view text) const {
  return source_tokens(source->encode(text));
}

std::vector<TokenId> TokenizerPair::source_tokens(std::vector<TokenId> pieces) const {
  const EndIds ends = end_ids(*this);
  if (ends.ends_source(pieces.size())) pieces.push_back(ends.source);
  return pieces;
}

std::vector<TokenId> TokenizerPair::target_tokens(std::string_view text) const {
  return target_tokens(target->encode(text));
}

std::vector<TokenId> TokenizerPair::target_tokens(std::vector<TokenId> pieces) const {
  pieces.push_back(target->eos_id());
  return pieces;
}

}  // namespace dragoman
