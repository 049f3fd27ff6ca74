#include "training/training_model.h"

#include <ATen/Parallel.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <tuple>
#include <utility>

#include "data/packed_batch.h"
#include "model/ops/kernel_call.h"
#include "tests/cuda_stand_in/counts.h"
#include "tests/test_device.h"
#include "tests/training/small_run.h"
#include "tests/training/whole_batch.h"
#include "training/update.h"

namespace dragoman {
namespace {

torch::Tensor weights_after_step(const std::vector<std::vector<std::int64_t>>& batches,
                                 Precision precision = Precision::Fp32) {
  TrainingModel model(small_config(0.2), {}, precision, test_device(), 1);
  std::int64_t tokens = 0;
  for (const auto& sentences : batches)
    tokens += accumulate(model, batch_of(sentences), {.label_smoothing = 0.1}, 1).target_tokens;
  // A large rate: Adam's first step is the gradient's sign, blurred by epsilon.
  model.step({.loss = {.target_tokens = tokens}, .learning_rate = 1});
  return model.weights().clone();
}

TEST(TrainingModel, ParametersAreViewsOfOneBuffer) {
  TrainingModel model(small_config(0), {}, Precision::Fp32, test_device(), 1);
  model.weights().fill_(0.25);
  for (const auto& parameter : model.master()->parameters())
    EXPECT_TRUE(parameter.eq(0.25).all().item<bool>());
  std::int64_t covered = 0;
  for (const auto& view : model.layout().views(model.weights())) {
    EXPECT_EQ(view.tensor.storage_offset() % 32, 0) << view.name;
    covered += view.tensor.numel();
  }
  EXPECT_LE(covered, model.layout().size());
}

TEST(TrainingModel, RepeatedUpdatesLearnABatch) {
  for (const Precision precision : {Precision::Fp32, Precision::Bf16}) {
    TrainingModel model(small_config(0), {}, precision, test_device(), 1);
    const PackedBatch batch = batch_of({1, 2, 3, 4});
    const double before = model.evaluate(batch).negative_log_likelihood;
    for (int u = 1; u <= 40; ++u) {
      const auto sums = accumulate(model, batch, {.label_smoothing = 0.1}, u);
      model.step({.loss = sums, .learning_rate = 3e-3, .clip_norm = 1});
    }
    EXPECT_LT(model.evaluate(batch).negative_log_likelihood, before / 4);
  }
}

TEST(TrainingModel, TheGradientIsTheSameHoweverAnUpdateIsSplitIntoBatches) {
  // Dropout is on: it is a function of the sentence, not of its batch. Compared through the norm
  // and a clipped step, in fp32.
  const auto step = [](const std::vector<std::vector<std::int64_t>>& batches) {
    TrainingModel model(small_config(0.2), {.epsilon = 1e3}, Precision::Fp32, test_device(), 1);
    std::int64_t tokens = 0;
    for (const auto& sentences : batches)
      tokens += accumulate(model, batch_of(sentences), {.label_smoothing = 0.1}, 1).target_tokens;
    const double norm = model.step({.loss = {.target_tokens = tokens}, .learning_rate = 1})
                            .gradient_norm()
                            .item<double>();
    return std::pair(norm, model.adam().first_moment.clone());
  };
  const auto [whole_norm, whole] = step({{1, 2, 3, 4, 5, 6}});
  const auto [split_norm, split] = step({{6, 2}, {1, 5, 4}, {3}});
  EXPECT_NEAR(whole_norm, split_norm, 1e-5 * whole_norm);
  EXPECT_LT((whole - split).norm().item<double>(), 1e-5 * whole.norm().item<double>());
}

TEST(TrainingModel, ThreadsSharesOfABatchGiveTheGradientOfTheWhole) {
  if (!test_device().is_cpu()) GTEST_SKIP() << "threads share batches on the CPU alone";
  std::vector<std::int64_t> sentences(400);
  std::iota(sentences.begin(), sentences.end(), 1);
  const PackedBatch batch = batch_of(sentences);
  const auto run = [&batch](int threads, std::int64_t replicas) {
    at::set_num_threads(threads);
    TrainingModel model(small_config(0.2), {}, Precision::Fp32, test_device(), 1);
    const auto sums = accumulate(model, batch, {.label_smoothing = 0.1}, 1).read();
    EXPECT_EQ(at::get_num_threads(), threads);
    EXPECT_EQ(model.replicas(), replicas);
    at::set_num_threads(1);
    return std::pair(sums, model.gradient().clone());
  };
  const auto [whole_sums, whole] = run(1, 1);
  for (const auto& [threads, replicas] : {std::pair(2, 2), std::pair(3, 3), std::pair(9, 5)}) {
    const auto [sums, gradient] = run(threads, replicas);
    EXPECT_EQ(sums.target_tokens, whole_sums.target_tokens);
    EXPECT_EQ(sums.source_tokens, whole_sums.source_tokens);
    EXPECT_NEAR(sums.smoothed, whole_sums.smoothed, 1e-5 * whole_sums.smoothed);
    EXPECT_LT((gradient - whole).norm().item<double>(), 1e-5 * whole.norm().item<double>());
    EXPECT_TRUE(torch::equal(run(threads, replicas).second, gradient));  // the same each time
  }
}

TEST(TrainingModel, TheSameSeedGivesBitIdenticalWeights) {
  for (const Precision precision : {Precision::Fp32, Precision::Bf16})
    EXPECT_TRUE(torch::equal(weights_after_step({{1, 2}, {3}}, precision),
                             weights_after_step({{1, 2}, {3}}, precision)));
}

TEST(TrainingModel, AnyDeviceLearnsAsTheCpu) {
  if (test_device().is_cpu()) GTEST_SKIP() << "this is the CPU";
  const auto losses = [](torch::Device device) {
    TrainingModel model(small_config(0.2), {}, Precision::Fp32, device, 1);
    std::vector<double> losses;
    for (int u = 1; u <= 20; ++u) {
      const auto sums = accumulate(model, batch_of({u, u + 1, u + 2}), {.label_smoothing = 0.1}, u);
      model.step({.loss = sums, .learning_rate = 1e-3, .clip_norm = 1});
      losses.push_back(sums.read().smoothed / static_cast<double>(sums.target_tokens));
    }
    return losses;
  };
  const auto here = losses(test_device()), on_cpu = losses(torch::kCPU);
  for (std::size_t u = 0; u < here.size(); ++u) EXPECT_NEAR(here[u], on_cpu[u], 1e-4);
}

/// A batch in which every target piece but </s> is linked to the source piece at its place.
PackedBatch linked_batch(const std::vector<std::int64_t>& sentences) {
  PackedBatch batch = batch_of(sentences);
  for (std::size_t b = 0; b < sentences.size(); ++b) {
    const std::int32_t length = std::min(batch.source.starts[b + 1] - batch.source.starts[b],
                                         batch.target.starts[b + 1] - batch.target.starts[b]);
    batch.links.emplace_back();
    for (std::int32_t t = 0; t + 1 < length; ++t) batch.links.back().push_back({t, t, 1});
  }
  return batch;
}

/// Each takes another path of attention.
struct AttentionPath {
  LossConfig loss;
  double attention_dropout;

