// The check at the end of an import or export: the same lines go through the other system's model,
// computed as that system defines it, and through ours.
#pragma once

#include <cstdint>
#include <string>

#include "extras/formats/foreign_model.h"
#include "model/file/model_file.h"
#include "tokenizer/tokenizer.h"

namespace dragoman {

/// The largest difference between two log-probabilities in float32 if the models are the same.
inline constexpr double kParityTolerance = 5e-3;

struct Parity {
  std::int64_t lines = 0;            ///< lines of text and of random pieces
  std::int64_t lines_of_pieces = 0;  ///< lines of text that both cut into the same pieces
  std::int64_t lines_of_text = 0;
  std::int64_t tokens = 0;       ///< of all greedy translations together
  std::int64_t same_tokens = 0;  ///< tokens that the other system's model finds best, too
  double largest = 0;            ///< difference between two log-probabilities

  bool is_same(double tolerance) const {
    return lines_of_pieces == lines_of_text && same_tokens == tokens && largest <= tolerance;
  }
  /// "6 lines: the same pieces, log-probabilities within 1.2e-05, the same greedy translations"
  std::string text() const;
};

/// Computes `ours`, whose tokenizers these are, on the CPU in float32.
Parity parity_of(const ForeignModel& theirs, const ParameterReader& ours,
                 const TokenizerPair& tokenizers);

}  // namespace dragoman
