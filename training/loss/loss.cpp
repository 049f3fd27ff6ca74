#include "training/loss/loss.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "base/threads.h"
#include "kernels/cuda/loss.h"
#include "model/ops/cuda_kernels.h"
#include "model/ops/kernel_call.h"
#include "model/ops/products.h"

namespace dragoman {

// ---- the loss of logits -------------------------------------------------------------------------

TokenLosses cross_entropy_reference(torch::Tensor& logits, const torch::Tensor& targets,
                                    const LossConfig& config) {
  const double on_target = 1 - config.label_smoothing;
  const double uniform = config.label_smoothing / static_cast<double>(logits.size(1));
  const auto counts = targets.ge(0).to(torch::kFloat32);   // 0 for rows without a target
  const auto index = targets.clamp_min(0).unsqueeze(1);    // [N, 1]
  auto log_p = logits.to(torch::kFloat32).log_softmax(1);  // [N, V]
  const auto likelihood = log_p.gather(1, index).squeeze(1).neg() * counts;
  const auto smoothed = likelihood * on_target - log_p.sum(1) * counts * uniform;
  // The gradient is one pass over the logits: a matrix of them costs more to read and write than
  // all else here.
  const auto p = log_p.exp_();
  const auto counts_of_rows = counts.unsqueeze(1);  // [N, 1]
  torch::addcmul_out(logits, counts_of_rows * -uniform, p, counts_of_rows);
  const auto of_targets = (p.gather(1, index) - (uniform + on_target)) * counts_of_rows;  // [N, 1]
  logits.scatter_(1, index, of_targets.to(logits.scalar_type()));
  return {torch::stack({smoothed, likelihood})};
}

namespace {

TokenLosses losses_for(const torch::Tensor& rows) {
  return {torch::empty({2, rows.size(0)}, rows.options().dtype(torch::kFloat32))};
}

void run_loss(const LossArguments& a, const torch::Tensor& logits) {
  constexpr std::int64_t kTokensPerTask = 8;  // rows that a task of the kernel takes
  if (logits.is_cpu())
    return run_rows(batch_kernels().loss, element_type(logits), a, logits.size(0), kTokensPerTask);
  const CudaLoss arguments{a.logits,
                           long_longs(a.targets),
                           a.losses,
                           a.negative_log_likelihoods,
                           static_cast<unsigned>(logits.size(0)),
                           static_cast<unsigned>(a.columns),
                           a.smoothing};
  launch_cuda_kernel("loss", logits, {logits.size(0), kCudaLossThreads}, &arguments);
}

}  // namespace

TokenLosses cross_entropy_in_place(torch::Tensor& logits, const torch::Tensor& targets,
                                   const LossConfig& config) {
  if (!has_kernel_for(logits) && !has_cuda_kernel_for(logits))
    return cross_entropy_reference(logits, targets, config);
  const TokenLosses losses = losses_for(logits);
  run_loss({logits.mutable_data_ptr(), targets.const_data_ptr<std::int64_t>(),
            losses.smoothed().mutable_data_ptr<float>(),
            losses.negative_log_likelihood().mutable_data_ptr<float>(), logits.size(1),
            static_cast<float>(config.label_smoothing)},
           logits);
  return losses;
}

namespace {

// ---- the loss without logits in memory ----------------------------------------------------------
//
// Cross-entropy with label smoothing of an output projection z = h W^T whose logits never go to
// memory. A kernel writes exponentials in their place, as soon as it has multiplied:
//   e_v = exp(z_v - z_target), total = sum_v e_v, so -log p_target = log(total), p_v = e_v / total
//   loss = log(total) - floor * sum_v (z_v - z_target), and sum_v z_v = h . (sum of W's rows)
//   y_v = e_v - [v = target] (1 - smoothing) total, floor = smoothing / V
//   d loss / d z_v = y_v / total - floor
// The floor is the same for all v, so its term in the gradients needs no product:
//   dh = (y W) / total - floor * (sum of W's rows)
//   dW = y^T (h / total) - floor * (sum of h over the tokens that have a target)

/// The sum of the rows of x [N, C] with weights [N], in fp32.
torch::Tensor weighted_sum_of_rows(const torch::Tensor& x, const torch::Tensor& weights) {
  auto sums = torch::zeros({1, x.size(1)}, x.options().dtype(torch::kFloat32));
  add_weight_gradient(sums, weights.unsqueeze(1), x);
  return sums.squeeze(0);
}

/// The output projection's weight as the chunks of a batch need it.
struct ExponentialWeight {
  explicit ExponentialWeight(const torch::Tensor& output_weight)
      : weight(output_weight.contiguous()),
        packed(pack_weight(weight)),
        transposed(pack_transposed(weight)),
        sum_of_rows(weighted_sum_of_rows(weight, torch::ones({weight.size(0)}, weight.options()))) {
  }

