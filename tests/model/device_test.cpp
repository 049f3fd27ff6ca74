#include "model/device.h"

#include <ATen/Context.h>
#include <ATen/Parallel.h>
#include <c10/core/Event.h>
#include <c10/core/StreamGuard.h>
#include <c10/core/impl/VirtualGuardImpl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <torch/cuda.h>

#include <cstdio>
#include <stdexcept>
#include <thread>
#include <vector>

#include "base/error.h"
#include "tests/cuda_stand_in/counts.h"
#include "tests/names.h"
#include "tests/test_device.h"

namespace dragoman {
namespace {

using testing::HasSubstr;

TEST(Device, AGpuIsTakenOnlyIfItIsAskedFor) {
  EXPECT_EQ(parse_device("cpu"), torch::Device(torch::kCPU));
  EXPECT_EQ(parse_device("auto"), torch::Device(torch::kCPU));
  if (!torch::cuda::is_available()) return;
  EXPECT_TRUE(parse_device("cuda").is_cuda());
}

TEST(Device, AGpuThatAutoLeavesAloneIsNamed) {
  if (torch::cuda::is_available())
    EXPECT_THAT(unused_gpu_notice("auto"), HasSubstr("--device cuda"));
  else
    EXPECT_EQ(unused_gpu_notice("auto"), "");
  for (const char* text : {"cpu", "cuda", "cuda:0"}) EXPECT_EQ(unused_gpu_notice(text), "") << text;
}

TEST(Device, OtherTextsNameNoDevice) {
  for (const char* text : {"", "gpu", "cuda:", "cuda:x", "cuda:-1", "cuda0", "CPU"})
    EXPECT_THROW(parse_device(text), UsageError) << text;
}

TEST(Device, AGpuThatIsMissingIsAnErrorThatSaysWhy) {
  const auto devices = torch::cuda::device_count();
  if (devices > 0) {
    EXPECT_THAT(message_of<Error>([] { parse_device("cuda:999"); }), HasSubstr("CUDA devices"));
    return;
  }
  for (const char* text : {"cuda", "cuda:0"})
    EXPECT_THAT(message_of<Error>([&] { parse_device(text); }),
                HasSubstr(at::globalContext().hasCUDART() ? ": there is no GPU here"
                                                          : ": this LibTorch was built without"));
}

// The stand-in for CUDA itself (tests/cuda_stand_in/stand_in.h).

struct StandIn : testing::Test {
  void SetUp() override {
    if (!StandInCounts::is_loaded()) GTEST_SKIP() << "the stand-in for CUDA is not loaded";
  }
  torch::Tensor fresh() { return torch::empty({4}, torch::device(test_device())); }
};

TEST_F(StandIn, FreshMemoryIsNotANumberAndOutOfTheHostsReach) {
  const torch::Tensor x = fresh();
  EXPECT_TRUE(x.isnan().all().item<bool>());
  const auto* address = static_cast<const volatile float*>(x.data_ptr());
  EXPECT_EXIT(std::printf("%f", static_cast<double>(*address)), testing::ExitedWithCode(139),
              "the host touches memory of the device");
}

TEST_F(StandIn, LaunchesBytesAndWaitsAreCounted) {
  const torch::Tensor x = torch::ones({4}, torch::device(test_device()));
  const StandInCounts counts;
  const torch::Tensor y = x + x;
  EXPECT_EQ(counts.waits(), nlohmann::json::object());
  EXPECT_EQ(counts.report()["launches"],
            (nlohmann::json{{"aten::add.out", {{"count", 1}, {"read", 32.}, {"written", 16.}}}}));
  EXPECT_EQ(y.sum().item<float>(), 8);
  EXPECT_EQ(counts.waits(), (nlohmann::json{{"item", 1}}));
  EXPECT_TRUE(y.cpu().is_cpu());
  EXPECT_TRUE(torch::ones({4}).to(test_device()).is_cuda());
  EXPECT_EQ(counts.waits(),
            (nlohmann::json{{"item", 1}, {"copy to the host", 1}, {"copy to the device", 1}}));
}

TEST_F(StandIn, AnOperationInPlaceHasTheBytesOfTheElementsThatItWrites) {
  const auto on_device = torch::device(test_device());
  const torch::Tensor x = torch::zeros({4, 100}, on_device),
                      values = torch::ones({4, 1}, on_device);
  const torch::Tensor index = torch::zeros({4, 1}, on_device.dtype(torch::kInt64));
  const StandInCounts counts;
  x.scatter_(1, index, values);
  const nlohmann::json launches = counts.report()["launches"];
  ASSERT_EQ(launches.size(), 1U);
  EXPECT_EQ(launches.front()["read"], 4 * 8 + 4 * 4);
  EXPECT_EQ(x.sum().item<float>(), 4);
}

TEST_F(StandIn, ACopyIsMadeWhenAnEventForcesIt) {
  const torch::Tensor locked = torch::ones({4}).pin_memory();
  const c10::impl::VirtualGuardImpl gpu(test_device().type());
  const c10::Stream computing = gpu.getStream(test_device()),
                    copying = gpu.getStreamFromGlobalPool(test_device());
  const torch::Tensor x = fresh();
  x.record_stream(copying);
  c10::Event copied(test_device().type());
  {
    const c10::StreamGuard guard(copying);
    torch::Tensor to = x;
    to.copy_(locked, /*non_blocking=*/true);
    copied.record(copying);
  }
  EXPECT_TRUE(x.isnan().all().item<bool>()) << "nobody has waited for the copy";
  copied.block(computing);
  EXPECT_EQ(x.sum().item<float>(), 4);
}

TEST_F(StandIn, MemoryOfAnotherStreamMustBeRecorded) {
  const c10::impl::VirtualGuardImpl gpu(test_device().type());
  const torch::Tensor x = fresh();
  const c10::StreamGuard guard(gpu.getStreamFromGlobalPool(test_device()));
  EXPECT_THAT(message_of<c10::Error>([&] { x + x; }), HasSubstr("memory of another stream"));
}

// Work on several threads

/// LibTorch's threads in a thread that begins now.
int threads_of_a_new_thread() {
  int threads = 0;
  std::thread([&] { threads = at::get_num_threads(); }).join();
  return threads;
}

class SideBySide : public testing::Test {
 protected:
  SideBySide() { at::set_num_threads(3); }
  ~SideBySide() override { at::set_num_threads(1); }

