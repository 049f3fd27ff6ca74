#include "inference/torch/torch_device_model.h"

#include <ATen/ops/arange.h>
#include <ATen/ops/index_select.h>
#include <ATen/ops/mm.h>
#include <ATen/ops/scaled_dot_product_attention.h>
#include <ATen/ops/tensor.h>
#include <ATen/ops/zeros.h>
#include <c10/core/InferenceMode.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "inference/device/device_search.h"

namespace dragoman {

PackedTokens packed_sentences(Transformer& model, std::span<const std::vector<TokenId>> sentences) {
  std::vector<std::int32_t> tokens, starts = {0};
  for (const std::vector<TokenId>& sentence : sentences) {
    tokens.insert(tokens.end(), sentence.begin(), sentence.end());
    starts.push_back(static_cast<std::int32_t>(tokens.size()));
  }
  return packed_tokens(tokens, starts, model->config.heads, model->output_weight().device());
}

torch::Tensor float_logits(Transformer& model, const torch::Tensor& hidden) {
  if (!hidden.is_cuda() || hidden.scalar_type() == torch::kFloat32)
    return model->logits(hidden).to(torch::kFloat32);
  const torch::Tensor products = at::mm(hidden, model->output_weight().t(), torch::kFloat32);
  const torch::Tensor bias = model->output_bias();
  return bias.defined() ? products + bias : products;
}

namespace {

/// Room grows by this number of columns, so that the shapes of many steps are the same.
constexpr std::int64_t kColumns = 32;

std::int64_t rounded_up(std::int64_t columns) {
  return (columns + kColumns - 1) / kColumns * kColumns;
}

void widen(std::vector<KeysAndValues>& caches, std::int64_t columns) {
  for (KeysAndValues& cache : caches)
    for (torch::Tensor* tensor : {&cache.keys, &cache.values})
      *tensor = widened(*tensor, 2, columns);
}

}  // namespace

/// The attention of one step: writes the new keys and values into the caches, and attends to them.
class TorchDeviceModel::InPlaceAttention : public DecoderAttention {
 public:
  InPlaceAttention(TorchDeviceModel& model, const DeviceStep& step, std::int64_t columns)
      : model_(model),
        step_(step),
        columns_(columns),
        heads_(model.model_->config.heads),
        d_k_(model.model_->config.d_k()),
        rows_(model.groups_ * model.rows_per_group_) {
    const auto integers = step.positions.options();
    const auto at = step.positions.view({-1, 1, 1, 1});
    target_mask_ = torch::arange(columns, integers).le(at);  // [R, 1, 1, T]
    source_mask_ = torch::arange(model.source_capacity_, integers)
                       .lt(model.source_lengths_.view({-1, 1, 1, 1}));  // [G, 1, 1, S]
    place_ = at.expand({rows_, heads_, 1, d_k_});
  }

  torch::Tensor self(std::int64_t layer, MultiHeadAttention& module,
                     const SelfAttentionInput& x) override {
    const KeysAndValues& cache = model_.targets_[static_cast<std::size_t>(layer)];
    const auto with_new = [&](const torch::Tensor& cached, const torch::Tensor& current) {
      cached.scatter_(2, place_, by_head(current));
      return cached.narrow(2, 0, columns_);  // [R, H, T, K]
    };
    const auto attended = at::scaled_dot_product_attention(
        by_head(module->query(x.queries)), with_new(cache.keys, module->key(x.keys)),
        with_new(cache.values, module->value(x.keys)), target_mask_);  // [R, H, 1, K]
    return module->output(attended.reshape({rows_, heads_ * d_k_}));
  }

  torch::Tensor cross(std::int64_t layer, MultiHeadAttention& module,
                      const torch::Tensor& x) override {
    const KeysAndValues& source = model_.sources_[static_cast<std::size_t>(layer)];
    const auto q = module->query(x)
                       .view({model_.groups_, model_.rows_per_group_, heads_, d_k_})
                       .transpose(1, 2);  // [G, H, B, K]
    if (step_.reports_attention &&
        step_.heads.is_of_layer(layer + 1, model_.model_->config.decoder_layers))
      weights_ = weights(q, source.keys);
    const auto attended =
        at::scaled_dot_product_attention(q, source.keys, source.values, source_mask_);
    return module->output(attended.transpose(1, 2).reshape({rows_, heads_ * d_k_}));
  }

  /// [R, S], if the step asked for it.
  const torch::Tensor& reported_weights() const { return weights_; }

 private:
  torch::Tensor by_head(const torch::Tensor& x) const { return x.view({rows_, heads_, 1, d_k_}); }

