// The cross-attention of one validation pair at each validation, for pictures of how the model
// comes to know which words belong together.
#pragma once

#include <string>
#include <vector>

#include "inference/search/engine.h"
#include "tokenizer/tokenizer_pair.h"

namespace dragoman {

struct RecordedAttention {
  std::vector<std::string> source, target;  ///< pieces, with </s>
  /// [target, source], the mean of the heads of the layer that AttentionHeads takes. Row t is of
  /// the position that predicts target piece t. Each row sums to 1.
  std::vector<float> weights;

  bool empty() const { return weights.empty(); }
};

class AttentionRecorder {
 public:
  static constexpr std::size_t kMostPieces = 20;  ///< of each side, with </s>

  /// Chooses the longest pair that has no more than kMostPieces, among the first 1,000. Lines may
  /// all be too long or empty; then nothing is recorded.
  AttentionRecorder(const TokenizerPair& tokenizers, const std::vector<std::string>& source,
                    const std::vector<std::string>& target);

  /// The model's attention while it reads the pair's target; nothing where it has too few
  /// positions. The engine holds no other sentence.
  RecordedAttention record(Engine& engine) const;

 private:
  std::vector<TokenId> source_tokens_, target_tokens_;  // empty: no pair fits
  std::vector<std::string> source_, target_;            // their pieces
};

}  // namespace dragoman
