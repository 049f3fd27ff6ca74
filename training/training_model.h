// The model while it learns: fp32 master weights, the weights that the arithmetic uses (the same,
// or a bf16 copy), gradients, and Adam, all on flat buffers. The losses of a batch are sums, first
// on the model's device (DeviceLoss), then on the host (BatchLoss).
#pragma once

#include <torch/csrc/autograd/variable.h>
#include <torch/types.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "base/threads.h"
#include "data/packed_batch.h"
#include "model/ops/device_graph.h"
#include "model/transformer.h"
#include "training/batch_input.h"
#include "training/flat_parameters.h"
#include "training/loss/loss.h"
#include "training/optimizer.h"
#include "training/settings/train_config.h"
#include "training/step.h"

namespace dragoman {

/// The losses of a batch, as sums: over shares, parts and ranks.
struct BatchLoss {
  double smoothed = 0, negative_log_likelihood = 0;  ///< sums over target tokens
  std::int64_t source_tokens = 0, target_tokens = 0;
  /// The loss of guided alignment, summed over the target tokens that have links, and the number of
  /// these tokens.
  double alignment = 0, linked_tokens = 0;

  BatchLoss& operator+=(const BatchLoss& other);
};

/// A BatchLoss that the host has not read: it stands on the model's device. Sums of it, and an
/// update that is made with it, wait for nothing.
struct DeviceLoss {
  /// [LossIndex::kCount] fp64; without guided alignment the first two. Undefined: all are 0.
  torch::Tensor values = {};
  std::int64_t source_tokens = 0, target_tokens = 0;

  DeviceLoss& operator+=(const DeviceLoss& other);
  /// Waits for the device.
  BatchLoss read() const;
};

/// The BatchLoss of `values` [LossIndex::kCount], which are on the CPU, and the tokens of `loss`.
BatchLoss batch_loss(const DeviceLoss& loss, const double* values);

struct StepConfig {
  DeviceLoss loss;  ///< of the whole update; the values may be undefined if there are no limits
  double learning_rate;
  double clip_norm = 0;  ///< gradients with a larger norm are scaled down to it; 0: no clipping
  /// An update outside them is left out; without them one whose gradient is not finite. They note
  /// the update.
  SpikeLimits* limits = nullptr;
};

class TrainingModel {
 public:
  /// `precision` is resolved (not Auto). Weights are initialized from the seed.
  TrainingModel(const ModelConfig& config, const AdamConfig& adam, Precision precision,
                torch::Device device, std::uint64_t seed);
  TrainingModel(const TrainingModel&) = delete;
  TrainingModel& operator=(const TrainingModel&) = delete;

  /// The number of threads that compute a batch, one share each; 1 on a device other than the CPU.
  std::int64_t threads() const;

  /// Forward and backward pass of the shares of a batch, each on a thread of its own. Adds the
  /// gradients to gradient() and returns the sums of the losses. Dropout is a function of seed,
  /// update and sentence numbers. At most threads() shares. If it throws, part of the gradient may
  /// be there: see forget_gradient(). On a device other than the CPU it only gives the device its
  /// work, and waits for nothing. `is_last`: no other shares of this update follow.
  DeviceLoss accumulate(std::span<const BatchView> shares, const LossConfig& loss,
                        std::int64_t update, bool is_last = false);

  /// From now on `take` gets each update's gradient, in slices of gradient() of at least
  /// `elements`. It gets them from the end of the buffer to its beginning, the first ones while the
  /// last backward pass is still under way. After that nothing writes to a slice until step().
  /// Call this function once.
  void hand_over_slices(std::int64_t elements, std::function<void(const torch::Tensor&)> take);
  /// Hands over the slices that are left. Call it once in an update, before step().
  void hand_over_rest();

  /// Divides the gradient by the number of target tokens, clips it, makes one step of Adam, and
  /// forgets the gradient, which on a GPU stays where it is until accumulate() overwrites it. If
  /// the update is left out, the weights stay as they are. Does not wait for a GPU.
  StepResult step(const StepConfig& step);

  /// accumulate() of each batch and step(), with the work of a GPU recorded once and then launched
  /// as a whole. `loss`, and `step` except its rate and tokens, must always be the same, and the
  /// limits must stay. Does nothing, and returns nothing, if a batch has no capacity, if batches
  /// have other shapes than those before, or if memory does not suffice.
  std::optional<StepResult> step_by_graph(std::span<const PackedBatch> batches,
                                          const LossConfig& loss, std::int64_t update,
                                          const StepConfig& step);

  /// Clears the gradient, and what an accumulate() that threw has left in the replicas. Slices that
  /// were handed over are complete, and stay.
  void forget_gradient();

  /// Loss of a batch under the master weights, without dropout or smoothing. Several threads may
  /// call it at once, but no other function meanwhile.
  BatchLoss evaluate(const BatchView& batch);

