#include "inference/torch/torch_device_model.h"

#include <ATen/ops/addmm.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/mm.h>
#include <ATen/ops/scaled_dot_product_attention.h>
#include <ATen/ops/tensor.h>
#include <ATen/ops/zeros.h>
#include <c10/core/InferenceMode.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/error.h"
#include "base/threads.h"
#include "kernels/cuda/step_attention.h"
#include "model/ops/cuda_kernels.h"

namespace dragoman {

torch::ScalarType type_on_gpu(ComputeType type) {
  if (type == ComputeType::Int8)
    throw UsageError("--compute-type int8: works on the CPU; on a GPU bfloat16 and float16 do");
  return type == ComputeType::Float32   ? torch::kFloat32
         : type == ComputeType::Float16 ? torch::kFloat16
                                        : torch::kBFloat16;
}

std::unique_ptr<Engine> device_engine(const std::vector<Transformer>& models,
                                      std::vector<TokenId> never_emitted,
                                      HalvingScheduler::OnFewerRows on_fewer_rows,
                                      StepLaunch launch) {
  std::vector<std::unique_ptr<DeviceModel>> members;
  for (const Transformer& model : models)
    members.push_back(std::make_unique<TorchDeviceModel>(model));
  auto together = members.size() == 1 ? std::move(members.front())
                                      : std::make_unique<DeviceEnsemble>(std::move(members));
  return std::make_unique<DeviceEngine>(std::move(together), std::move(never_emitted),
                                        std::move(on_fewer_rows), launch);
}

namespace {

/// The sentences on the model's device, packed as the module tree reads them.
PackedTokens packed_sentences(Transformer& model, std::span<const std::vector<TokenId>> sentences) {
  std::vector<std::int32_t> tokens, starts = {0};
  for (const std::vector<TokenId>& sentence : sentences) {
    tokens.insert(tokens.end(), sentence.begin(), sentence.end());
    starts.push_back(static_cast<std::int32_t>(tokens.size()));
  }
  return packed_tokens(tokens, starts, model->config.heads, model->output_weight().device());
}

/// The logits of hidden states [R, D] in fp32 [R, V]: rounded to a half-precision type many would
/// be equal.
torch::Tensor float_logits(Transformer& model, const torch::Tensor& hidden) {
  if (!hidden.is_cuda() || hidden.scalar_type() == torch::kFloat32)
    return model->logits(hidden).to(torch::kFloat32);
  const torch::Tensor products = at::mm(hidden, model->output_weight().t(), torch::kFloat32);
  const torch::Tensor bias = model->output_bias();
  return bias.defined() ? products + bias : products;
}

/// Room grows by this number of columns, so that the shapes of many steps are the same.
constexpr std::int64_t kColumns = 32;

std::int64_t rounded_up(std::int64_t columns) { return divide_up(columns, kColumns) * kColumns; }

void widen(std::vector<KeysAndValues>& caches, std::int64_t columns) {
  for (KeysAndValues& cache : caches)
    for (torch::Tensor* tensor : {&cache.keys, &cache.values})
      *tensor = widened(*tensor, 1, columns);
}

}  // namespace

/// The attention of one step: writes the new keys and values into the caches, and attends to them.
class TorchDeviceModel::InPlaceAttention : public DecoderAttention {
 public:
  InPlaceAttention(TorchDeviceModel& model, const DeviceStep& step)
      : model_(model),
        step_(step),
        columns_(step.columns),
        heads_(model.model_->config.heads),
        d_k_(model.model_->config.d_k()),
        rows_(model.groups_ * model.rows_per_group_),
        runs_kernel_(d_k_ <= kCudaMostStepHead &&
                     has_cuda_kernel_for(model.targets_.front().keys)) {
    if (runs_kernel_ && !step.reports_attention) return;
    const auto integers = step.positions.options();
    source_mask_ = torch::arange(model.source_capacity_, integers)
                       .lt(model.source_lengths_.view({-1, 1, 1, 1}));  // [G, 1, 1, S]
    if (runs_kernel_) return;
    const auto column = torch::arange(columns_, integers);
    target_mask_ = column.le(step.positions.view({-1, 1, 1, 1}));  // [R, 1, 1, T]
    const auto row = torch::arange(rows_, integers);
    written_ = row * model.target_capacity_ + step.positions;
    if (model.rows_per_group_ == 1) return;
    const auto first = (row - row.remainder(model.rows_per_group_)).view({rows_, 1});
    const auto ancestors = step.ancestors.flatten(0, 1).narrow(1, 0, columns_);
    read_ = ((first + ancestors) * model.target_capacity_ + column).view(-1);
  }

