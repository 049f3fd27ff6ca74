#include "inference/torch/torch_engine.h"

#include <c10/core/InferenceMode.h>

#include <algorithm>
#include <utility>

#include "inference/device/device_scheduler.h"
#include "inference/torch/candidates.h"
#include "inference/torch/packed_sentences.h"
#include "model/ops/to_device.h"

namespace dragoman {

namespace {

/// A search that has ended waits this long at most for the host to see it.
constexpr std::int64_t kStepsPerPoll = 8;

/// Attention to what the caches hold instead of to a whole target.
class CachedAttention : public DecoderAttention {
 public:
  CachedAttention(RowCache& rows, const SourceCache& sources, const ModelConfig& config,
                  const StepRequest& step)
      : rows_(rows), sources_(sources), layers_(config.decoder_layers), step_(step) {}

  torch::Tensor self(std::int64_t layer, MultiHeadAttention& module,
                     const SelfAttentionInput& x) override {
    return module->output(
        rows_.attend(layer, module->query(x.queries), module->key(x.keys), module->value(x.keys)));
  }
  torch::Tensor cross(std::int64_t layer, MultiHeadAttention& module,
                      const torch::Tensor& x) override {
    const auto q = module->query(x);
    if (step_.attention != nullptr && step_.heads.is_of_layer(layer + 1, layers_))
      *step_.attention = sources_.weights(layer, q, step_.heads.head);
    return module->output(sources_.attend(layer, q));
  }

 private:
  RowCache& rows_;
  const SourceCache& sources_;
  std::int64_t layers_;
  const StepRequest& step_;
};

}  // namespace

TorchEngine::TorchEngine(Transformer model, std::vector<TokenId> never_emitted, SearchPlace place,
                         std::function<void(std::int64_t)> on_fewer_rows)
    : model_(std::move(model)),
      options_(model_->output_weight().options()),
      never_emitted_(std::move(never_emitted)),
      searches_on_device_(place == SearchPlace::Device ||
                          (place == SearchPlace::Auto && !device().is_cpu())),
      on_fewer_rows_(std::move(on_fewer_rows)),
      device_model_(model_),
      sources_(model_->config, options_),
      rows_(model_->config, options_) {}

std::int64_t TorchEngine::max_positions() const { return device_model_.max_positions(); }

std::int64_t TorchEngine::preferred_rows() const { return device_model_.preferred_rows(); }

void TorchEngine::check(const AttentionHeads& heads) const { device_model_.check(heads); }

std::vector<std::int32_t> TorchEngine::admit(std::span<const std::vector<TokenId>> sentences) {
  const c10::InferenceMode inference;
  const PackedTokens source = packed_sentences(model_, sentences);
  return sources_.admit(model_, model_->encode(source), source.layout);
}

void TorchEngine::release(std::span<const std::int32_t> slots) { sources_.release(slots); }

void TorchEngine::step(const StepRequest& step) {
  const c10::InferenceMode inference;
  rows_.select(step.rows);
  sources_.set_rows(step.rows);
  rows_.begin_step();
  const std::vector<std::int64_t> positions = rows_.positions();
  std::vector<std::int64_t> tokens(step.previous.begin(), step.previous.end());
  for (std::size_t r = 0; r < tokens.size(); ++r)
    if (positions[r] == 0) tokens[r] = -1;  // the zero vector
  CachedAttention attention(rows_, sources_, model_->config, step);
  const std::int64_t length = positions.empty() ? 0 : *std::ranges::max_element(positions) + 1;
  const auto hidden = model_->decoder_states(
      {to_device(tokens, device()), to_device(positions, device()), length, {}},
      attention);  // [R, D]
  best_candidates(model_->logits(hidden), never_emitted_, step);
}

void TorchEngine::reset() {
  device_model_.shape(0, 1);
  sources_ = SourceCache(model_->config, options_);
  rows_ = RowCache(model_->config, options_);
}

std::shared_ptr<SentenceScheduler> TorchEngine::own_scheduler(std::int64_t rows) {
  if (!searches_on_device_) return nullptr;
  const auto make = [this](std::int64_t of_step) {
    return std::make_shared<DeviceScheduler>(
        device_model_, *this, never_emitted_,
        DeviceScheduler::Options{.rows = of_step,
                                 .steps_per_poll = device().is_cpu() ? 1 : kStepsPerPoll});
  };
  return std::make_shared<HalvingScheduler>(std::vector<ResettableEngine*>{this}, make,
                                            rows > 0 ? rows : preferred_rows());
}

}  // namespace dragoman
