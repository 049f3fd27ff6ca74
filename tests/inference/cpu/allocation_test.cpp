// A step of translation allocates nothing.
#include <gtest/gtest.h>

#include "inference/cpu/cpu_engine.h"
#include "tests/allocations.h"
#include "tests/inference/lone_worker.h"
#include "tests/model/file/small_model.h"

namespace dragoman {
namespace {

constexpr std::int64_t kLength = 50;

std::vector<SourceSentence> sentences() {
  std::vector<SourceSentence> all;
  for (std::int64_t line = 0; line < 5; ++line) all.push_back({line, 0, {3, 4, 5, 2}});
  return all;
}

class Allocation : public testing::TestWithParam<std::int64_t> {};

TEST_P(Allocation, AStepAllocatesNothing) {
  SmallModel small(40);
  const ScratchFile file("small.safetensors");
  write_model_file(file.path(), small.contents);
  const ModelFileReader reader(file.path());
  for (const ComputeType type : {ComputeType::Float32, ComputeType::BFloat16, ComputeType::Int8}) {
    CpuEngine engine(std::make_shared<CpuModel>(reader, type), {0, 1});
    const DecodeConfig decode{
        .beam_size = GetParam(), .min_length = kLength, .max_length = kLength, .batch_size = 40};
    LoneWorker worker(engine, decode, {2});
    worker.add(sentences());
    while (!worker.idle()) worker.step();

    worker.add(sentences());
    worker.step();  // takes them in
    for (std::int64_t step = 2; step + 1 < kLength; ++step) {
      const std::int64_t before = allocations();
      worker.step();
      ASSERT_EQ(allocations(), before) << "step " << step;
    }
    const std::int64_t before = allocations();
    while (!worker.idle()) worker.step();
    EXPECT_GT(allocations(), before) << "results are vectors";
  }
}

INSTANTIATE_TEST_SUITE_P(Beams, Allocation, testing::Values(1, 4));

}  // namespace
}  // namespace dragoman