  torch::Tensor weight;       ///< [V, D] bf16
  torch::Tensor packed;       ///< for z = h W^T
  torch::Tensor transposed;   ///< packed for y W
  torch::Tensor sum_of_rows;  ///< [D] fp32
};

class ExponentialLoss {
 public:
  /// Whether there are kernels for this type and processor; for an output bias there are none.
  static bool fits(const torch::Tensor& hidden, bool has_bias) {
    return is_own_product(hidden) && !has_bias;
  }

  /// hidden [N, D] bf16, targets [N]. `exponentials` [N, V] is overwritten. The weight must outlive
  /// this object.
  ExponentialLoss(const torch::Tensor& hidden, const ExponentialWeight& weight,
                  const torch::Tensor& targets, const torch::Tensor& exponentials,
                  const LossConfig& config)
      : weight_(weight),
        hidden_(hidden.contiguous()),
        exponentials_(exponentials),
        scaled_(torch::empty_like(hidden_)),
        inverses_(torch::empty({hidden.size(0)}, hidden.options().dtype(torch::kFloat32))),
        floor_(config.label_smoothing / static_cast<double>(weight.weight.size(0))),
        losses_(losses_for(hidden)) {
    run_product(batch_kernels().projected_loss,
                ProjectedLossArguments{
                    product_arguments(exponentials_, hidden_, weight_.packed, {}),
                    weight_.weight.const_data_ptr(), weight_.sum_of_rows.const_data_ptr<float>(),
                    targets.const_data_ptr<std::int64_t>(), inverses_.mutable_data_ptr<float>(),
                    scaled_.mutable_data_ptr(), losses_.smoothed().mutable_data_ptr<float>(),
                    losses_.negative_log_likelihood().mutable_data_ptr<float>(),
                    static_cast<float>(config.label_smoothing)},
                hidden_);
  }

  /// False if a row's total exceeds fp32, as in a model that has diverged. The other functions must
  /// not be called then.
  bool succeeded() const { return !losses_.smoothed().isnan().any().item<bool>(); }

  const TokenLosses& losses() const { return losses_; }

  void hidden_gradient_out(torch::Tensor& d_hidden) const {  // [N, D]
    const auto offsets = weight_.sum_of_rows * floor_;
    run_product(
        batch_kernels().scaled_product,
        ScaledProductArguments{product_arguments(d_hidden, exponentials_, weight_.transposed, {}),
                               inverses_.const_data_ptr<float>(), offsets.const_data_ptr<float>()},
        exponentials_);
  }

  torch::Tensor weight_gradient() const {  // [V, D]
    return dragoman::weight_gradient(exponentials_, scaled_, floor_gradient());
  }

  void add_weight_gradient(torch::Tensor& sums) const {  // fp32
    sums.add_(floor_gradient());
    dragoman::add_weight_gradient(sums, exponentials_, scaled_);
  }

 private:
  torch::Tensor floor_gradient() const {  // [D], of each row of the weight
    const auto has_target = inverses_.gt(0).to(hidden_.scalar_type());
    return weighted_sum_of_rows(hidden_, has_target) * -floor_;
  }

