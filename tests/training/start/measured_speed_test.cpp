#include "training/start/measured_speed.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <stdexcept>
#include <utility>

#include "data/prepare.h"
#include "tests/training/failing_allocator.h"

namespace dragoman {
namespace {

ModelConfig model_of_width(std::int64_t width) {
  ModelConfig model = ModelConfig::from_preset(Preset::Tiny);
  model.d_model = width;
  model.d_ff = 2 * width;
  model.encoder_layers = model.decoder_layers = 1;
  model.source_vocabulary = model.target_vocabulary = 100;
  return model;
}

double speed_of(const ModelConfig& model, std::stop_token stop = {}, double r_drop = 0) {
  return measured_speed(
      {.model = model,
       .precision = Precision::Fp32,
       .device = torch::kCPU,
       .text = {.vocabulary = 100, .length = 10, .spread = 0, .batch_tokens = 400},
       .loss = {.label_smoothing = 0.1, .r_drop = r_drop},
       .update_freq = 1,
       .stop = std::move(stop)});
}

/// Of several measurements: other work on the machine slows some of them.
double best_speed_of(const ModelConfig& model, double r_drop = 0) {
  double best = 0;
  for (int i = 0; i < 5; ++i) best = std::max(best, speed_of(model, {}, r_drop));
  return best;
}

TEST(MeasuredSpeed, ALargerModelIsSlower) {
  EXPECT_GT(best_speed_of(model_of_width(16)), 2 * best_speed_of(model_of_width(512)));
}

TEST(MeasuredSpeed, TheLossCounts) {
  const ModelConfig model = model_of_width(256);
  EXPECT_GT(best_speed_of(model), 1.3 * best_speed_of(model, 3)) << "R-Drop makes two passes";
}

TEST(MeasuredSpeed, TheSpeedIsZeroOnlyWhereMemoryDoesNotSuffice) {
  FailingAllocator allocator;
  allocator.fails_at = 5;
  EXPECT_EQ(speed_of(model_of_width(16)), 0);
  allocator.blocks = 0;
  allocator.failure = [] { throw std::runtime_error("something else"); };
  EXPECT_THROW(speed_of(model_of_width(16)), std::runtime_error);
}

TEST(MeasuredSpeed, AStopRequestEndsTheMeasurement) {
  std::stop_source stop;
  stop.request_stop();
  EXPECT_THROW(speed_of(model_of_width(16), stop.get_token()), PreparationStopped);
}

}  // namespace
}  // namespace dragoman
