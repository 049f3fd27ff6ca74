// What the search asks of a model. The search knows no Transformer; an engine knows no hypothesis.
//
// A *slot* holds an encoded source sentence. A *row* is the decoder's state of one hypothesis: it
// belongs to a slot and has seen some target tokens. All rows take a step together, though each may
// be at a different length, so that a finished sentence's rows can be given to a waiting one.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "tokenizer/tokenizer.h"

namespace dragoman {

struct Candidate {
  TokenId token;
  float log_probability;
};

/// The origin of a row after Engine::select: a copy of an old row, or a fresh one at the start of a
/// sentence.
struct RowOrigin {
  std::int32_t parent;  ///< index of the row it continues, or -1 for a fresh row
  std::int32_t slot;    ///< of the row; a copy stays in its parent's slot
};

/// A token that a row must not produce at this step (minimum length: </s>).
struct Exclusion {
  std::int32_t row;
  TokenId token;
};

/// Tokens that no row ever produces (Tokenizer::never_emitted) are told to an engine when it is
/// made. Probabilities are normalised before anything is excluded.
class Engine {
 public:
  virtual ~Engine() = default;

  virtual std::int64_t vocabulary() const = 0;
  /// The longest source sentence (with </s>) and the longest output that the model can place.
  virtual std::int64_t max_positions() const = 0;
  /// How many rows keep the device busy.
  virtual std::int64_t preferred_rows() const = 0;

  /// Encodes sentences (each ends with </s>) and returns a slot for each.
  virtual std::vector<std::int32_t> admit(std::span<const std::vector<TokenId>> sentences) = 0;
  virtual void release(std::span<const std::int32_t> slots) = 0;

  /// Replaces all rows, before each step. Rows of one slot stand side by side.
  virtual void select(std::span<const RowOrigin> rows) = 0;

  /// Feeds each row its previous token (ignored for a fresh row, which starts from the zero vector)
  /// and writes each row's `best` most probable tokens to `candidates` [R * best], best first, ties
  /// by smaller token; with best == vocabulary() all tokens, in their own order. What is excluded
  /// has log-probability minus infinity.
  virtual void step(std::span<const TokenId> previous, std::span<const Exclusion> excluded,
                    std::int64_t best, std::span<Candidate> candidates) = 0;
};

}  // namespace dragoman