  const ExponentialWeight& weight_;
  torch::Tensor hidden_, exponentials_;
  torch::Tensor scaled_;    // [N, D]: hidden states divided by their totals
  torch::Tensor inverses_;  // [N]: 1 / total; 0 in rows without a target
  double floor_;
  TokenLosses losses_;
};

// ---- the loss in chunks -------------------------------------------------------------------------

/// The sums of the values, [2] fp64.
torch::Tensor sum_of(const TokenLosses& losses) {
  if (!losses.values.is_cpu()) return losses.values.sum(1, /*keepdim=*/false, torch::kFloat64);
  return torch::stack({losses.smoothed().sum(torch::kFloat64),
                       losses.negative_log_likelihood().sum(torch::kFloat64)});
}

/// The arguments of projected_cross_entropy().
struct Projection {
  torch::Tensor hidden;   // [N, D]
  torch::Tensor weight;   // [V, D]
  torch::Tensor bias;     // [V] or undefined
  torch::Tensor targets;  // [N]
};

/// The number of tokens in a chunk. If the configuration leaves it open, a device other than the
/// CPU takes as many as have 2^28 logits, 8,388 tokens with 32,000 pieces: it has no use for the
/// small chunks that stay in a processor's cache, and each chunk is some dozens of launches.
std::int64_t chunk_on_device(LossConfig config, std::int64_t tokens, const torch::Tensor& weight) {
  constexpr std::int64_t kLogits = 1 << 28;
  if (!weight.is_cpu() && config.chunk_tokens == 0)
    config.chunk_tokens = std::max<std::int64_t>(kLogits / weight.size(0), 1);
  return chunk_size(config, tokens, weight.size(0));
}

/// The losses of a projection, a chunk of tokens at a time, and its gradients if they are wanted.
class ChunkedLoss {
 public:
  ChunkedLoss(Projection projection, const LossConfig& config, bool wants_gradients)
      : in_(std::move(projection)),
        config_(config),
        wants_gradients_(wants_gradients),
        tokens_(in_.targets.size(0)),
        chunk_(chunk_on_device(config, tokens_, in_.weight)),
        logits_(torch::empty({chunk_, in_.weight.size(0)}, in_.hidden.options())) {
    if (!wants_gradients) return;
    const auto wide = in_.hidden.options().dtype(torch::kFloat32);
    gradients_.hidden = torch::empty_like(in_.hidden);
    if (!is_one_product()) gradients_.weight = torch::zeros(in_.weight.sizes(), wide);
    if (in_.bias.defined()) gradients_.bias = torch::zeros(in_.bias.sizes(), wide);
    if (ExponentialLoss::fits(in_.hidden, in_.bias.defined()))
      exponential_weight_.emplace(in_.weight);
  }

  /// LossSums::values.
  torch::Tensor run() {
    torch::Tensor sums;
    for (std::int64_t begin = 0; begin < tokens_; begin += chunk_) {
      const auto of_chunk = sum_of(losses_of({begin, std::min(chunk_, tokens_ - begin)}));
      sums = sums.defined() ? sums.add_(of_chunk) : of_chunk;
    }
    return sums.defined() ? sums : torch::zeros({2}, in_.hidden.options().dtype(torch::kFloat64));
  }

  struct Gradients {
    torch::Tensor hidden, weight, bias;  // the last two in fp32 if they are sums
  };
  const Gradients& gradients() const { return gradients_; }

 private:
  struct Chunk {
    std::int64_t begin, count;
  };

  /// Whether the weight's gradient is one product, or a sum of several.
  bool is_one_product() const { return chunk_ == tokens_; }
  static torch::Tensor rows(const torch::Tensor& x, const Chunk& chunk) {
    return x.narrow(0, chunk.begin, chunk.count);
  }

  TokenLosses losses_of(const Chunk& chunk) {
    if (exponential_weight_)
      if (const auto losses = exponential_losses(chunk)) return *losses;
    return losses_of_logits(chunk);
  }

  std::optional<TokenLosses> exponential_losses(const Chunk& chunk) {
    const ExponentialLoss loss(rows(in_.hidden, chunk), *exponential_weight_,
                               rows(in_.targets, chunk), logits_.narrow(0, 0, chunk.count),
                               config_);
    if (!loss.succeeded()) return std::nullopt;
    auto d_hidden = rows(gradients_.hidden, chunk);
    loss.hidden_gradient_out(d_hidden);
    if (is_one_product())
      gradients_.weight = loss.weight_gradient();
    else
      loss.add_weight_gradient(gradients_.weight);
    return loss.losses();
  }

  TokenLosses losses_of_logits(const Chunk& chunk) {
    auto logits = logits_.narrow(0, 0, chunk.count);  // [c, V]
    project(logits, rows(in_.hidden, chunk));
    const TokenLosses losses = cross_entropy_in_place(logits, rows(in_.targets, chunk), config_);
    if (wants_gradients_) add_gradients(logits, chunk);
    return losses;
  }

