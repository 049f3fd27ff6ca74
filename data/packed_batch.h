// A batch without padding: the tokens of all sentences side by side, and where each sentence
// starts.
#pragma once

#include <cstdint>
#include <vector>

#include "tokenizer/tokenizer.h"

namespace dragoman {

/// One side of a batch: B sentences, N tokens.
struct PackedSide {
  std::vector<TokenId> tokens;       ///< [N]
  std::vector<std::int32_t> starts;  ///< [B+1]; sentence b is tokens[starts[b]..starts[b+1])

  std::int64_t size() const { return static_cast<std::int64_t>(tokens.size()); }
  std::int64_t sentences() const { return static_cast<std::int64_t>(starts.size()) - 1; }
};

/// A target piece that should attend to a source piece, by their positions in the sentence. The
/// weights of the links of a target piece sum to 1.
struct PieceLink {
  std::int32_t source, target;
  float weight;
};

struct PackedBatch {
  PackedSide source;  ///< each sentence ends with </s>, unless the model's sources have none
  PackedSide target;  ///< each sentence ends with </s>; the decoder's input is this shifted by one
  std::vector<std::int64_t> sentences;             ///< [B] numbers of the sentences in the corpus
  std::vector<std::vector<PieceLink>> links = {};  ///< [B] with --guided-alignment, else empty
};

}  // namespace dragoman
