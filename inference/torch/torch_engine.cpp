#include "inference/torch/torch_engine.h"

#include <ATen/Parallel.h>
#include <c10/core/InferenceMode.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "base/error.h"
#include "inference/device/device_scheduler.h"
#include "model/ops/packed_layout.h"

namespace dragoman {

namespace {

/// The candidates of one row of log-probabilities.
void choose(std::span<const float> row, std::span<Candidate> candidates) {
  const auto best = static_cast<std::ptrdiff_t>(candidates.size());
  std::ptrdiff_t filled = 0;
  for (std::size_t token = 0; token < row.size(); ++token) {
    const Candidate candidate{static_cast<TokenId>(token), row[token]};
    if (filled == best && candidate.log_probability <= candidates[best - 1].log_probability)
      continue;
    std::ptrdiff_t at = filled < best ? filled++ : best - 1;
    for (; at > 0 && ranks_before(candidate, candidates[at - 1]); --at)
      candidates[at] = candidates[at - 1];
    candidates[at] = candidate;
  }
}

/// The flat indices [n] of (row, token) in a table [R, V].
template <class Items>
torch::Tensor flat_indices(const Items& items, const torch::Tensor& table) {
  std::vector<std::int64_t> indices;
  for (const auto& item : items) indices.push_back(item.row * table.size(1) + item.token);
  return to_device(indices, table.device());
}

void report_log_probabilities(const torch::Tensor& log_p, const StepRequest& step) {
  if (step.reported.empty()) return;
  const auto values = log_p.view(-1).index_select(0, flat_indices(step.reported, log_p)).cpu();
  std::copy_n(values.const_data_ptr<float>(), step.reported.size(),
              step.reported_log_probabilities.begin());
}

void adjust(torch::Tensor& log_p, const StepRequest& step) {
  if (step.adjustments.empty()) return;
  std::vector<float> factors;
  for (const Adjustment& adjustment : step.adjustments) factors.push_back(adjustment.factor);
  const auto indices = flat_indices(step.adjustments, log_p);
  const auto factor = to_device(factors, log_p.device());
  const auto values = log_p.view(-1).index_select(0, indices) * factor;
  log_p.view(-1).index_copy_(0, indices, values.masked_fill(factor == kExclude, -kExclude));
}

/// The candidates and reported log-probabilities of `step`. logits [R, V] in any type on any
/// device; they are not changed.
void best_candidates(const torch::Tensor& logits, std::span<const TokenId> never_emitted,
                     const StepRequest& step) {
  const std::int64_t rows = logits.size(0), vocabulary = logits.size(1),
                     best = step.candidates_per_row;
  const std::span<Candidate> candidates = step.candidates;
  auto log_p = logits.log_softmax(1);  // [R, V]
  report_log_probabilities(log_p, step);
  adjust(log_p, step);
  if (!never_emitted.empty()) {
    const auto tokens =
        torch::tensor(std::vector<std::int64_t>(never_emitted.begin(), never_emitted.end()),
                      log_p.options().dtype(torch::kInt64));
    log_p.index_fill_(1, tokens, -kExclude);
  }
  if (!log_p.device().is_cpu() && best < vocabulary) {
    const auto [values, tokens] = log_p.topk(best, 1);
    const auto cpu_values = values.cpu(), cpu_tokens = tokens.cpu();
    const auto* value = cpu_values.const_data_ptr<float>();
    const auto* token = cpu_tokens.const_data_ptr<std::int64_t>();
    for (std::int64_t i = 0; i < rows * best; ++i)
      candidates[i] = {static_cast<TokenId>(token[i]), value[i]};
    return;
  }
  log_p = log_p.cpu().contiguous();
  const auto* values = log_p.const_data_ptr<float>();
  at::parallel_for(0, rows, 1, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t r = begin; r < end; ++r) {
      const std::span row(values + r * vocabulary, static_cast<std::size_t>(vocabulary));
      const auto chosen = candidates.subspan(r * best, best);
      if (best == vocabulary)
        for (std::int64_t t = 0; t < vocabulary; ++t) chosen[t] = {static_cast<TokenId>(t), row[t]};
      else
        choose(row, chosen);
    }
  });
}

/// The most steps that a search which has ended waits until the host sees it.
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

torch::ScalarType type_on_gpu(ComputeType type) {
  if (type == ComputeType::Int8)
    throw UsageError("--compute-type int8: works on the CPU; on a GPU bfloat16 and float16 do");
  return type == ComputeType::Float32   ? torch::kFloat32
         : type == ComputeType::Float16 ? torch::kFloat16
                                        : torch::kBFloat16;
}

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

std::vector<std::int32_t> TorchEngine::admit(std::span<const std::vector<TokenId>> sentences) {
  const c10::InferenceMode inference;
  const PackedTokens source = packed_sentences(model_, sentences);
  return sources_.admit(model_, model_->encode(source), source.layout);
}

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
  best_candidates(float_logits(model_, hidden), never_emitted_, step);
}

void TorchEngine::reset() {
  device_model_.shape(0, 1);
  sources_ = SourceCache(model_->config, options_);
  rows_ = RowCache(model_->config, options_);
}

std::shared_ptr<SentenceScheduler> TorchEngine::scheduler_of(DeviceModel& model,
                                                             std::int64_t rows) const {
  return std::make_shared<DeviceScheduler>(
      model, never_emitted_,
      DeviceScheduler::Options{.rows = rows,
                               .steps_per_poll = device().is_cpu() ? 1 : kStepsPerPoll});
}

std::shared_ptr<SentenceScheduler> TorchEngine::own_scheduler(std::int64_t rows) {
  if (!searches_on_device_) return nullptr;
  return std::make_shared<HalvingScheduler>(
      std::vector<ResettableEngine*>{this},
      [this](std::int64_t of_step) { return scheduler_of(device_model_, of_step); },
      rows > 0 ? rows : preferred_rows());
}

std::shared_ptr<SentenceScheduler> TorchEngine::ensemble_scheduler(
    std::span<ResettableEngine* const> members, std::int64_t rows) {
  std::vector<DeviceModel*> models;
  for (ResettableEngine* member : members) {
    auto* engine = dynamic_cast<TorchEngine*>(member);
    if (engine == nullptr || !engine->searches_on_device_) return nullptr;
    models.push_back(&engine->device_model_);
  }
  return scheduler_of(ensemble_.emplace(std::move(models)), rows);
}

}  // namespace dragoman
