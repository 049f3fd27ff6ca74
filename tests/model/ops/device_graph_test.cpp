#include "model/ops/device_graph.h"

#include <ATen/ops/full.h>
#include <ATen/ops/ones.h>
#include <gtest/gtest.h>

#include "tests/cuda_stand_in/counts.h"
#include "tests/test_device.h"

namespace dragoman {
namespace {

TEST(DeviceGraph, WorkThatWaitsOrReadsNumbersOfTheHostIsNotRecorded) {
  if (!StandInCounts::is_loaded() || !DeviceGraph::is_available(test_device()))
    GTEST_SKIP() << "only the stand-in for CUDA finds them";
  auto x = torch::ones({4}, torch::TensorOptions().device(test_device()));
  DeviceGraph graph(test_device());
  EXPECT_ANY_THROW(graph.record([&] { x.sum().item<float>(); }));
  EXPECT_ANY_THROW(graph.record([&] { x.add_(torch::full({}, 2.0F)); }));
  EXPECT_ANY_THROW(graph.record([&] { x.copy_(torch::ones({4})); }));
  graph.record([&] { x.add_(2); });
  EXPECT_EQ(x.cpu()[0].item<float>(), 1) << "it is only recorded";
  graph.launch();
  graph.launch();
  EXPECT_EQ(x.cpu()[0].item<float>(), 5);
}

}  // namespace
}  // namespace dragoman
