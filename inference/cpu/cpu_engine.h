// The engine on packed weights, without LibTorch. It works on one thread; helper threads may
// compute some outputs of its products (EngineTeam). Each row is computed in the same order of
// operations, whatever rows stand beside it. So a sentence's translation is the same, bit for bit,
// whatever else is translated. Its layers are in cpu_engine_layers.cpp.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "base/threads.h"
#include "inference/cpu/cpu_model.h"
#include "inference/cpu/key_value_cache.h"
#include "inference/cpu/token_choice.h"
#include "inference/search/engine.h"

namespace dragoman {

/// The activations of one sentence and of its translation, as CpuEngine::observe writes them. A
/// vector of several rows [T, D] has them one after the other. The heads of a row stand one after
/// the other, d_k numbers each. S source tokens, T target tokens.
struct Activations {
  /// Section 3.2 of the paper: Attention(q, k, v) of all heads, side by side, is the context;
  /// context W^O is the output.
  struct Attention {
    std::vector<float> query, key, value;  ///< the encoder [S, D]; the decoder [T, D]; cross-
                                           ///< attention: query [T, D], key and value [S, D]
    std::vector<float> context, output;    ///< as many rows as query
    std::vector<float> stream;             ///< output is added to it; as many rows
  };
  /// Section 3.3: the input widened by W1 to F numbers, of which the activation leaves `hidden`
  /// (max(0, .), or what the model has instead); hidden W2 + b2 is the output.
  struct FeedForward {
    std::vector<float> stream;  ///< output is added to it, [rows, D]
    std::vector<float> input;   ///< the stream, normalised if the norm is before, [rows, D]
    std::vector<float> hidden;  ///< [rows, F]
    std::vector<float> output;  ///< [rows, D]
  };
  /// Section 3.4 and 3.5: E[token] sqrt(D), the position's vector, and their sum, [tokens, D] each.
  /// Row t of the target is the token that the decoder reads at position t; row 0 is the start.
  struct Embedding {
    std::vector<float> token, position, sum;
  };

  Embedding source, target;
  std::vector<Attention> encoder, decoder, cross;                       ///< of each layer
  std::vector<FeedForward> encoder_feed_forward, decoder_feed_forward;  ///< of each layer
  std::vector<float> memory, decoded;  ///< of the whole stacks, [S, D] and [T, D]
};

/// The kinds of work whose time is measured for benchmarks.
enum class EngineWork { Linear, Attention, Normalization, Projection };
constexpr std::array<std::string_view, 4> names_of(EngineWork) {
  return {"linear", "attention", "normalization", "projection"};
}

/// Seconds by EngineWork. Projection is the projection to the vocabulary and the choice of tokens;
/// Linear is all other linear layers.
using EngineTimes = std::array<double, names_of(EngineWork{}).size()>;

/// Adds its lifetime to the time of a kind of work; does nothing without times.
class WorkTimer {
 public:
  WorkTimer(EngineTimes* times, EngineWork work) : times_(times), work_(work) {
    if (times_ != nullptr) start_ = Clock::now();
  }
  WorkTimer(const WorkTimer&) = delete;
  WorkTimer& operator=(const WorkTimer&) = delete;
  ~WorkTimer() {
    if (times_ == nullptr) return;
    const std::chrono::duration<double> spent = Clock::now() - start_;
    (*times_)[static_cast<std::size_t>(work_)] += spent.count();
  }

 private:
  using Clock = std::chrono::steady_clock;
  EngineTimes* times_;
  EngineWork work_;
  Clock::time_point start_;
};

/// Helper threads that engines share. They help an engine while it is the only one that holds
/// sentences.
struct EngineTeam {
  static constexpr std::size_t kMost = 4;  ///< threads on one sentence

  explicit EngineTeam(std::size_t engines) : helpers(std::min(engines, kMost) - 1) {}

  std::atomic<int> busy = 0;  ///< engines that hold sentences
  HelperTeam helpers;
};

/// An engine as a member of its team.
class TeamMember {
 public:
  /// Without a team there are no helpers.
  explicit TeamMember(std::shared_ptr<EngineTeam> team) : team_(std::move(team)) {}
  TeamMember(const TeamMember&) = delete;
  TeamMember& operator=(const TeamMember&) = delete;
  ~TeamMember() { hold(-held_); }

  /// The engine holds `more` additional sentences (below 0: fewer).
  void hold(std::int64_t more) {
    if (team_ && held_ == 0 && more > 0) ++team_->busy;
    if (team_ && held_ > 0 && held_ + more == 0) --team_->busy;
    held_ += more;
  }

  /// The helpers for the next step of this engine, which holds sentences; null if another engine
  /// holds some as well. So at most one engine has helpers at a time.
  HelperTeam* helpers() const { return team_ && team_->busy == 1 ? &team_->helpers : nullptr; }

 private:
  std::shared_ptr<EngineTeam> team_;
  std::int64_t held_ = 0;  // sentences
};

class CpuEngine : public HostEngine {
 public:
  /// Several engines may share a model. `never_emitted`: tokens that no row produces
  /// (Tokenizer::never_emitted of the target side).
  CpuEngine(std::shared_ptr<const CpuModel> model, std::vector<TokenId> never_emitted,
            std::shared_ptr<EngineTeam> team = nullptr);

  std::int64_t vocabulary() const override { return model_->config.target_vocabulary; }
  std::int64_t max_positions() const override { return model_->config.longest_sentence(); }
  std::int64_t preferred_rows() const override;
  void check(const AttentionHeads& heads) const override {
    heads.check(model_->config.decoder_layers, model_->config.heads);
  }

