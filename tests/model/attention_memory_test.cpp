#include "model/attention_memory.h"

#include <gtest/gtest.h>

#include <vector>

namespace dragoman {
namespace {

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

TEST(AttentionMemory, NoMemoryIsNeededWhereAllSentencesFitThePackedKernel) {
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
