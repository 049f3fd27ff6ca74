// What the search asks of a model. The search knows no Transformer; an engine knows no hypothesis.
//
// A *slot* holds an encoded source sentence. A *row* is the decoder's state of one hypothesis: it
// belongs to a slot and has seen some target tokens. All rows take a step together, though each may
// be at a different length, so that a finished sentence's rows can be given to a waiting one.
#pragma once

#include <cstdint>
#include <limits>
#include <memory>
#include <span>
#include <vector>

#include "base/error.h"
#include "tokenizer/tokenizer.h"

namespace dragoman {

struct Candidate {
  TokenId token;
  float log_probability;
};

/// The order of Step::candidates.
inline bool ranks_before(const Candidate& a, const Candidate& b) {
  return a.log_probability != b.log_probability ? a.log_probability > b.log_probability
                                                : a.token < b.token;
}

/// The origin of a row after Engine::select: a copy of an old row, or a fresh one at the start of a
/// sentence.
struct RowOrigin {
  std::int32_t parent;  ///< index of the row it continues, or -1 for a fresh row
  std::int32_t slot;    ///< of the row; a copy stays in its parent's slot
};

struct RowToken {
  std::int32_t row;
  TokenId token;
};

/// A token whose log-probability the search wants multiplied by a factor: above 1 to make it less
/// likely, kExclude to rule it out.
struct Adjustment {
  std::int32_t row;
  TokenId token;
  float factor;
};
inline constexpr float kExclude = std::numeric_limits<float>::infinity();

/// Log-probability times factor.
inline float adjusted(float log_probability, float factor) {
  return factor == kExclude ? -kExclude : log_probability * factor;
}

/// Heads of the decoder's attention to the source.
struct AttentionHeads {
  std::int64_t layer = 0;  ///< from 1; 0: the last
  std::int64_t head = 0;   ///< from 1; 0: the mean of all

  bool operator==(const AttentionHeads&) const = default;
  /// Whether layer `number` (from 1) of `layers` is meant.
  bool is_of_layer(std::int64_t number, std::int64_t layers) const {
    return number == (layer == 0 ? layers : layer);
  }
  /// Throws UsageError where a model of so many layers and heads has no such one.
  void check(std::int64_t layers, std::int64_t heads) const {
    if (layer > layers)
      throw UsageError("--attention-layer ", layer, ": the decoder has ", layers, " layers");
    if (head > heads) throw UsageError("--attention-head ", head, ": there are ", heads, " heads");
  }
};

/// What a step of R rows is given and where its results go. Probabilities are normalised before
/// anything is adjusted or excluded.
struct Step {
  std::span<const TokenId> previous;        ///< [R]: each row's last token; of a fresh row ignored
  std::span<const Adjustment> adjustments;  ///< of no token of a row two
  std::int64_t best;                        ///< candidates of each row
  /// [R * best]: each row's most probable tokens, best first, ties by smaller token; with best ==
  /// vocabulary() all tokens, in their own order. What is excluded has log-probability minus
  /// infinity.
  std::span<Candidate> candidates;
  /// Tokens whose log-probabilities, without adjustments, are wanted, and the place for them.
  std::span<const RowToken> wanted = {};
  std::span<float> wanted_log_probabilities = {};
  /// Where not null: becomes each row's attention to the places of its source sentence, row behind
  /// row.
  std::vector<float>* attention = nullptr;
  AttentionHeads heads = {};
};

/// Tokens that no row ever produces (Tokenizer::never_emitted) are told to an engine when it is
/// made.
class Engine {
 public:
  virtual ~Engine() = default;

  virtual std::int64_t vocabulary() const = 0;
  /// The longest source sentence (with </s>) and the longest output that the model can place.
  virtual std::int64_t max_positions() const = 0;
  /// How many rows keep the device busy.
  virtual std::int64_t preferred_rows() const = 0;

  /// Throws UsageError where the model has no such layer or head; a step is asked for none of
  /// these.
  virtual void check(const AttentionHeads& heads) const = 0;

  /// Encodes sentences (each ends with </s>) and returns a slot for each.
  virtual std::vector<std::int32_t> admit(std::span<const std::vector<TokenId>> sentences) = 0;
  virtual void release(std::span<const std::int32_t> slots) = 0;

  /// Replaces all rows, before each step. Rows of one slot stand side by side.
  virtual void select(std::span<const RowOrigin> rows) = 0;

  /// Feeds each row its previous token (a fresh row starts from the zero vector).
  virtual void step(const Step& step) = 0;
};

/// For who works with engines that another owns.
inline std::vector<Engine*> pointers_to(const std::vector<std::unique_ptr<Engine>>& engines) {
  std::vector<Engine*> pointers;
  for (const auto& engine : engines) pointers.push_back(engine.get());
  return pointers;
}

}  // namespace dragoman