  std::vector<std::int32_t> admit(std::span<const std::vector<TokenId>> sentences) override;
  void release(std::span<const std::int32_t> slots) override;
  void step(const StepRequest& step) override;

  /// Adds the time that is spent from now on to `times`, which must outlive the engine; null:
  /// stops.
  void measure(EngineTimes* times) { times_ = times; }

  /// Empties `activations`, and from now on appends what is computed for one sentence: the one that
  /// is admitted next, and the steps of its one row. They must outlive the engine; null: stops.
  /// Keys and values are written before they are rounded for the cache.
  void observe(Activations* activations);

 private:
  /// Buffers of a pass over `rows` rows; they grow to the largest pass.
  struct Workspace {
    void reserve(std::int64_t rows, const CpuModel& model);

    std::vector<TokenId> tokens;          // [rows]
    std::vector<std::int64_t> positions;  // [rows]: in their sentences
    std::vector<float> x;                 // [rows, D]: the residual stream
    std::vector<float> input;             // [rows, D]: normalised before a sub-layer
    std::vector<float> wide;              // [rows, 3 W or F or 2 F]; W of HeadOrder
    std::vector<float> attended;          // [rows, W or F]
    std::vector<float> output;            // [rows, D]: of the sub-layer
    std::vector<float> log_sums;          // [rows, H]
    std::vector<float> attention;         // scratch of a row's attention
    LinearScratch linear;
  };

  /// Keys and values of the memory for each decoder layer: records [layers, length].
  struct Source {
    std::vector<std::uint8_t> keys_values;
    std::int64_t length = 0;  // of the source, with </s>
  };

  /// Appends the sentences' slots.
  void admit_in_one_pass(std::span<const std::vector<TokenId>> sentences,
                         std::vector<std::int32_t>& slots);
  /// A slot for a sentence of `length` tokens.
  std::int32_t new_slot(std::int64_t length);
  void run(const PackedLinear& layer, const float* x, std::int64_t rows, float* y,
           bool relu = false);
  void embed(std::span<const TokenId> tokens, std::span<const std::int64_t> positions,
             const CpuEmbedding& embedding, const std::vector<float>& learned);
  const float* position(std::int64_t position, const std::vector<float>& learned);
  void encode(std::span<const std::int32_t> starts);
  /// Queries, keys and values of self-attention side by side in `wide`, of the sub-layer's input.
  void project(const CpuSelfAttention& layer, const float* input, std::int64_t rows);
  void decode(std::int64_t rows, const StepRequest& step);
  void attend_in_sentences(std::span<const std::int32_t> starts);
  void attend_to_history(const CpuDecoderLayer& layer, std::int64_t number, const float* input,
                         std::int64_t rows);
  /// If `report` is not null, appends the attention weights [S] of its heads for each row.
  void attend_to_source(const CpuDecoderLayer& layer, std::int64_t number, const float* input,
                        std::int64_t rows, const StepRequest* report);
  void attend_long_sentence(std::int64_t begin, std::int64_t end);
  /// Returns the weights [length, lanes], which stand until the next row's.
  const float* attend_row(const float* q, const std::uint8_t* cache, const std::int32_t* records,
                          std::int64_t length, float* output);
  /// Appends to step.attention the mean of the weights [length, lanes] over the chosen heads.
  void report_attention(const float* weights, std::int64_t length, const StepRequest& step) const;
  std::int64_t record_bytes() const { return model_->order.record_bytes(model_->cache_type); }
  void store_record(const float* key_value, std::uint8_t* record) const;
  void feed_forward(const CpuFeedForward& layer, const float* input, std::int64_t rows);
  /// A sub-layer f with its residual connection and normalisation. `sub_layer` reads its argument
  /// and writes `output`. Norm after: x = norm(x + f(x)); returns null. Norm before: returns
  /// f(norm(x)), which is still to be added to x. The next normalisation does that, as it reads
  /// both anyway: the caller hands the result on as `added`, to the next call or to normalize().
  template <class SubLayer>
  const float* residual(const CpuNorm& norm, std::int64_t rows, const float* added,
                        SubLayer&& sub_layer);
  // Called only if activations_ is not null.
  void observe_embedding(std::span<const TokenId> tokens, const CpuEmbedding& embedding,
                         Activations::Embedding& to) const;
  void observe_encoder_attention(std::size_t layer, std::int64_t rows);
  void observe_memory(std::size_t layer, std::int64_t rows);
  void observe_history(std::size_t layer, std::int64_t rows);
  /// The query, context, output and stream of either attention of the decoder. The query is at the
  /// front of the `stride` columns of `wide`.
  void observe_attention(std::int64_t rows, std::int64_t stride, Activations::Attention& to);
  void observe_feed_forward(const float* input, std::int64_t rows, Activations::FeedForward& to);
  /// Appends the rows of the residual stream.
  void observe_stream(std::int64_t rows, std::vector<float>& to) const;
  /// y = norm(x). If `added` is not null, it is added to x first.
  void normalize(const CpuNorm& norm, std::int64_t rows, const float* added, float* y);

  std::shared_ptr<const CpuModel> model_;
  TeamMember team_;
  std::vector<float> sinusoids_;  // [positions, D], as many as were needed so far
  std::vector<Source> sources_;   // [slot]
  std::vector<std::int32_t> free_slots_;
  KeyValueCache cache_;
  Workspace work_;
  TokenChoice choice_;
  EngineTimes* times_ = nullptr;
  Activations* activations_ = nullptr;
};

/// `count` engines that share one model, each for a thread of its own.
std::vector<std::unique_ptr<HostEngine>> cpu_engines(const std::shared_ptr<const CpuModel>& model,
                                                     const std::vector<TokenId>& never_emitted,
                                                     int count);

}  // namespace dragoman