  /// The fp32 module tree on the master weights.
  Transformer& master() { return master_; }
  const ModelConfig& config() const { return master_->config; }
  const FlatLayout& layout() const { return layout_; }
  /// Flat fp32. Call weights_changed() after writing.
  torch::Tensor& weights() { return weights_; }
  /// Flat fp32 or bf16: what accumulate() computes with.
  const torch::Tensor& compute_weights() const { return compute_weights_; }
  /// Flat fp32: the sum over target tokens that accumulate() has made since the last step.
  torch::Tensor& gradient() { return gradient_; }
  Adam& adam() { return adam_; }
  /// The largest number of shares that have been computed at once so far.
  std::int64_t replicas() const { return std::ssize(replicas_); }
  /// All tensors that a checkpoint holds; call weights_changed() after writing.
  std::vector<torch::Tensor> state();
  void weights_changed();

  /// Starts a moving average at the current weights. From now on step() updates it.
  void keep_moving_average(double decay) {
    moving_average_ = MovingAverage{decay, weights_.clone()};
  }
  bool has_moving_average() const { return moving_average_.has_value(); }
  /// The weights that are validated and saved as the model: the moving average, or the weights if
  /// there is none.
  torch::Tensor& result_weights() { return moving_average_ ? moving_average_->values : weights_; }

 private:
  /// A module tree whose parameters are views of compute_weights_, with gradients of its own.
  struct Replica {
    Transformer model;
    std::vector<torch::Tensor> parameters;  // in the order of FlatLayout::views()
    // Where gradients are handed over: the graph's nodes that add to the parameters' gradients.
    std::vector<decltype(torch::autograd::impl::grad_accumulator({}))> accumulators;

    void clear_gradients();
  };

  using BlockWork = std::function<void(std::int64_t begin, std::int64_t size)>;
  /// Calls `work` for blocks that make up [0, P): on the CPU side by side, each small enough to
  /// stay in a core's cache from one operation to the next.
  void in_blocks(const BlockWork& work);
  std::int64_t block_size() const;
  std::int64_t blocks() const;
  /// Scalar: fp64 on the CPU, else fp32.
  torch::Tensor gradient_norm();
  void add_replicas(std::size_t count);
  void report_gradients(Replica& replica);
  /// Adds the replicas' gradients of elements [begin, end). On a GPU the first ones of an update
  /// are copied, which reads less and leaves nothing to be cleared.
  void add_gradients(std::int64_t begin, std::int64_t end);
  std::int64_t elements_left() const;  // of gradient() that are not handed over
  /// `batch` is filled up to the shape, which has 0 sentences if none is needed.
  BatchInput input_of(const BatchView& batch, const BatchShape& shape, std::int64_t update) const;
  /// Forward and backward pass: DeviceLoss::values. The gradient is the replica's.
  torch::Tensor pass(Replica& replica, const BatchInput& input,
                     std::span<const std::vector<PieceLink>> links, const LossConfig& loss);
  /// The shapes of the batches, if an update of them can be recorded.
  std::vector<BatchShape> shapes_to_record(std::span<const PackedBatch> batches) const;
  /// Returns false if memory does not suffice.
  bool record_update(const std::vector<BatchInput>& inputs, const LossConfig& loss,
                     const StepConfig& step);
  /// Makes the step that step_numbers_ are set for. `losses` as DeviceLoss::values.
  StepResult make_step(const torch::Tensor& losses, const StepConfig& step);
  void step_by_kernel(const Decision& decision);
  void step_by_operations(const Decision& decision);
  DeviceLoss accumulate_share(Replica& replica, const BatchView& share, const LossConfig& loss,
                              std::int64_t update);

  FlatLayout layout_;
  torch::Device device_;
  std::uint64_t seed_;
  torch::Tensor weights_, gradient_;  // [P] fp32
  torch::Tensor compute_weights_;     // [P] fp32 (the same) or bf16
  bool has_gradient_ = false;         // gradient_ has sums of this update; it is read on a GPU
  torch::Tensor one_;                 // scalar fp32: the gradient of the objective
  StepNumbers step_numbers_;
  Transformer master_;
  std::vector<Replica> replicas_;           // one for each thread that has had a share
  std::unique_ptr<GradientSlices> slices_;  // none: the gradient is not handed over
  std::unique_ptr<ThreadTeam> team_ = std::make_unique<ThreadTeam>();
  Adam adam_;
  std::optional<MovingAverage> moving_average_;

  struct RecordedUpdate {
    std::vector<BatchShape> shapes;  // of its batches
    std::vector<BatchInput> inputs;
    std::unique_ptr<DeviceGraph> graph;
    StepResult result;
  };
  RecordedUpdate recorded_;
  bool records_ = true;  // false: memory has run out
};

/// While this object lives, master() computes with `weights` (flat, like model.weights()) in place
/// of the model's own. No update may be made meanwhile, and `weights` must outlive it.
class ScopedWeights {
 public:
  ScopedWeights(TrainingModel& model, const torch::Tensor& weights) : model_(model) {
    model.layout().bind_values(model.master(), weights);
  }
  ScopedWeights(const ScopedWeights&) = delete;
  ScopedWeights& operator=(const ScopedWeights&) = delete;
  ~ScopedWeights() { model_.layout().bind_values(model_.master(), model_.weights()); }

 private:
  TrainingModel& model_;
};

/// bf16 if the device multiplies it faster than fp32, else fp32.
Precision resolve_precision(Precision precision, torch::Device device);

}  // namespace dragoman
