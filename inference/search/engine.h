// The interfaces between the search and a model. The search knows nothing of Transformers; an
// engine knows nothing of hypotheses. SentenceSearch searches on the host, and asks a HostEngine.
// Another engine searches on a device of its own (inference/device).
//
// A *slot* holds an encoded source sentence. A *row* is the decoder's state of one hypothesis: it
// belongs to a slot and has seen some target tokens. All rows take a step together. The rows of one
// slot have the same length; rows of different slots may not, so a waiting sentence can take over
// the rows of a finished one at any step.
//
// One thread at a time calls the non-const functions. Meanwhile any thread may call the const ones.
// After an exception from admit() or step() only release() may be called.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "base/formatted_text.h"
#include "tokenizer/tokenizer.h"

namespace dragoman {

class SentenceScheduler;  // inference/scheduler.h

/// The number type that an engine computes in.
enum class ComputeType {
  Auto,  ///< on the CPU as the model file has the weights, on a GPU bfloat16
  Float32,
  BFloat16,  ///< weights and activations rounded, sums in fp32
  Float16,   ///< the same; on a GPU alone
  Int8,      ///< weights rounded per output, activations per row, exact sums; on the CPU alone
};
constexpr std::array<std::string_view, 5> names_of(ComputeType) {
  return {"auto", "float32", "bfloat16", "float16", "int8"};
}

struct Candidate {
  TokenId token;
  float log_probability;
};

/// The error if a log-probability is not a number.
inline Error not_a_number() {
  return Error(
      "the model's probabilities are not numbers: the model file is damaged, or its training "
      "diverged");
}

/// Whether its probability is above 0. Throws not_a_number().
inline bool is_possible(const Candidate& candidate) {
  if (std::isnan(candidate.log_probability)) throw not_a_number();
  return candidate.log_probability > -INFINITY;
}

/// The order of StepRequest::candidates.
inline bool ranks_before(const Candidate& a, const Candidate& b) {
  return a.log_probability != b.log_probability ? a.log_probability > b.log_probability
                                                : a.token < b.token;
}

/// The origin of a step's row: a copy of a row of the last step, or a fresh one at the start of a
/// sentence.
struct RowOrigin {
  std::int32_t parent;  ///< index of the row it continues, or -1 for a fresh row
  std::int32_t slot;    ///< of the row; a copy stays in its parent's slot
};

struct RowToken {
  std::int32_t row;
  TokenId token;
};

/// One more token for one of the rows.
struct Extension {
  std::int32_t row;
  TokenId token;
  double sum;  ///< of the log-probabilities, this token's included
};

/// Multiplies a token's log-probability by a factor. A factor above 1 makes the token less likely;
/// kExclude excludes it.
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
  std::int64_t layer = -1;  ///< from 1; -1: the last but one, if there are several
  std::int64_t head = 0;    ///< from 1; 0: the mean of all

  bool operator==(const AttentionHeads&) const = default;
  /// Whether layer `number` (from 1) of `layers` is meant.
  bool is_of_layer(std::int64_t number, std::int64_t layers) const {
    return number == layer_of(layers);
  }
  /// The layer (from 1) that is meant. The last but one aligns words better than the last (Garg et
  /// al. 2019, "Jointly learning to align and translate with Transformer models").
  std::int64_t layer_of(std::int64_t layers) const {
    return layer > 0 ? layer : std::max<std::int64_t>(layers + layer, 1);
  }
  /// Throws UsageError if a model with `layers` layers of `heads` heads does not have them.
  void check(std::int64_t layers, std::int64_t heads) const {
    if (layer > layers)
      throw UsageError("--attention-layer ", layer, ": the decoder has ", counted(layers, "layer"));
    if (head > heads)
      throw UsageError("--attention-head ", head, ": a layer has ", counted(heads, "head"));
  }
};

/// The inputs of a step of R rows, and the caller's memory for its results. Probabilities are
/// normalised before any token is adjusted or excluded.
struct StepRequest {
  /// [R]. They replace the rows of the last step. The rows of one slot stand side by side, and a
  /// parent is a row of the same slot.
  std::span<const RowOrigin> rows;
  std::span<const TokenId> previous;  ///< [R]: each row's last token; ignored for a fresh row
  std::span<const Adjustment> adjustments = {};  ///< at most one for each token of a row
  std::int64_t candidates_per_row;               ///< at most vocabulary()
  /// [R, candidates_per_row]: the most probable tokens of each row, best first. Of equal ones the
  /// smaller token comes first. If the whole vocabulary is asked for, the tokens are in ascending
  /// order. An excluded token has log-probability minus infinity.
  std::span<Candidate> candidates;
  /// Tokens whose log-probabilities are reported in any case, and the memory for these numbers.
  /// Neither adjustments nor Tokenizer::never_emitted change them.
  std::span<const RowToken> reported = {};
  std::span<float> reported_log_probabilities = {};
  /// If not null, it is filled with each row's attention to the positions of its source sentence
  /// ([S], </s> included), one row after the other.
  std::vector<float>* attention = nullptr;
  AttentionHeads heads = {};
};

/// An engine gets Tokenizer::never_emitted when it is made. As candidates these tokens always have
/// log-probability minus infinity.
class Engine {
 public:
  virtual ~Engine() = default;

  /// The longest source sentence (with </s>) and the longest output that the model has positions
  /// for.
  virtual std::int64_t max_positions() const = 0;
  /// Throws UsageError if the model has no such layer or head. A step may only name heads that have
  /// passed this check.
  virtual void check(const AttentionHeads& heads) const = 0;

  /// The scheduler of a search on the engine's own device, with at most `rows` rows in a step; 0:
  /// as many as keep the device busy. The engine must outlive the scheduler, and serves one at a
  /// time. Null: it is a HostEngine.
  virtual std::shared_ptr<SentenceScheduler> own_scheduler(std::int64_t rows) = 0;
};

/// An engine for the search on the host.
class HostEngine : public Engine {
 public:
  virtual std::int64_t vocabulary() const = 0;
  /// The number of rows that keeps the processor busy.
  virtual std::int64_t preferred_rows() const = 0;

  /// Encodes sentences (each ends with </s>) and returns a slot for each.
  virtual std::vector<std::int32_t> admit(std::span<const std::vector<TokenId>> sentences) = 0;
  /// Frees slots, with their rows. Must not throw, and so takes no memory: destructors call it, and
  /// so does code that lets sentences fail because no memory is left.
  virtual void release(std::span<const std::int32_t> slots) = 0;

  /// Feeds each row its previous token (a fresh row starts from the zero vector).
  virtual void step(const StepRequest& step) = 0;

  std::shared_ptr<SentenceScheduler> own_scheduler(std::int64_t) final { return nullptr; }
};

/// Pointers to engines that the caller keeps.
template <class Kind = Engine, class Owned>
std::vector<Kind*> pointers_to(const std::vector<std::unique_ptr<Owned>>& engines) {
  std::vector<Kind*> pointers;
  for (const auto& engine : engines) pointers.push_back(engine.get());
  return pointers;
}

}  // namespace dragoman