  /// logits = hidden weight^T + bias.
  void project(torch::Tensor& logits, const torch::Tensor& hidden) const {
    if (in_.bias.defined())
      torch::addmm_out(logits, in_.bias, hidden, in_.weight.t());
    else
      linear_product_out(logits, hidden, in_.weight);
  }

  void add_gradients(const torch::Tensor& d_logits, const Chunk& chunk) {
    const auto hidden = rows(in_.hidden, chunk);
    auto d_hidden = rows(gradients_.hidden, chunk);
    input_gradient_out(d_hidden, d_logits, in_.weight);
    if (is_one_product())
      gradients_.weight = weight_gradient(d_logits, hidden);  // [V, D]
    else
      add_weight_gradient(gradients_.weight, d_logits, hidden);
    if (in_.bias.defined()) gradients_.bias.add_(d_logits.sum(0, false, torch::kFloat32));
  }

  Projection in_;
  LossConfig config_;
  bool wants_gradients_;
  std::int64_t tokens_, chunk_;
  torch::Tensor logits_;                                 // [c, V], used again for each chunk
  std::optional<ExponentialWeight> exponential_weight_;  // if ExponentialLoss fits
  Gradients gradients_;
};

/// Forward returns LossSums; only the objective has a gradient. The gradients exist after the
/// forward pass.
struct ProjectedCrossEntropy : torch::autograd::Function<ProjectedCrossEntropy> {
  static variable_list forward(AutogradContext* context, const torch::Tensor& hidden,
                               const torch::Tensor& weight, const OptionalTensor& bias,
                               const torch::Tensor& targets, LossConfig config,
                               bool wants_gradients) {
    RECORD_USER_SCOPE("ProjectedCrossEntropy");
    ChunkedLoss loss({hidden, weight, bias.value_or(torch::Tensor()), targets}, config,
                     wants_gradients);
    const auto sums = loss.run();
    const auto& gradients = loss.gradients();
    for (const auto& [name, gradient] : {std::pair(kHidden, gradients.hidden),
                                         {kWeight, gradients.weight},
                                         {kBias, gradients.bias}})
      if (gradient.defined()) context->saved_data[name] = gradient.to(hidden.scalar_type());
    context->mark_non_differentiable({sums});
    return {sums[0].to(torch::kFloat32), sums};
  }

  static variable_list backward(AutogradContext* context, const variable_list& gradients) {
    // A GPU's number is not read, because that would wait for the GPU.
    TORCH_CHECK(!gradients[0].is_cpu() || gradients[0].item<float>() == 1,
                "the gradient of the objective is not 1");
    // Nobody else holds them: a parameter takes them for its gradient without a copy.
    const auto take = [&](const char* name) {
      const auto saved = context->saved_data.find(name);
      if (saved == context->saved_data.end()) return torch::Tensor();
      auto gradient = saved->second.toTensor();
      context->saved_data.erase(saved);
      return gradient;
    };
    return {take(kHidden), take(kWeight), take(kBias), {}, {}, {}};
  }

  static constexpr const char *kHidden = "d_hidden", *kWeight = "d_weight", *kBias = "d_bias";
};

}  // namespace

std::int64_t chunk_size(const LossConfig& config, std::int64_t tokens, std::int64_t vocabulary) {
  constexpr std::int64_t kLogits = 1 << 25;
  const std::int64_t most = config.chunk_tokens > 0
                                ? config.chunk_tokens
                                : std::max<std::int64_t>(kLogits / vocabulary, 1);
  const std::int64_t chunks = std::max<std::int64_t>(divide_up(tokens, most), 1);
  return divide_up(tokens, chunks);
}

LossSums projected_cross_entropy(const torch::Tensor& hidden, const torch::Tensor& weight,
                                 const torch::Tensor& bias, const torch::Tensor& targets,
                                 const LossConfig& config) {
  const auto sums =
      ProjectedCrossEntropy::apply(hidden.contiguous(), weight, as_optional(bias), targets, config,
                                   torch::GradMode::is_enabled() && hidden.requires_grad());
  return {sums[0], sums[1]};
}

}  // namespace dragoman