  ThreadTeam team_;
};

TEST_F(SideBySide, EachCallHasAFractionOfTheThreadsAndAtLeastOne) {
  for (const std::size_t count : {1U, 2U, 3U, 5U}) {
    std::vector<int> threads(count);
    run_side_by_side(team_, count, [&](std::size_t i) { threads[i] = at::get_num_threads(); });
    EXPECT_EQ(threads, std::vector<int>(count, count == 1 ? 3 : 1));
    EXPECT_EQ(at::get_num_threads(), 3);
    EXPECT_EQ(threads_of_a_new_thread(), 3);
  }
}

TEST_F(SideBySide, AnErrorOfACallLeavesTheNumberOfThreadsAsItWas) {
  EXPECT_THROW(
      run_side_by_side(team_, 3, [](std::size_t) { throw std::runtime_error("out of memory"); }),
      std::runtime_error);
  EXPECT_EQ(at::get_num_threads(), 3);
  EXPECT_EQ(threads_of_a_new_thread(), 3);
}

// The memory of attention

using Lengths = std::vector<std::int32_t>;

std::vector<std::int32_t> starts_of(const Lengths& lengths) {
  std::vector<std::int32_t> starts = {0};
  for (const std::int32_t length : lengths) starts.push_back(starts.back() + length);
  return starts;
}

std::int64_t memory_of(const Lengths& source, const Lengths& target, Pass pass) {
  ModelConfig config = ModelConfig::from_preset(Preset::Tiny);
  config.heads = 4;
  return attention_memory(config, {starts_of(source), starts_of(target)}, sizeof(float), pass);
}

TEST(AttentionMemory, NoMemoryIsNeededIfAllSentencesFitThePackedKernel) {
  for (const Pass pass : {Pass::Forward, Pass::Training})
    EXPECT_EQ(memory_of({5, 512, 7}, {6, 512, 8}, pass), 0);
}

TEST(AttentionMemory, ALongSentenceNeedsMemoryForItsScoresAndWeights) {
  EXPECT_EQ(memory_of({2000}, {9}, Pass::Forward), 2 * 4 * 2000 * 2000 * 4);
  EXPECT_GT(memory_of({2000}, {9}, Pass::Training), memory_of({2000}, {9}, Pass::Forward));
}

TEST(AttentionMemory, SentencesBesideALongOneNeedAsMuchMemoryAsIfTheyWereAsLong) {
  for (const Pass pass : {Pass::Forward, Pass::Training}) {
    EXPECT_EQ(memory_of({5, 2000, 7}, {9, 3, 900}, pass),
              memory_of({2000, 2000, 2000}, {900, 900, 900}, pass));
    EXPECT_EQ(memory_of({5, 6, 7}, {9, 3, 900}, pass), memory_of({5, 6, 7}, {900, 900, 900}, pass))
        << "only the target is long";
  }
}

}  // namespace
}  // namespace dragoman