  torch::Tensor self(std::int64_t layer, MultiHeadAttention& module,
                     const SelfAttentionInput& x) override {
    const JoinedProjection& joined = model_.projections_[static_cast<std::size_t>(layer)];
    const std::int64_t size = heads_ * d_k_;
    const auto projected = at::addmm(joined.bias, x.keys, joined.weight.t());
    const torch::Tensor queries =
        projected.size(1) == 3 * size ? projected.narrow(1, 0, size) : module->query(x.queries);
    const auto keys = projected.narrow(1, projected.size(1) - 2 * size, size),
               values = projected.narrow(1, projected.size(1) - size, size);
    const KeysAndValues& cache = model_.targets_[static_cast<std::size_t>(layer)];
    if (runs_kernel_)
      return self_by_kernel(
          module, projected.size(1) == 3 * size ? projected : torch::cat({queries, projected}, 1),
          cache);
    const auto with_new = [&](const torch::Tensor& cached, const torch::Tensor& current) {
      cached.view({-1, size}).index_copy_(0, written_, current);
      const auto all = read_.defined() ? cached.view({-1, size}).index_select(0, read_)
                                       : cached.narrow(1, 0, columns_);
      return all.view({rows_, columns_, heads_, d_k_}).transpose(1, 2);  // [R, H, T, K]
    };
    const auto attended = at::scaled_dot_product_attention(
        queries.reshape({rows_, heads_, 1, d_k_}), with_new(cache.keys, keys),
        with_new(cache.values, values), target_mask_);  // [R, H, 1, K]
    return module->output(attended.reshape({rows_, size}));
  }

  torch::Tensor cross(std::int64_t layer, MultiHeadAttention& module,
                      const torch::Tensor& x) override {
    const KeysAndValues& source = model_.sources_[static_cast<std::size_t>(layer)];
    const auto queries = module->query(x);  // [R, D]
    const auto by_head = [&](const torch::Tensor& of_group) {
      return of_group.view({model_.groups_, -1, heads_, d_k_}).transpose(1, 2);
    };
    const auto q = by_head(queries);  // [G, H, B, K]
    if (step_.reports_attention &&
        step_.heads.is_of_layer(layer + 1, model_.model_->config.decoder_layers))
      weights_ = weights(q, by_head(source.keys));
    if (runs_kernel_) return cross_by_kernel(module, queries, source);
    const auto attended = at::scaled_dot_product_attention(q, by_head(source.keys),
                                                           by_head(source.values), source_mask_);
    return module->output(attended.transpose(1, 2).reshape({rows_, heads_ * d_k_}));
  }

  /// [R, S], if the step asked for it.
  const torch::Tensor& reported_weights() const { return weights_; }

 private:
  CudaStepAttention kernel_arguments(const torch::Tensor& queries, const KeysAndValues& cache,
                                     torch::Tensor& attended) const {
    return {.queries = queries.const_data_ptr(),
            .new_keys = nullptr,
            .new_values = nullptr,
            .keys = cache.keys.mutable_data_ptr(),
            .values = cache.values.mutable_data_ptr(),
            .attended = attended.mutable_data_ptr(),
            .ancestors = nullptr,
            .positions = nullptr,
            .lengths = nullptr,
            .rows = static_cast<unsigned>(rows_),
            .heads = static_cast<unsigned>(heads_),
            .d_k = static_cast<unsigned>(d_k_),
            .stride = static_cast<unsigned>(queries.stride(0)),
            .columns = static_cast<unsigned>(cache.keys.size(1)),
            .ancestor_columns = static_cast<unsigned>(step_.ancestors.size(2)),
            .width = static_cast<unsigned>(model_.rows_per_group_),
            .rows_of_sequence = 1,
            .scale = static_cast<float>(1 / std::sqrt(static_cast<double>(d_k_)))};
  }

  torch::Tensor run(MultiHeadAttention& module, const CudaStepAttention& arguments,
                    const torch::Tensor& attended) const {
    launch_cuda_kernel("step_attention", attended, {rows_ * heads_, kCudaStepAttentionThreads},
                       &arguments);
    return module->output(attended);
  }

  /// `projected` [R, 3 D]: queries, keys and values.
  torch::Tensor self_by_kernel(MultiHeadAttention& module, const torch::Tensor& projected,
                               const KeysAndValues& cache) const {
    auto attended = torch::empty({rows_, heads_ * d_k_}, projected.options());
    CudaStepAttention arguments = kernel_arguments(projected, cache, attended);
    arguments.new_keys = projected.narrow(1, heads_ * d_k_, 1).const_data_ptr();
    arguments.new_values = projected.narrow(1, 2 * heads_ * d_k_, 1).const_data_ptr();
    arguments.positions = long_longs(step_.positions.const_data_ptr<std::int64_t>());
    if (model_.rows_per_group_ > 1) arguments.ancestors = step_.ancestors.const_data_ptr<int>();
    return run(module, arguments, attended);
  }

