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
  std::int32_t slot;    ///< of a fresh row; a copy stays in its parent's slot
};

/// Tokens that a row must not produce at this step (minimum length: </s>; always:
/// Tokenizer::never_emitted).
using Excluded = std::vector<TokenId>;

class Engine {
 public:
  virtual ~Engine() = default;

  virtual std::int64_t vocabulary() const = 0;

  /// Encodes sentences (each ends with </s>) and returns a slot for each.
  virtual std::vector<std::int32_t> admit(std::span<const std::vector<TokenId>> sentences) = 0;
  virtual void release(std::span<const std::int32_t> slots) = 0;

  /// Replaces all rows.
  virtual void select(std::span<const RowOrigin> rows) = 0;

  /// Feeds each row its previous token (ignored for a fresh row, which starts from the zero vector)
  /// and returns the `best` most probable candidates per row, best first, ties by smaller token: [R
  /// * best]. `excluded` is one list per row or empty. Probabilities are normalised before
  /// exclusion.
  virtual std::vector<Candidate> step(std::span<const TokenId> previous,
                                      std::span<const Excluded> excluded, std::int64_t best) = 0;

  /// The same step, but the whole distribution: log-probabilities [R * V] (sampling, full-width
  /// search).
  virtual std::vector<float> step_all(std::span<const TokenId> previous) = 0;
};

}  // namespace dragoman
