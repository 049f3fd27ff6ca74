#include "training/attention_recorder.h"

#include <algorithm>

namespace dragoman {

namespace {

constexpr std::size_t kLines = 1000;  ///< that are looked at

std::vector<std::string> pieces_of(const Tokenizer& tokenizer, const std::vector<TokenId>& tokens) {
  std::vector<std::string> pieces;
  for (const TokenId token : tokens) pieces.push_back(tokenizer.piece(token));
  return pieces;
}

}  // namespace

AttentionRecorder::AttentionRecorder(const TokenizerPair& tokenizers,
                                     const std::vector<std::string>& source,
                                     const std::vector<std::string>& target) {
  std::size_t longest = 1;  // </s> alone is no sentence
  for (std::size_t line = 0; line < std::min(source.size(), kLines); ++line) {
    std::vector<TokenId> source_tokens = tokenizers.source_tokens(source[line]);
    std::vector<TokenId> target_tokens = tokenizers.target_tokens(target[line]);
    const std::size_t least = std::min(source_tokens.size(), target_tokens.size());
    if (std::max(source_tokens.size(), target_tokens.size()) > kMostPieces || least <= longest)
      continue;
    longest = least;
    source_tokens_ = std::move(source_tokens);
    target_tokens_ = std::move(target_tokens);
  }
  source_ = pieces_of(*tokenizers.source, source_tokens_);
  target_ = pieces_of(*tokenizers.target, target_tokens_);
}

RecordedAttention AttentionRecorder::record(Engine& engine) const {
  RecordedAttention recorded{.source = source_, .target = target_, .weights = {}};
  const auto longest = static_cast<std::int64_t>(std::max(source_.size(), target_.size()));
  if (longest == 0 || longest > engine.max_positions()) return recorded;
  const std::int32_t slot = engine.admit({&source_tokens_, 1}).front();
  TokenId previous = 0;
  for (std::size_t t = 0; t < target_tokens_.size(); ++t) {
    const RowOrigin origin{.parent = t == 0 ? -1 : 0, .slot = slot};
    std::vector<float> row;
    Candidate best;
    engine.step({.rows = {&origin, 1},
                 .previous = {&previous, 1},
                 .adjustments = {},
                 .candidates_per_row = 1,
                 .candidates = {&best, 1},
                 .attention = &row});
    recorded.weights.insert(recorded.weights.end(), row.begin(), row.end());
    previous = target_tokens_[t];
  }
  engine.release({&slot, 1});
  return recorded;
}

}  // namespace dragoman
