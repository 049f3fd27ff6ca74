// The check at the end of an import or export: the same lines go through the other system's model,
// computed as that system defines it, and through ours.
#pragma once

#include <cstdint>
#include <string>

#include "extras/formats/foreign_model.h"
#include "model/file/parameters.h"
#include "tokenizer/tokenizer_pair.h"

namespace dragoman {

/// The largest difference of two log-probabilities in float32, where models are the same.
inline constexpr double kParityTolerance = 5e-3;

struct Parity {
  std::int64_t lines = 0;            ///< of text, and of random pieces
  std::int64_t lines_of_pieces = 0;  ///< lines of text that both cut into the same pieces
  std::int64_t lines_of_text = 0;
  std::int64_t tokens = 0;       ///< of the greedy translations, all together
  std::int64_t same_tokens = 0;  ///< those that the other system's model finds best, too
  double largest = 0;            ///< difference of two log-probabilities

  bool is_same(double tolerance) const {
    return lines_of_pieces == lines_of_text && same_tokens == tokens && largest <= tolerance;
  }
  /// "6 lines: the same pieces, log-probabilities within 1.2e-05, the same greedy translations"
  std::string text() const;
};

/// `ours`, whose tokenizers these are, is computed on the CPU in float32.
Parity parity_of(const ForeignModel& theirs, const ParameterReader& ours,
                 const TokenizerPair& tokenizers);

}  // namespace dragoman
