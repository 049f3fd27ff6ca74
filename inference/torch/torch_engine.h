// The engine on the module tree, on the device and in the type of the model's weights: encodes
// packed sentences, decodes a token a step with cached keys and values (attention_caches.cpp).
#pragma once

#include <torch/types.h>

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "inference/scheduler.h"
#include "inference/search/engine.h"
#include "inference/torch/torch_device_model.h"
#include "model/file/model_config.h"
#include "model/sublayers.h"
#include "model/transformer.h"

namespace dragoman {

/// Keys and values of self-attention: a step computes them for one token of each row and attends to
/// all tokens before it. In a step all rows write the same column, whatever their lengths. So a row
/// that began later has its first token further right. Columns before the first token of every row
/// are dropped.
class RowCache {
 public:
  /// Tensors are made in the type and on the device of `like`.
  RowCache(const ModelConfig& config, torch::TensorOptions like);

  /// Replaces all rows, as StepRequest::rows says.
  void select(std::span<const RowOrigin> rows);

  /// Adds a token to each row, after a select(); then attend() is called for each layer.
  void begin_step();

  /// softmax(q K^T / sqrt(d_k)) V of each row over its tokens, the current one included. q, k, v
  /// [R, D] of the current token -> [R, D].
  torch::Tensor attend(std::int64_t layer, const torch::Tensor& q, const torch::Tensor& k,
                       const torch::Tensor& v);

  /// The positions of the rows' current tokens [R].
  std::vector<std::int64_t> positions() const;

 private:
  void copy_rows(torch::Tensor& cache, const torch::Tensor& parents, std::int64_t dropped);
  bool fits() const;

  std::int64_t heads_, d_k_;
  torch::TensorOptions options_;
  std::vector<KeysAndValues> layers_;  // [row capacity, H, column capacity, K]
  torch::Tensor spare_;                // where the next reordered cache is written
  std::vector<std::int64_t> starts_;   // of each row, its first column
  std::int64_t columns_ = 0;           // in use, the current step's included
  std::int64_t row_capacity_ = 0, column_capacity_ = 0;
  /// [R, 1, 1, columns], true where a row has a token; none: everywhere.
  std::optional<torch::Tensor> mask_;
};

/// Keys and values of cross-attention for each source sentence: computed once when the sentence is
/// admitted, and shared by its rows.
class SourceCache {
 public:
  SourceCache(const ModelConfig& config, torch::TensorOptions like);

  /// A slot for each sentence of `layout`, whose encoder output is memory [N, D].
  std::vector<std::int32_t> admit(Transformer& model, const torch::Tensor& memory,
                                  const PackedLayout& layout);
  /// Takes no memory.
  void release(std::span<const std::int32_t> slots);

  /// The slots of the rows that attend from now on [R]; rows of one slot stand side by side.
  void set_rows(std::span<const RowOrigin> rows);

  /// softmax(q K^T / sqrt(d_k)) V of each row over its source sentence. q [R, D] -> [R, D].
  torch::Tensor attend(std::int64_t layer, const torch::Tensor& q) const;
  /// The softmax alone, of one head (from 1) or as the mean of all (0): S numbers for each row, S
  /// the length of its source sentence, rows one after the other.
  std::vector<float> weights(std::int64_t layer, const torch::Tensor& q, std::int64_t head) const;

 private:
  /// q [R, D] -> [A, H, J, K]: A sentences that the cache holds, including released ones, with J
  /// rows each.
  torch::Tensor by_sentence(const torch::Tensor& q) const;

  void keep_sentences(const std::vector<std::int64_t>& kept, std::int64_t added,
                      std::int64_t longest);

  std::int64_t heads_, d_k_;
  torch::TensorOptions options_;
  std::vector<KeysAndValues> layers_;  // [sentences, H, S, K], in the order of slots_
  std::vector<std::int32_t> slots_;    // of each sentence; -1 once released
  std::vector<std::int64_t> lengths_;  // of each sentence
  std::vector<std::int32_t> free_slots_;
  std::int32_t next_slot_ = 0;          // used if none is free
  torch::Tensor mask_;                  // [sentences, 1, 1, S], true within the sentence
  std::int64_t rows_per_sentence_ = 1;  // J
  torch::Tensor row_of_cell_;           // [sentences * J]: the row of each cell, 0 if there is none
  torch::Tensor cell_of_row_;           // [R]: the inverse
};

/// Where the search runs.
enum class SearchPlace {
  Auto,  ///< on the model's device, unless that is the CPU
  Host,
  Device,
};

/// The type of the weights of an engine on a GPU. Throws UsageError for int8.
torch::ScalarType type_on_gpu(ComputeType type);

class TorchEngine : public Engine, public ResettableEngine {
 public:
  /// Shares the model, whose weights must not change while sentences are under way.
  /// `never_emitted`: tokens that no row produces (Tokenizer::never_emitted of the target side).
  /// `on_fewer_rows` is told the rows that are left after a device's memory has run out.
  TorchEngine(Transformer model, std::vector<TokenId> never_emitted,
              SearchPlace place = SearchPlace::Auto,
              std::function<void(std::int64_t)> on_fewer_rows = {});

  std::int64_t vocabulary() const override { return model_->config.target_vocabulary; }
  std::int64_t max_positions() const override { return device_model_.max_positions(); }
  std::int64_t preferred_rows() const override { return device_model_.preferred_rows(); }
  void check(const AttentionHeads& heads) const override { device_model_.check(heads); }

  std::vector<std::int32_t> admit(std::span<const std::vector<TokenId>> sentences) override;
  void release(std::span<const std::int32_t> slots) override { sources_.release(slots); }
  void step(const StepRequest& step) override;

  void reset() override;
  void tell_fewer_rows(std::int64_t rows) override {
    if (on_fewer_rows_) on_fewer_rows_(rows);
  }

  std::shared_ptr<SentenceScheduler> own_scheduler(std::int64_t rows) override;
  std::shared_ptr<SentenceScheduler> ensemble_scheduler(std::span<ResettableEngine* const> members,
                                                        std::int64_t rows) override;

 private:
  torch::Device device() const { return options_.device(); }
  std::shared_ptr<SentenceScheduler> scheduler_of(DeviceModel& model, std::int64_t rows) const;

  Transformer model_;
  torch::TensorOptions options_;
  std::vector<TokenId> never_emitted_;
  bool searches_on_device_;
  std::function<void(std::int64_t)> on_fewer_rows_;
  TorchDeviceModel device_model_;  // of a search on the device
  std::optional<DeviceEnsemble> ensemble_;
  SourceCache sources_;
  RowCache rows_;
};

}  // namespace dragoman