  torch::Tensor cross_by_kernel(MultiHeadAttention& module, const torch::Tensor& queries,
                                const KeysAndValues& source) const {
    auto attended = torch::empty({rows_, heads_ * d_k_}, queries.options());
    CudaStepAttention arguments = kernel_arguments(queries, source, attended);
    arguments.lengths = long_longs(model_.source_lengths_.const_data_ptr<std::int64_t>());
    arguments.rows_of_sequence = static_cast<unsigned>(model_.rows_per_group_);
    return run(module, arguments, attended);
  }

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
  const bool runs_kernel_;
  torch::Tensor target_mask_, source_mask_;  // bool
  torch::Tensor written_;                    // [R]: the place of each row's token in a cache
  torch::Tensor read_;  // [R * T]: the places of each row's columns; undefined: in order
  torch::Tensor weights_;
};

TorchDeviceModel::TorchDeviceModel(Transformer model)
    : model_(std::move(model)), options_(model_->output_weight().options().requires_grad(false)) {}

void TorchDeviceModel::shape(std::int64_t groups, std::int64_t rows_per_group) {
  groups_ = groups;
  rows_per_group_ = rows_per_group;
  source_capacity_ = target_capacity_ = 0;
  const ModelConfig& config = model_->config;
  const auto layers = static_cast<std::size_t>(config.decoder_layers);
  const auto empty = [&](std::int64_t rows) {
    return torch::zeros({rows, 0, config.d_model}, options_);
  };
  sources_.assign(layers, {empty(groups), empty(groups)});
  targets_.assign(layers, {empty(groups * rows_per_group), empty(groups * rows_per_group)});
  source_lengths_ = torch::ones({groups}, options_.dtype(torch::kInt64));
  make_room_for_source(1);
  make_room_for_target(1);
  const c10::InferenceMode inference;
  projections_.clear();
  for (const auto& layer : *model_->decoder->layers) {
    auto& attention = layer->as<DecoderLayerImpl>()->self_attention;
    std::vector<torch::Tensor> weights = {attention->key->weight, attention->value->weight},
                               biases = {attention->key->bias, attention->value->bias};
    if (config.norm != NormPosition::BeforeQueries) {
      weights.insert(weights.begin(), attention->query->weight);
      biases.insert(biases.begin(), attention->query->bias);
    }
    projections_.push_back({torch::cat(weights), torch::cat(biases)});
  }
}

void TorchDeviceModel::make_room_for_source(std::int64_t longest) {
  if (longest <= source_capacity_) return;
  source_capacity_ = rounded_up(longest);
  widen(sources_, source_capacity_);
}

void TorchDeviceModel::make_room_for_target(std::int64_t longest) {
  if (longest <= target_capacity_) return;
  target_capacity_ = rounded_up(std::max(longest, target_capacity_ * 3 / 2));  // to grow seldom
  widen(targets_, target_capacity_);
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
  const auto write = [&](torch::Tensor& cache, const torch::Tensor& projected) {
    const auto padded = pad_heads(projected, source.layout)
                            .view({source.layout.sentences, model_->config.heads,
                                   source.layout.longest, model_->config.d_k()})
                            .transpose(1, 2)
                            .flatten(2);  // [n, L, D]
    cache.narrow(1, 0, source.layout.longest).index_copy_(0, index, padded);
  };
  for (std::size_t i = 0; i < sources_.size(); ++i) {
    auto& attention = model_->decoder->layers[i]->as<DecoderLayerImpl>()->cross_attention;
    write(sources_[i].keys, attention->key(memory));
    write(sources_[i].values, attention->value(memory));
  }
}

DeviceStepResults TorchDeviceModel::step(const DeviceStep& step) {
  const c10::InferenceMode inference;
  make_room_for_target(step.columns);
  InPlaceAttention attention(*this, step);
  const auto hidden = model_->decoder_states(
      {step.previous, step.positions, std::min(step.columns, max_positions()), {}},
      attention);  // [R, D]
  return {.logits = float_logits(model_, hidden), .attention = attention.reported_weights()};
}

/// Keys and values of all layers move at once. The table of encodings may be the encoder's, too.
void TorchDeviceModel::add_places(TensorPlaces& places) {
  for (const torch::Tensor& tensor :
       {sources_.front().keys, targets_.front().keys, source_lengths_,
        model_->positional_encoding->sinusoids(model_->embedding->target_weight(), 0)})
    add_place(tensor, places);
}

}  // namespace dragoman
