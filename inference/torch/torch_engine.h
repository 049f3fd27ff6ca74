// The engine on the module tree, on the device and in the type of the model's weights: encodes
// packed sentences, decodes a token a step with cached keys and values.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "inference/halving_scheduler.h"
#include "inference/search/engine.h"
#include "inference/torch/row_cache.h"
#include "inference/torch/source_cache.h"
#include "inference/torch/torch_device_model.h"
#include "model/transformer.h"

namespace dragoman {

/// Where the search runs. Required phrases, and ensembles, are searched for on the host in any
/// case.
enum class SearchPlace {
  Auto,  ///< on the model's device, unless that is the CPU
  Host,
  Device,
};

class TorchEngine : public Engine, public ResettableEngine {
 public:
  /// Shares the model, whose weights must not change while sentences are under way.
  /// `never_emitted`: tokens that no row produces (Tokenizer::never_emitted of the target side).
  /// `on_fewer_rows` is told the rows that are left where a device's memory has run out.
  TorchEngine(Transformer model, std::vector<TokenId> never_emitted,
              SearchPlace place = SearchPlace::Auto,
              std::function<void(std::int64_t)> on_fewer_rows = {});

  std::int64_t vocabulary() const override { return model_->config.target_vocabulary; }
  std::int64_t max_positions() const override;
  std::int64_t preferred_rows() const override;
  void check(const AttentionHeads& heads) const override;

  std::vector<std::int32_t> admit(std::span<const std::vector<TokenId>> sentences) override;
  void release(std::span<const std::int32_t> slots) override;
  void step(const StepRequest& step) override;

  void reset() override;
  void tell_fewer_rows(std::int64_t rows) override {
    if (on_fewer_rows_) on_fewer_rows_(rows);
  }

  std::shared_ptr<SentenceScheduler> own_scheduler(std::int64_t rows) override;

 private:
  torch::Device device() const { return options_.device(); }

  Transformer model_;
  torch::TensorOptions options_;
  std::vector<TokenId> never_emitted_;
  bool searches_on_device_;
  std::function<void(std::int64_t)> on_fewer_rows_;
  TorchDeviceModel device_model_;  // of a search on the device
  SourceCache sources_;
  RowCache rows_;
};

}  // namespace dragoman