  ModelConfig model() const {
    ModelConfig config = small_config(0.2);
    config.attention_dropout = attention_dropout;
    return config;
  }
};
const std::vector<AttentionPath> kPaths = {
    {{.label_smoothing = 0.1}, 0},
    {{.label_smoothing = 0.1}, 0.2},
    {{.label_smoothing = 0.1, .alignment_weight = 0.5}, 0.2}};

TEST(TrainingModel, WithoutKernelsAndWithFillerSentencesTheModelLearnsAsWithKernels) {
  if (!test_device().is_cpu()) GTEST_SKIP() << "these are the kernels of the CPU";
  const auto run = [](Precision precision, const AttentionPath& path) {
    const LossConfig& loss = path.loss;
    TrainingModel model(path.model(), {}, precision, torch::kCPU, 1);
    model.keep_moving_average(0.9);
    std::vector<BatchLoss> losses;
    for (std::int64_t u = 1; u <= 20; ++u) {
      const auto batch =
          loss.alignment_weight > 0 ? linked_batch({u, u + 1, u + 2}) : batch_of({u, u + 1, u + 2});
      const auto sums = accumulate(model, batch, loss, u);
      model.step({.loss = sums, .learning_rate = 1e-3, .clip_norm = 1});
      losses.push_back(sums.read());
    }
    return losses;
  };
  for (const Precision precision : {Precision::Fp32, Precision::Bf16})
    for (const AttentionPath& path : kPaths) {
      const auto with = run(precision, path);
      const WithoutKernels plain;
      const auto without = run(precision, path);
      const double tolerance = precision == Precision::Fp32 ? 1e-4 : 0.05;  // for each token
      for (std::size_t u = 0; u < with.size(); ++u) {
        const auto tokens = static_cast<double>(with[u].target_tokens);
        EXPECT_EQ(without[u].source_tokens, with[u].source_tokens);
        EXPECT_EQ(without[u].target_tokens, with[u].target_tokens);
        EXPECT_EQ(without[u].linked_tokens, with[u].linked_tokens);
        EXPECT_NEAR(without[u].smoothed, with[u].smoothed, tolerance * tokens);
        EXPECT_NEAR(without[u].negative_log_likelihood, with[u].negative_log_likelihood,
                    tolerance * tokens);
        EXPECT_NEAR(without[u].alignment, with[u].alignment, tolerance * tokens);
      }
    }
}

TEST(TrainingModel, FillerSentencesChangeNeitherTheLossNorTheGradient) {
  const auto run = [](const PackedBatch& batch) {
    TrainingModel model(small_config(0.2), {}, Precision::Fp32, test_device(), 1);
    const BatchLoss loss = accumulate(model, batch, {.label_smoothing = 0.1}, 1).read();
    return std::pair(loss, model.gradient().clone());
  };
  const PackedBatch batch = batch_of({1, 2, 3, 4, 5});
  BatchShape shape = shape_for(batch, ShapeUse::Padded);
  shape.sentences += 3;
  shape.source.rows += 20;
  shape.target.rows += 5;
  const auto [loss, gradient] = run(batch);
  const auto [with_filler, same_gradient] = run(filled(batch, shape));
  EXPECT_NEAR(with_filler.smoothed, loss.smoothed, 1e-6 * loss.smoothed);
  EXPECT_NEAR(with_filler.negative_log_likelihood, loss.negative_log_likelihood,
              1e-6 * loss.smoothed);
  EXPECT_LT((gradient - same_gradient).norm().item<double>(),
            1e-6 * gradient.norm().item<double>());
}

TEST(TrainingModel, ABatchFilledUpToItsCapacityLearnsAsTheBatchItself) {
  ModelConfig config = small_config(0.2);
  config.attention_dropout = 0;
  config.heads = 4;  // of 8 elements: packed on a GPU
  const auto run = [&config](PackedBatch batch, const BatchShape& capacity) {
    TrainingModel model(config, {}, Precision::Bf16, test_device(), 1);
    batch.capacity = capacity;
    const StandInCounts counts;
    const DeviceLoss loss = accumulate(model, batch, {.label_smoothing = 0.1}, 1);
    return std::tuple(
        loss.read(), model.gradient().clone(),
        StandInCounts::is_loaded() ? counts.report()["bytes_written"].get<double>() : 0);
  };
  const PackedBatch batch = batch_of({1, 2, 3, 4, 5});
  const SideShape side{.rows = 256, .longest = 128};
  const auto [loss, gradient, bytes] = run(batch, {});
  const auto [same, same_gradient, more_bytes] =
      run(batch, {.sentences = 16, .source = side, .target = side});
  EXPECT_EQ(same.source_tokens, loss.source_tokens);
  EXPECT_EQ(same.target_tokens, loss.target_tokens);
  EXPECT_NEAR(same.smoothed, loss.smoothed, 2e-3 * loss.smoothed);
  EXPECT_NEAR(same.negative_log_likelihood, loss.negative_log_likelihood, 2e-3 * loss.smoothed);
  EXPECT_LT((gradient - same_gradient).norm().item<double>(),
            1e-2 * gradient.norm().item<double>());
  if (StandInCounts::is_loaded()) {
    EXPECT_GT(more_bytes, bytes) << "not filled up";
  }
}

/// An update as the trainer makes it.
void make_update(TrainingModel& model, SpikeLimits& limits, const PackedBatch& batch,
                 const LossConfig& loss, std::int64_t number) {
  const auto sums = accumulate(model, batch, loss, number);
  model.step({.loss = sums, .learning_rate = 1e-3, .clip_norm = 1, .limits = &limits});
}

TEST(TrainingModel, AnUpdateWaitsForNothingFromItsDevice) {
  if (!StandInCounts::is_loaded()) GTEST_SKIP() << "only the stand-in for CUDA counts what waits";
  for (const Precision precision : {Precision::Fp32, Precision::Bf16})
    for (const AttentionPath& path : kPaths) {
      const LossConfig& loss = path.loss;
      TrainingModel model(path.model(), {}, precision, test_device(), 1);
      model.keep_moving_average(0.9);
      SpikeLimits limits({}, 10, test_device());
      const auto batch = loss.alignment_weight > 0 ? linked_batch({1, 2, 3}) : batch_of({1, 2, 3});
      make_update(model, limits, batch, loss, 1);  // copies the table of positions
      const StandInCounts counts;
      make_update(model, limits, batch, loss, 2);
      make_update(model, limits, batch, loss, 3);
      EXPECT_EQ(counts.launches_of("adam_float32"), 2);
      EXPECT_EQ(counts.waits(), nlohmann::json::object());
    }
}

/// What an update leaves, as numbers of the CPU.
std::vector<torch::Tensor> state_after(bool by_graph, int& launched) {
  ModelConfig config = small_config(0.2);
  config.attention_dropout = 0;
  config.heads = 4;  // of 8 elements: packed on a GPU
  TrainingModel model(config, {}, Precision::Bf16, test_device(), 1);
  model.keep_moving_average(0.9);
  SpikeLimits limits({}, 10, test_device());
  const SideShape side{.rows = 128, .longest = 128};
  const LossConfig loss{.label_smoothing = 0.1};
  std::vector<torch::Tensor> left;
  for (std::int64_t update = 1; update <= 6; ++update) {
    std::vector<PackedBatch> batches = {batch_of({update, 7, 8}), batch_of({20 + update})};
    DeviceLoss tokens;
    for (PackedBatch& batch : batches) {
      batch.capacity = {.sentences = 16, .source = side, .target = side};
      tokens += {{}, batch.source.size(), batch.target.size()};
    }
    StepConfig step{.loss = tokens,
                    .learning_rate = 1e-3 / static_cast<double>(update),
                    .clip_norm = 1,
                    .limits = &limits};
    auto result = by_graph ? model.step_by_graph(batches, loss, update, step) : std::nullopt;
    launched += result.has_value();
    if (!result) {
      step.loss = {};
      for (const PackedBatch& batch : batches) step.loss += accumulate(model, batch, loss, update);
      result = model.step(step);
    }
    left.push_back(result->values.cpu());
  }
  for (const auto& tensor : model.state()) left.push_back(tensor.cpu());
  left.push_back(limits.means().cpu());
  return left;
}

TEST(TrainingModel, UpdatesAsAGraphLeaveTheSameBits) {
  if (!DeviceGraph::is_available(test_device())) GTEST_SKIP() << "no graphs here";
  int none = 0, launched = 0;
  const auto one_by_one = state_after(false, none), by_graph = state_after(true, launched);
  EXPECT_EQ(none, 0);
  EXPECT_EQ(launched, 5) << "all but the first";
  ASSERT_EQ(by_graph.size(), one_by_one.size());
  for (std::size_t i = 0; i < by_graph.size(); ++i)
    EXPECT_TRUE(torch::equal(by_graph[i], one_by_one[i])) << i;
}

TEST(TrainingModel, AnUpdateOfBaseHasFewLaunches) {
  if (!StandInCounts::is_loaded()) GTEST_SKIP() << "only the stand-in for CUDA counts launches";
  ModelConfig config = ModelConfig::from_preset(Preset::Base);  // its layers, with small matrices
  config.d_model = config.d_ff = 64;
  config.source_vocabulary = config.target_vocabulary = 50;
  config.attention_dropout = 0;  // as on a GPU
  TrainingModel model(config, {}, Precision::Bf16, test_device(), 1);
  SpikeLimits limits({}, 10, test_device());
  const auto batch = batch_of({1, 2, 3});
  make_update(model, limits, batch, {.label_smoothing = 0.1}, 1);
  const StandInCounts counts;
  make_update(model, limits, batch, {.label_smoothing = 0.1}, 2);
  const nlohmann::json report = counts.report();
  EXPECT_LE(report["launch_count"], 495);
  EXPECT_EQ(counts.launches_of("aten::_flash_attention_forward"), 18);
}

/// Let gradients up to a norm through.
SpikeLimits limits_of(double norm) {
  const LossHistory history{.updates = kUpdatesOfMeans, .loss = 1e9, .gradient_norm = norm / 2};
  return SpikeLimits(history, 2, test_device());
}

TEST(TrainingModel, AnUpdateLeftOutCountsAsNoStep) {
  TrainingModel model(small_config(0), {}, Precision::Bf16, test_device(), 1);
  model.keep_moving_average(0.5);
  const auto update = [&model](double limit) {
    const auto sums = accumulate(model, batch_of({1}), {.label_smoothing = 0.1}, 1);
    SpikeLimits limits = limits_of(limit);
    model.step({.loss = sums, .learning_rate = 1e-3, .clip_norm = 1, .limits = &limits});
  };
  update(1e9);
  std::vector<torch::Tensor> before;
  for (const auto& tensor : model.state()) before.push_back(tensor.clone());
  update(1e-9);
  for (std::size_t i = 0; i < before.size(); ++i)
    EXPECT_TRUE(torch::equal(model.state()[i], before[i])) << i;
  EXPECT_EQ(model.adam().steps.item<float>(), 1);
}

TEST(TrainingModel, AStepByTheKernelIsThatOfTheOperations) {
  if (!test_device().is_cuda()) GTEST_SKIP() << "there is no kernel for the CPU";
  torch::manual_seed(4);
  const AdamConfig adam{.weight_decay = 0.1};
  for (const Precision precision : {Precision::Fp32, Precision::Bf16}) {
    TrainingModel by_kernel(small_config(0), adam, precision, test_device(), 1),
        by_operations(small_config(0), adam, precision, test_device(), 1);
    const auto step = [](TrainingModel& model, const torch::Tensor& gradient) {
      model.gradient().copy_(gradient);
      model.step({.loss = {.target_tokens = 5}, .learning_rate = 1e-3, .clip_norm = 1});
    };
    for (TrainingModel* model : {&by_kernel, &by_operations}) model->keep_moving_average(0.5);
    for (int update = 0; update < 4; ++update) {
      const auto gradient = torch::randn({by_kernel.layout().size()}).to(test_device());
      step(by_kernel, gradient);
      const WithoutKernels plain;
      step(by_operations, gradient);
    }
    for (std::size_t i = 0; i < by_kernel.state().size(); ++i)
      EXPECT_TRUE(torch::allclose(by_kernel.state()[i], by_operations.state()[i], 1e-5, 1e-8)) << i;
    const auto loss = [&by_kernel] {
      const auto sums = accumulate(by_kernel, batch_of({1}), {}, 9).values.clone();
      by_kernel.forget_gradient();
      return sums;
    };
    const auto own = loss();
    by_kernel.weights_changed();  // makes the weights that compute once more
    EXPECT_TRUE(torch::equal(own, loss()));
  }
}

TEST(TrainingModel, AnUpdateWithoutAFiniteGradientLeavesTheWeights) {
  TrainingModel model(small_config(0), {}, Precision::Fp32, test_device(), 1);
  model.weights()[0] = std::nan("");
  const auto before = model.weights().clone();
  const auto sums = accumulate(model, batch_of({1}), {.label_smoothing = 0.1}, 1);
  const StepResult step = model.step({.loss = sums, .learning_rate = 1e-3, .clip_norm = 1});
  EXPECT_FALSE(step.made().item<double>());
  EXPECT_FALSE(std::isfinite(step.gradient_norm().item<double>()));
  EXPECT_TRUE(torch::equal(before.nan_to_num(), model.weights().nan_to_num()));
}

TEST(TrainingModel, AGradientThatIsTooLongLeavesTheWeightsAndIsForgotten) {
  TrainingModel model(small_config(0), {}, Precision::Fp32, test_device(), 1);
  const auto before = model.weights().clone();
  const auto step = [&model](double max_norm) {
    const auto sums = accumulate(model, batch_of({1}), {.label_smoothing = 0.1}, 1);
    SpikeLimits limits = limits_of(max_norm);
    return model.step({.loss = sums, .learning_rate = 1e-3, .limits = &limits});
  };
  const StepResult left_out = step(1e-9);
  EXPECT_FALSE(left_out.made().item<double>());
  EXPECT_TRUE(torch::equal(before, model.weights()));
  const StepResult made = step(left_out.gradient_norm().item<double>());
  EXPECT_TRUE(made.made().item<double>());  // and nothing of the first was left in the buffer
  EXPECT_TRUE(torch::equal(made.gradient_norm(), left_out.gradient_norm()));
  EXPECT_FALSE(torch::equal(before, model.weights()));
}

TEST(TrainingModel, ClippingBoundsTheStep) {
  TrainingModel model(small_config(0), {}, Precision::Fp32, test_device(), 1);
  const auto sums = accumulate(model, batch_of({1, 2}), {.label_smoothing = 0.1}, 1);
  const double norm = model.step({.loss = sums, .learning_rate = 0, .clip_norm = 0.01})
                          .gradient_norm()
                          .item<double>();
  EXPECT_GT(norm, 0.01);
  EXPECT_NEAR(model.adam().first_moment.norm().item<double>(), 0.1 * 0.01, 1e-5);
}

TEST(TrainingModel, TheMovingAverageLagsBehindTheWeights) {
  TrainingModel model(small_config(0), {}, Precision::Fp32, test_device(), 1);
  const auto start = model.weights().clone();
  EXPECT_TRUE(model.result_weights().is_same(model.weights()));
  model.keep_moving_average(0.999);
  for (int u = 1; u <= 3; ++u) {
    const auto sums = accumulate(model, batch_of({1, 2}), {}, u);
    model.step({.loss = sums, .learning_rate = 1e-3, .clip_norm = 1});
  }
  const double moved = (model.weights() - start).norm().item<double>();
  EXPECT_LT((model.result_weights() - start).norm().item<double>(), moved);
  EXPECT_LT((model.result_weights() - model.weights()).norm().item<double>(), moved);
  const double own = model.evaluate(batch_of({1, 2})).negative_log_likelihood;
  {
    const ScopedWeights in_place(model, model.result_weights());
    EXPECT_GT(model.evaluate(batch_of({1, 2})).negative_log_likelihood, own);
  }
  EXPECT_EQ(model.evaluate(batch_of({1, 2})).negative_log_likelihood, own);
}

}  // namespace
}  // namespace dragoman
