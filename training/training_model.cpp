#include "training/training_model.h"

#include <ATen/Context.h>
#include <ATen/Parallel.h>
#include <torch/csrc/autograd/utils/lambda_post_hook.h>

#include <algorithm>
#include <array>
#include <utility>

#include "base/cpu.h"
#include "base/machine.h"
#include "base/random.h"
#include "base/threads.h"
#include "data/packed_batch.h"
#include "model/device.h"
#include "model/ops/attention.h"
#include "model/ops/kernel_call.h"
#include "model/ops/packed_layout.h"
#include "model/ops/products.h"
#include "training/loss/guided_alignment.h"

namespace dragoman {

namespace {

enum class Side : std::uint64_t { Source, Target };

/// A dropout row key for each token: a function of seed, update, sentence, side and position.
std::vector<std::int32_t> row_keys(const SideView& side, std::span<const std::int64_t> sentences,
                                   std::uint64_t seed, std::int64_t update, Side which) {
  std::vector<std::int32_t> keys(side.tokens.size());
  for (std::size_t b = 0; b < sentences.size(); ++b) {
    const std::uint64_t sentence =
        random_bits(seed, static_cast<std::uint64_t>(update),
                    static_cast<std::uint64_t>(sentences[b]), static_cast<std::uint64_t>(which));
    std::int32_t* const of_sentence = keys.data() + (side.starts[b] - side.starts[0]);
    for (std::int32_t t = 0; t < side.starts[b + 1] - side.starts[b]; ++t)
      of_sentence[t] = static_cast<std::int32_t>(mix64(sentence + static_cast<std::uint64_t>(t)));
  }
  return keys;
}

/// Rows of a batch are rounded up to this if products are oneDNN's: it compiles a kernel for each
/// shape that it meets, which takes longer than using it.
constexpr std::int64_t kRowMultiple = 128;

/// Elements of a block of the flat buffers: a block of weights, gradient and both moments together
/// fits into a core's cache.
constexpr std::int64_t kBlock = 32 * 1024;

/// One side of a batch, on the device and in the number type of `weights`. If the batch is filled()
/// up to a shape, that shape's longest sentence has `longest` tokens.
PackedTokens tokens_on_device(const SideView& side, std::int64_t heads,
                              const torch::Tensor& weights, std::int64_t longest = 0) {
  const bool any_shape = has_own_products(weights.scalar_type(), weights.device()) ||
                         !runs_kernels_on(weights.device());
  return packed_tokens(side.tokens, side.starts, heads, weights.device(),
                       any_shape ? 1 : kRowMultiple, longest);
}

/// Whether attention needs no padding. Guided alignment pads the heads.
bool is_packed(const torch::Tensor& weights, const BatchView& share, const ModelConfig& config) {
  return config.attention_dropout == 0 && share.links.empty() &&
         has_flash_attention(weights.scalar_type(), weights.device(), config.d_k());
}

/// The shape that a share is filled up to; none on the CPU.
BatchShape shape_on(const torch::Tensor& weights, const BatchView& share,
                    const ModelConfig& config) {
  if (runs_kernels_on(weights.device())) return {};
  const std::int64_t longest = config.longest_sentence();
  if (!is_packed(weights, share, config)) return shape_for(share, ShapeUse::Padded, longest);
  const std::optional<BatchShape> capacity = capacity_for(share, longest);
  return capacity ? *capacity : shape_for(share, ShapeUse::Packed, longest);
}

struct ForwardPass {
  torch::Tensor hidden;          // [N, D]
  torch::Tensor alignment_loss;  // scalar, over the target pieces with links; undefined without
  torch::Tensor linked_tokens;   // scalar; undefined without
};

ForwardPass forward_pass(Transformer& model, const PackedTokens& source, const PackedTokens& target,
                         std::span<const std::vector<PieceLink>> sentence_links,
                         const LossConfig& loss) {
  const auto memory = model->encode(source);
  if (sentence_links.empty()) return {model->decode(target, memory, source.layout), {}, {}};
  const std::int64_t layer =
      loss.alignment_layer > 0 ? loss.alignment_layer : model->config.decoder_layers;
  const BatchLinks links(sentence_links, source.layout, target.layout);
  GuidedDecoderAttention attention(memory, source.layout, target.layout, links,
                                   {layer - 1, loss.alignment_head});
  const auto hidden = model->decode(target, attention);
  return {hidden, attention.cross_entropy(), links.link_weights.sum()};
}

bool any_dropout(const ModelConfig& config) {
  return config.dropout > 0 || config.attention_dropout > 0 || config.activation_dropout > 0;
}

}  // namespace

TrainingModel::TrainingModel(const ModelConfig& config, const AdamConfig& adam, Precision precision,
                             torch::Device device, std::uint64_t seed)
    : layout_(config),
      device_(device),
      seed_(seed),
      weights_(layout_.zeros(torch::kFloat32, device)),
      gradient_(layout_.zeros(torch::kFloat32, device)),
      compute_weights_(precision == Precision::Bf16 ? layout_.zeros(torch::kBFloat16, device)
                                                    : weights_),
      one_(torch::ones({}, weights_.options())),
      step_numbers_(device),
      master_(config),
      adam_(adam, weights_) {
  layout_.bind_values(master_, weights_);
  master_->initialize(seed);
  add_replicas(1);
  weights_changed();
}

void TrainingModel::weights_changed() {
  const torch::NoGradGuard no_grad;
  if (!compute_weights_.is_same(weights_)) compute_weights_.copy_(weights_);
}

std::vector<torch::Tensor> TrainingModel::state() {
  std::vector<torch::Tensor> tensors = {weights_, adam_.first_moment, adam_.second_moment,
                                        adam_.steps};
  if (moving_average_) tensors.push_back(moving_average_->values);
  return tensors;
}

std::int64_t TrainingModel::block_size() const {
  return device_.is_cpu() ? kBlock : weights_.numel();
}

std::int64_t TrainingModel::blocks() const { return divide_up(weights_.numel(), block_size()); }

void TrainingModel::in_blocks(const BlockWork& work) {
  const std::int64_t workers = threads(), count = blocks();
  const auto work_on = [&](std::int64_t first, std::int64_t end) {
    const torch::NoGradGuard no_grad;
    for (std::int64_t begin = first * block_size(); first < end; ++first, begin += block_size())
      work(begin, std::min(block_size(), weights_.numel() - begin));
  };
  if (workers == 1) return work_on(0, count);
  run_side_by_side(*team_, static_cast<std::size_t>(workers), [&](std::size_t worker) {
    const auto i = static_cast<std::int64_t>(worker);
    work_on(count * i / workers, count * (i + 1) / workers);
  });
}

void TrainingModel::add_replicas(std::size_t count) {
  while (replicas_.size() < count) {
    Replica replica{Transformer(config()), {}, {}};
    layout_.bind_values(replica.model, compute_weights_);
    auto parameters = replica.model->named_parameters();
    for (const auto& view : layout_.views(compute_weights_))
      replica.parameters.push_back(parameters[view.name]);
    if (slices_) report_gradients(replica);
    replicas_.push_back(std::move(replica));
  }
}

/// A parameter without a gradient spares the next backward pass an addition.
void TrainingModel::Replica::clear_gradients() {
  for (torch::Tensor& parameter : parameters) parameter.mutable_grad().reset();
}

void TrainingModel::hand_over_slices(std::int64_t elements,
                                     std::function<void(const torch::Tensor&)> take) {
  TORCH_CHECK(!slices_, "the gradient is handed over already");
  slices_ = std::make_unique<GradientSlices>(
      layout_.slices_from_the_end(elements),
      [this, take = std::move(take)](const FlatRange& slice) {
        const torch::NoGradGuard no_grad;
        add_gradients(slice.begin, slice.end);
        take(gradient_.narrow(0, slice.begin, slice.end - slice.begin));
      });
  for (Replica& replica : replicas_) report_gradients(replica);
}

/// A backward pass adds to the gradient of a parameter once, in one node of its graph.
void TrainingModel::report_gradients(Replica& replica) {
  using torch::autograd::variable_list;
  for (std::size_t i = 0; i < replica.parameters.size(); ++i) {
    const auto report = [this, i](const variable_list& outputs, const variable_list&) {
      slices_->computed(i);
      return outputs;
    };
    replica.accumulators.push_back(torch::autograd::impl::grad_accumulator(replica.parameters[i]));
    replica.accumulators.back()->add_post_hook(
        std::make_unique<torch::autograd::utils::LambdaPostHook>(report));
  }
}

void TrainingModel::hand_over_rest() {
  if (slices_) slices_->hand_over_rest();
}

/// Sums in fp32, in the order of the replicas.
void TrainingModel::add_gradients(std::int64_t begin, std::int64_t end) {
  const auto sums = gradient_.narrow(0, begin, end - begin);
  if (!device_.is_cpu() && !has_gradient_)
    return layout_.copy_gradients(replicas_.front().parameters, begin, sums);
  for (const Replica& replica : replicas_) layout_.add_gradients(replica.parameters, begin, sums);
}

std::int64_t TrainingModel::elements_left() const {
  return slices_ ? slices_->left() : gradient_.numel();
}

std::int64_t TrainingModel::threads() const { return device_.is_cpu() ? at::get_num_threads() : 1; }

DeviceLoss TrainingModel::accumulate(std::span<const BatchView> shares, const LossConfig& loss,
                                     std::int64_t update, bool is_last) {
  add_replicas(shares.size());
  if (slices_) slices_->expect(is_last ? shares.size() : 0);
  std::vector<DeviceLoss> losses(shares.size());
  const auto compute = [&](std::size_t i) {
    losses[i] = accumulate_share(replicas_[i], shares[i], loss, update);
  };
  if (shares.size() == 1)
    compute(0);
  else
    run_side_by_side(*team_, shares.size(), compute);
  DeviceLoss sums;
  for (const DeviceLoss& share : losses) sums += share;
  const std::int64_t left = elements_left();
  in_blocks([&](std::int64_t begin, std::int64_t size) {
    if (begin < left) add_gradients(begin, std::min(begin + size, left));
  });
  has_gradient_ = true;
  for (Replica& replica : replicas_) replica.clear_gradients();
  return sums;
}

BatchInput TrainingModel::input_of(const BatchView& batch, const BatchShape& shape,
                                   std::int64_t update) const {
  RowKeys keys;
  if (any_dropout(config()))
    keys = {row_keys(batch.source, batch.sentences, seed_, update, Side::Source),
            row_keys(batch.target, batch.sentences, seed_, update, Side::Target)};
  const std::int64_t heads = config().heads;
  if (device_.is_cuda()) return input_on_gpu(batch, shape, keys, heads, device_);
  BatchInput input{{},
                   tokens_on_device(batch.source, heads, compute_weights_, shape.source.longest),
                   tokens_on_device(batch.target, heads, compute_weights_, shape.target.longest)};
  if (!keys.source.empty()) input.source.layout.set_row_keys(keys.source);
  if (!keys.target.empty()) input.target.layout.set_row_keys(keys.target);
  return input;
}

DeviceLoss TrainingModel::accumulate_share(Replica& replica, const BatchView& share,
                                           const LossConfig& loss, std::int64_t update) {
  const BatchShape shape = shape_on(compute_weights_, share, config());
  std::optional<PackedBatch> filled_share;
  if (shape.sentences > 0) filled_share = filled(share, shape);
  const BatchView whole = filled_share ? BatchView(*filled_share) : share;
  const BatchInput input = input_of(whole, shape, update);
  return {pass(replica, input, whole.links, loss), share.source.size(), share.target.size()};
}

torch::Tensor TrainingModel::pass(Replica& replica, const BatchInput& input,
                                  std::span<const std::vector<PieceLink>> links,
                                  const LossConfig& loss) {
  const ForwardPass output = forward_pass(replica.model, input.source, input.target, links, loss);
  const auto sums =
      projected_cross_entropy(output.hidden, replica.model->output_weight(),
                              replica.model->output_bias(), input.target.tokens, loss);
  auto objective = sums.objective;
  torch::Tensor losses = sums.values;
  if (output.alignment_loss.defined()) {
    objective = objective + output.alignment_loss * loss.alignment_weight;
    losses = torch::cat(
        {losses,
         torch::stack({output.alignment_loss, output.linked_tokens}).detach().to(torch::kFloat64)});
  }
  objective.backward(one_);
  return losses;
}

StepResult TrainingModel::step(const StepConfig& step) {
  step_numbers_.set(step.loss.target_tokens, step.learning_rate);
  return make_step(step.loss.values, step);
}

StepResult TrainingModel::make_step(const torch::Tensor& losses, const StepConfig& step) {
  const torch::NoGradGuard no_grad;
  const Decision decision = decide({.numbers = step_numbers_,
                                    .gradient_norm = gradient_norm(),
                                    .losses = losses,
                                    .clip_norm = step.clip_norm,
                                    .limits = step.limits,
                                    .average_decay = moving_average_ ? moving_average_->decay : 0},
                                   adam_, weights_);
  if (decision.step_numbers.defined())
    step_by_kernel(decision);
  else
    step_by_operations(decision);
  has_gradient_ = false;
  if (slices_) slices_->restart();
  return decision.result;
}

void TrainingModel::step_by_kernel(const Decision& decision) {
  StepBuffers buffers{weights_, gradient_};
  if (moving_average_) buffers.average = moving_average_->values;
  if (!compute_weights_.is_same(weights_)) buffers.compute_weights = compute_weights_;
  adam_.step_by_kernel(decision.step_numbers, buffers);
}

void TrainingModel::step_by_operations(const Decision& decision) {
  in_blocks([&](std::int64_t begin, std::int64_t size) {
    const auto block = [&](const torch::Tensor& all) { return all.narrow(0, begin, size); };
    auto gradient = block(gradient_);
    gradient.mul_(decision.factor);
    adam_.step_block(begin, block(weights_), gradient);
    if (moving_average_) moving_average_->add(begin, block(weights_), decision.average_fraction);
    if (!compute_weights_.is_same(weights_)) block(compute_weights_).copy_(block(weights_));
    if (device_.is_cpu()) gradient.zero_();
  });
}

std::optional<StepResult> TrainingModel::step_by_graph(std::span<const PackedBatch> batches,
                                                       const LossConfig& loss, std::int64_t update,
                                                       const StepConfig& step) {
  const std::vector<BatchShape> shapes = shapes_to_record(batches);
  if (shapes.empty()) return std::nullopt;
  if (recorded_.shapes != shapes) {
    if (recorded_.shapes.empty()) recorded_.shapes = shapes;  // the next update is recorded
    return std::nullopt;
  }
  std::vector<BatchInput> inputs;
  for (std::size_t i = 0; i < batches.size(); ++i)
    inputs.push_back(input_of(filled(batches[i], shapes[i]), shapes[i], update));
  step_numbers_.set(step.loss.target_tokens, step.learning_rate);
  if (!recorded_.graph && !record_update(inputs, loss, step)) return std::nullopt;
  for (std::size_t i = 0; i < inputs.size(); ++i)
    recorded_.inputs[i].numbers.copy_(inputs[i].numbers);
  recorded_.graph->launch();
  return StepResult{recorded_.result.values.clone()};
}

std::vector<BatchShape> TrainingModel::shapes_to_record(
    std::span<const PackedBatch> batches) const {
  if (!records_ || slices_ || !DeviceGraph::is_available(device_)) return {};
  std::vector<BatchShape> shapes;
  for (const PackedBatch& batch : batches) {
    const auto capacity = capacity_for(batch, config().longest_sentence());
    if (!capacity || !is_packed(compute_weights_, batch, config())) return {};
    shapes.push_back(*capacity);
  }
  return shapes;
}

bool TrainingModel::record_update(const std::vector<BatchInput>& inputs, const LossConfig& loss,
                                  const StepConfig& step) {
  try {
    for (const BatchInput& input : inputs) recorded_.inputs.push_back(copy_of(input));
    recorded_.graph = std::make_unique<DeviceGraph>(device_);
    recorded_.graph->record([&] {
      Replica& replica = replicas_.front();
      DeviceLoss sums;
      for (const BatchInput& input : recorded_.inputs) {
        sums += {pass(replica, input, {}, loss), 0, 0};
        const torch::NoGradGuard no_grad;
        add_gradients(0, gradient_.numel());
        has_gradient_ = true;
        replica.clear_gradients();
      }
      recorded_.result = make_step(sums.values, step);
    });
    return true;
  } catch (const std::exception& problem) {
    if (!is_out_of_memory(problem)) throw;
  }
  records_ = false;
  recorded_ = {};
  has_gradient_ = false;
  replicas_.front().clear_gradients();
  give_back_freed_memory();
  return false;
}

torch::Tensor TrainingModel::gradient_norm() {
  if (blocks() == 1 && !device_.is_cpu()) return gradient_.norm();
  auto squares = torch::empty({blocks()}, gradient_.options().dtype(torch::kFloat64));
  in_blocks([&](std::int64_t begin, std::int64_t size) {
    const auto norm = gradient_.narrow(0, begin, size).norm();
    squares.select(0, begin / block_size()).copy_(norm.to(torch::kFloat64).square());
  });
  return squares.cumsum(0).select(0, -1).sqrt();  // a sum in the order of the blocks
}

void TrainingModel::forget_gradient() {
  gradient_.narrow(0, 0, elements_left()).zero_();
  has_gradient_ = false;
  for (Replica& replica : replicas_) replica.clear_gradients();
}

BatchLoss TrainingModel::evaluate(const BatchView& batch) {
  const torch::NoGradGuard no_grad;
  const auto source = tokens_on_device(batch.source, config().heads, weights_);
  const auto target = tokens_on_device(batch.target, config().heads, weights_);
  const auto hidden = master_->decode(target, master_->encode(source), source.layout);
  const auto sums = projected_cross_entropy(hidden, master_->output_weight(),
                                            master_->output_bias(), target.tokens, {});
  return DeviceLoss{sums.values, batch.source.size(), batch.target.size()}.read();
}

Precision resolve_precision(Precision precision, torch::Device device) {
  if (precision != Precision::Auto) return precision;
  if (device.is_cuda()) return Precision::Bf16;
  return cpu_features().bf16_is_faster ? Precision::Bf16 : Precision::Fp32;
}

// ---- the losses of a batch ----------------------------------------------------------------------

BatchLoss& BatchLoss::operator+=(const BatchLoss& other) {
  smoothed += other.smoothed;
  negative_log_likelihood += other.negative_log_likelihood;
  source_tokens += other.source_tokens;
  target_tokens += other.target_tokens;
  alignment += other.alignment;
  linked_tokens += other.linked_tokens;
  return *this;
}

DeviceLoss& DeviceLoss::operator+=(const DeviceLoss& other) {
  if (other.values.defined()) values = values.defined() ? values + other.values : other.values;
  source_tokens += other.source_tokens;
  target_tokens += other.target_tokens;
  return *this;
}

BatchLoss DeviceLoss::read() const {
  if (!values.defined()) return {.source_tokens = source_tokens, .target_tokens = target_tokens};
  const auto here = values.cpu().contiguous();
  std::array<double, LossIndex::kCount> all{};
  std::copy_n(here.const_data_ptr<double>(), here.numel(), all.begin());
  return batch_loss(*this, all.data());
}

BatchLoss batch_loss(const DeviceLoss& loss, const double* values) {
  return {.smoothed = values[LossIndex::kSmoothed],
          .negative_log_likelihood = values[LossIndex::kNegativeLogLikelihood],
          .source_tokens = loss.source_tokens,
          .target_tokens = loss.target_tokens,
          .alignment = values[LossIndex::kAlignment],
          .linked_tokens = values[LossIndex::kLinkedTokens]};
}

}  // namespace dragoman