  torch::Tensor weights(const torch::Tensor& q, const torch::Tensor& keys) const {
    const auto scores = q.matmul(keys.transpose(2, 3)) / std::sqrt(double(d_k_));
    const auto softmax = scores.masked_fill(~source_mask_, -INFINITY)
                             .to(torch::kFloat32)
                             .softmax(-1)
                             .masked_fill(~source_mask_, 0);  // a group without a sentence, too
    const auto head = step_.heads.head;
    return (head == 0 ? softmax.mean(1) : softmax.select(1, head - 1))
        .reshape({rows_, model_.source_capacity_});
  }

  TorchDeviceModel& model_;
  const DeviceStep& step_;
  const std::int64_t columns_, heads_, d_k_, rows_;
  torch::Tensor target_mask_, source_mask_;  // bool
  torch::Tensor place_;                      // [R, H, 1, K]: the column of each row's token
  torch::Tensor weights_;
};

TorchDeviceModel::TorchDeviceModel(Transformer model)
    : model_(std::move(model)), options_(model_->output_weight().options().requires_grad(false)) {}

void TorchDeviceModel::shape(std::int64_t groups, std::int64_t rows_per_group) {
  groups_ = groups;
  rows_per_group_ = rows_per_group;
  source_capacity_ = target_capacity_ = 0;
  const auto layers = static_cast<std::size_t>(model_->config.decoder_layers);
  const auto empty = [&](std::int64_t rows) {
    return torch::zeros({rows, model_->config.heads, 0, model_->config.d_k()}, options_);
  };
  sources_.assign(layers, {empty(groups), empty(groups)});
  targets_.assign(layers, {empty(groups * rows_per_group), empty(groups * rows_per_group)});
  source_lengths_ = torch::ones({groups}, options_.dtype(torch::kInt64));
  make_room_for_source(1);
  make_room_for_target(1);
}

void TorchDeviceModel::make_room_for_source(std::int64_t longest) {
  if (longest <= source_capacity_) return;
  source_capacity_ = rounded_up(longest);
  widen(sources_, source_capacity_);
}

void TorchDeviceModel::make_room_for_target(std::int64_t longest) {
  if (longest <= target_capacity_) return;
  target_capacity_ = rounded_up(std::max(longest, target_capacity_ * 3 / 2));  // few growths
  widen(targets_, target_capacity_);
  spare_ = torch::zeros(targets_.front().keys.sizes(), options_);
}

void TorchDeviceModel::admit(std::span<const std::vector<TokenId>> sentences,
                             std::span<const std::int64_t> groups) {
  const c10::InferenceMode inference;
  const PackedTokens source = packed_sentences(model_, sentences);
  const torch::Tensor memory = model_->encode(source);
  make_room_for_source(source.layout.longest);

  const auto numbers = options_.dtype(torch::kInt64);
  const auto index =
      torch::tensor(std::vector<std::int64_t>(groups.begin(), groups.end()), numbers);
  source_lengths_.index_copy_(0, index, source.layout.lengths.to(numbers));
  // What a mask hides must still be a number, whatever the sentence before has left there.
  const auto clear = [&](torch::Tensor& cache) {
    cache.view({groups_, -1}).index_fill_(0, index, 0);
  };
  for (auto* caches : {&sources_, &targets_})
    for (KeysAndValues& cache : *caches) {
      clear(cache.keys);
      clear(cache.values);
    }
  clear(spare_);
  const auto write = [&](torch::Tensor& cache, const torch::Tensor& projected) {
    const auto padded = pad_heads(projected, source.layout)
                            .view({source.layout.sentences, model_->config.heads,
                                   source.layout.longest, model_->config.d_k()});
    cache.narrow(2, 0, source.layout.longest).index_copy_(0, index, padded);
  };
  for (std::size_t i = 0; i < sources_.size(); ++i) {
    auto& attention = model_->decoder->layers[i]->as<DecoderLayerImpl>()->cross_attention;
    write(sources_[i].keys, attention->key(memory));
    write(sources_[i].values, attention->value(memory));
  }
}

/// Reorders only the columns that a step attends to.
void TorchDeviceModel::reorder(const torch::Tensor& parents, std::int64_t columns) {
  const auto take = [&](torch::Tensor& cache) {
    auto target = spare_.narrow(2, 0, columns);
    at::index_select_out(target, cache.narrow(2, 0, columns), 0, parents);
    std::swap(cache, spare_);
  };
  for (KeysAndValues& target : targets_) {
    take(target.keys);
    take(target.values);
  }
}

DeviceStepResults TorchDeviceModel::step(const DeviceStep& step) {
  const c10::InferenceMode inference;
  const std::int64_t columns = rounded_up(step.longest);
  make_room_for_target(columns);
  if (rows_per_group_ > 1) reorder(step.parents, columns);
  InPlaceAttention attention(*this, step, columns);
  const auto hidden = model_->decoder_states(
      {step.previous, step.positions, std::min(columns, max_positions()), {}},
      attention);  // [R, D]
  return {.log_probabilities = float_logits(model_, hidden).log_softmax(1),
          .attention = attention.reported_weights()};
}

}  // namespace dragoman
