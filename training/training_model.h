// The model while it learns: fp32 master weights, the weights that the arithmetic uses (the same,
// or a bf16 copy), gradients, and Adam, all on flat buffers.
#pragma once

#include <torch/types.h>

#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "base/worker_team.h"
#include "data/batch_view.h"
#include "model/transformer.h"
#include "training/flat_parameters.h"
#include "training/loss.h"
#include "training/optimizer.h"
#include "training/train_config.h"
#include "training/weight_average.h"

namespace dragoman {

struct BatchLoss {
  double smoothed = 0, negative_log_likelihood = 0;  ///< sums over target tokens
  std::int64_t source_tokens = 0, target_tokens = 0;
  /// Of guided alignment, over the target tokens with links, and how many those are; of R-Drop's
  /// two passes both.
  double alignment = 0, linked_tokens = 0;

  BatchLoss& operator+=(const BatchLoss& other);
};

struct StepConfig {
  std::int64_t target_tokens;  ///< of the whole update
  double learning_rate;
  double clip_norm = 0;  ///< longer gradients are shortened to this; 0: not
  double longest_gradient = std::numeric_limits<double>::max();  ///< longer ones are not used
};

class TrainingModel {
 public:
  /// `precision` is resolved (not Auto). Weights are initialized from the seed.
  TrainingModel(const ModelConfig& config, const AdamConfig& adam, Precision precision,
                torch::Device device, std::uint64_t seed);

  /// Threads that compute the shares of a batch, each its own; 1 where the device is no CPU.
  std::int64_t threads() const;

  /// Forward and backward pass of a batch's shares side by side (with R-Drop two, whose sums are
  /// means); adds to the gradient. Dropout is a function of seed, update and sentence numbers. The
  /// threads meet once a batch, where threads that share every operation meet hundreds of times.
  BatchLoss accumulate(std::span<const BatchView> shares, const LossConfig& loss,
                       std::int64_t update);
  /// The same of a whole batch, shared among threads().
  BatchLoss accumulate(const PackedBatch& batch, const LossConfig& loss, std::int64_t update);

  /// One step of Adam on the mean gradient over all target tokens, which is cleared. Returns the
  /// norm before clipping; the weights stay as they are where it is not finite or too long.
  double step(const StepConfig& step);

  /// Clears what batches have added to the gradient, in whole or in part.
  void forget_gradient();

  /// Loss of a batch under the master weights, without dropout or smoothing.
  BatchLoss evaluate(const BatchView& batch);

  /// The fp32 module tree on the master weights.
  Transformer& master() { return master_; }
  const ModelConfig& config() const { return master_->config; }
  const FlatLayout& layout() const { return layout_; }
  torch::Tensor& weights() {
    return weights_;
  }  ///< flat fp32; call weights_changed() after writing
  /// Flat fp32: what accumulate() has summed since the last step, over target tokens.
  torch::Tensor& gradient() { return gradient_; }
  Adam& adam() { return adam_; }
  /// Shares of a batch that have been made side by side so far, at most.
  std::int64_t replicas() const { return static_cast<std::int64_t>(replicas_.size()); }
  /// All tensors that a checkpoint holds; call weights_changed() after writing.
  std::vector<torch::Tensor> state();
  void weights_changed();

  /// From now on each step adds to a moving average of the weights, which starts as they are.
  void keep_average(double decay) { average_ = WeightAverage{decay, weights_.clone()}; }
  bool keeps_average() const { return average_.has_value(); }
  /// What validation scores and a run is to give: the moving average, or without one the weights.
  torch::Tensor& averaged_weights() { return average_ ? average_->values : weights_; }

 private:
  /// A module tree on the weights of the arithmetic, whose gradients are its own.
  struct Replica {
    Transformer model;
    std::vector<torch::Tensor> parameters;  // in the order of FlatLayout::views()

    std::vector<torch::Tensor> take_gradients();
  };

  using Piece = std::function<void(std::int64_t begin, std::int64_t size)>;
  /// Calls `work` for pieces that make up [0, P), on the CPU side by side and each small enough to
  /// stay in a core's cache from one operation to the next.
  void in_pieces(const Piece& work);
  /// Calls task(i) for i < count side by side, LibTorch's threads shared out among the calls.
  void run_on_team(std::size_t count, const std::function<void(std::size_t)>& task);
  std::int64_t piece_size() const;
  std::int64_t pieces() const;
  double gradient_norm();
  void add_replicas(std::size_t count);
  BatchLoss accumulate_share(Replica& replica, const BatchView& share, const LossConfig& loss,
                             std::int64_t update);

  FlatLayout layout_;
  torch::Device device_;
  std::uint64_t seed_;
  torch::Tensor weights_, gradient_;  // [P] fp32
  torch::Tensor compute_weights_;     // [P] fp32 (the same) or bf16
  Transformer master_;
  std::vector<Replica> replicas_;  // one for each thread that has had a share
  std::unique_ptr<WorkerTeam> team_ = std::make_unique<WorkerTeam>();
  Adam adam_;
  std::optional<WeightAverage> average_;
};

/// While it lives, master() computes with other weights (flat, like weights()) than the model's
/// own, and no update may be made.
class OtherWeights {
 public:
  OtherWeights(TrainingModel& model, const torch::Tensor& weights) : model_(model) {
    model.layout().bind_values(model.master(), weights);
  }
  OtherWeights(const OtherWeights&) = delete;
  OtherWeights& operator=(const OtherWeights&) = delete;
  ~OtherWeights() { model_.layout().bind_values(model_.master(), model_.weights()); }

 private:
  TrainingModel& model_;
};

/// bf16 where the device multiplies it faster than fp32, else fp32.
Precision resolve_precision(Precision precision, torch::Device device);

}  // namespace dragoman
