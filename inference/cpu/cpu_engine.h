// The engine on packed weights, without LibTorch. It works on one thread; helper threads may
// compute some outputs of its products (EngineTeam). Each row is computed in the same order of
// operations, whatever rows stand beside it. So a sentence's translation is the same, bit for bit,
// whatever else is translated. Its layers are in cpu_engine_layers.cpp.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "inference/cpu/activations.h"
#include "inference/cpu/cpu_model.h"
#include "inference/cpu/engine_team.h"
#include "inference/cpu/engine_times.h"
#include "inference/cpu/key_value_cache.h"
#include "inference/cpu/token_choice.h"
#include "inference/search/engine.h"

namespace dragoman {

class CpuEngine : public Engine {
 public:
  /// Several engines may share a model. `never_emitted`: tokens that no row produces
  /// (Tokenizer::never_emitted of the target side).
  CpuEngine(std::shared_ptr<const CpuModel> model, std::vector<TokenId> never_emitted,
            std::shared_ptr<EngineTeam> team = nullptr);

  std::int64_t vocabulary() const override { return model_->config.target_vocabulary; }
  std::int64_t max_positions() const override;
  std::int64_t preferred_rows() const override;
  void check(const AttentionHeads& heads) const override;

  std::vector<std::int32_t> admit(std::span<const std::vector<TokenId>> sentences) override;
  void release(std::span<const std::int32_t> slots) override;
  void step(const StepRequest& step) override;

  /// Time spent from now on is added to `times`, which must outlive the engine; null: none.
  void measure(EngineTimes* times) { times_ = times; }

  /// Empties `activations`, and appends to them from now on what is computed for one sentence: one
  /// that is admitted, and the steps of one row. They must outlive the engine; null: none. Keys and
  /// values are those before they are rounded for the cache.
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
  /// A slot for a sentence of so many tokens.
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
  // Called only where activations_ is not null.
  void observe_embedding(std::span<const TokenId> tokens, const CpuEmbedding& embedding,
                         Activations::Embedding& to) const;
  void observe_encoder_attention(std::size_t layer, std::int64_t rows);
  void observe_memory(std::size_t layer, std::int64_t rows);
  void observe_history(std::size_t layer, std::int64_t rows);
  /// Of both attentions of the decoder: query, context, output and stream. The query is the first
  /// of `stride` columns of `wide`.
  void observe_attention(std::int64_t rows, std::int64_t stride, Activations::Attention& to);
  void observe_feed_forward(const float* input, std::int64_t rows, Activations::FeedForward& to);
  /// Appends the rows of the residual stream.
  void observe_stream(std::int64_t rows, std::vector<float>& to) const;
  /// y = norm(x). If `added` is not null, it is added to x first.
  void normalize(const CpuNorm& norm, std::int64_t rows, const float* added, float* y);

  std::shared_ptr<const CpuModel> model_;
  TeamMember team_;
  std::vector<float> sinusoids_;  // [positions, D], as far as they were asked for
  std::vector<Source> sources_;   // [slot]
  std::vector<std::int32_t> free_slots_;
  KeyValueCache cache_;
  Workspace work_;
  TokenChoice choice_;
  EngineTimes* times_ = nullptr;
  Activations* activations_ = nullptr;
};

/// `count` engines that share one model, each for a thread of its own.
std::vector<std::unique_ptr<Engine>> cpu_engines(const std::shared_ptr<const CpuModel>& model,
                                                 const std::vector<TokenId>& never_emitted,
                                                 int count);

}  // namespace dragoman
