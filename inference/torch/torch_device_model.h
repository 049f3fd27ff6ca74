// The module tree as a DeviceModel. Keys and values are written in place and stay where they are: a
// row reads those of its ancestors in the rows that have written them.
#pragma once

#include <torch/types.h>

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "inference/device/device_scheduler.h"
#include "inference/scheduler.h"
#include "model/transformer.h"

namespace dragoman {

/// The type of the weights on a GPU. Throws UsageError for int8.
torch::ScalarType type_on_gpu(ComputeType type);

/// The engine of a model, or of several as an ensemble, on their device. It shares the models,
/// whose weights must not change while sentences are under way. `never_emitted`: tokens that no row
/// produces (Tokenizer::never_emitted of the target side).
std::unique_ptr<Engine> device_engine(const std::vector<Transformer>& models,
                                      std::vector<TokenId> never_emitted,
                                      HalvingScheduler::OnFewerRows on_fewer_rows = {},
                                      StepLaunch launch = StepLaunch::Operations);

/// Those of one layer.
struct KeysAndValues {
  torch::Tensor keys, values;
};

class TorchDeviceModel : public DeviceModel {
 public:
  /// Shares the model, whose weights must not change while sentences are under way.
  explicit TorchDeviceModel(Transformer model);

  torch::Device device() const override { return options_.device(); }
  std::int64_t vocabulary() const override { return model_->config.target_vocabulary; }
  std::int64_t max_positions() const override { return model_->config.longest_sentence(); }
  std::int64_t preferred_rows() const override { return 1280; }
  void check(const AttentionHeads& heads) const override {
    heads.check(model_->config.decoder_layers, model_->config.heads);
  }

  void shape(std::int64_t groups, std::int64_t rows_per_group) override;
  void admit(std::span<const std::vector<TokenId>> sentences,
             std::span<const std::int64_t> groups) override;
  std::int64_t source_capacity() const override { return source_capacity_; }
  DeviceStepResults step(const DeviceStep& step) override;
  void add_places(TensorPlaces& places) override;

 private:
  class InPlaceAttention;
  /// The projections of a decoder layer's self-attention as one: queries, keys and values; or keys
  /// and values, if queries have another input.
  struct JoinedProjection {
    torch::Tensor weight, bias;  // [2 D or 3 D, D], [2 D or 3 D]
  };
  void make_room_for_source(std::int64_t longest);
  void make_room_for_target(std::int64_t longest);

  Transformer model_;
  const torch::TensorOptions options_;
  std::int64_t groups_ = 0, rows_per_group_ = 0;  // G, B; R = G * B
  std::int64_t source_capacity_ = 0, target_capacity_ = 0;
  std::vector<JoinedProjection> projections_;  // one of each layer
  std::vector<KeysAndValues> sources_;         // one of each layer: [G, S, D]
  std::vector<KeysAndValues> targets_;         // one of each layer: [R, T, D]
  torch::Tensor source_lengths_;               // [G] int64
};

}  // namespace dragoman
