#include "training/ranks/rank_info.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

#include "base/error.h"
#include "tests/names.h"

namespace dragoman {
namespace {

using Variables = std::map<std::string, std::string>;

RankInfo info_of(const Variables& variables) {
  return rank_info([&](const std::string& name) -> std::optional<std::string> {
    const auto found = variables.find(name);
    return found == variables.end() ? std::nullopt : std::optional(found->second);
  });
}

std::string refusal(const Variables& variables) {
  return message_of<UsageError>([&] { info_of(variables); });
}

const Variables kTorchrun = {
    {"RANK", "3"},        {"WORLD_SIZE", "4"},      {"LOCAL_RANK", "1"},
    {"MASTER_ADDR", "a"}, {"MASTER_PORT", "29500"}, {"LOCAL_WORLD_SIZE", "2"}};
const Variables kSlurm = {{"SLURM_PROCID", "5"},
                          {"SLURM_STEP_NUM_TASKS", "8"},
                          {"SLURM_LOCALID", "1"},
                          {"SLURM_STEP_NODELIST", "node[07-08,11]"},
                          {"SLURM_JOB_ID", "15003"}};

TEST(RankInfo, ThereIsOneProcessIfNoVariableSaysOtherwise) {
  EXPECT_EQ(info_of({}).size, 1);
  EXPECT_EQ(info_of({}).rank, 0);
  EXPECT_EQ(info_of({{"MASTER_ADDR", "a"}, {"MASTER_PORT", "1"}}).size, 1);
  EXPECT_EQ(info_of({{"RANK", "0"}, {"WORLD_SIZE", "1"}}).size, 1);
}

TEST(RankInfo, TorchrunsVariablesAreRead) {
  const RankInfo info = info_of(kTorchrun);
  EXPECT_EQ(info.rank, 3);
  EXPECT_EQ(info.size, 4);
  EXPECT_EQ(info.local_rank, 1);
  EXPECT_EQ(info.local_size, 2);
  EXPECT_EQ(info.master_host, "a");
  EXPECT_EQ(info.master_port, 29500);
  EXPECT_FALSE(info.launcher_serves_store);
  Variables agent = kTorchrun;
  agent["TORCHELASTIC_USE_AGENT_STORE"] = "True";
  EXPECT_TRUE(info_of(agent).launcher_serves_store);
}

TEST(RankInfo, SlurmsVariablesAreRead) {
  const RankInfo info = info_of(kSlurm);
  EXPECT_EQ(info.rank, 5);
  EXPECT_EQ(info.size, 8);
  EXPECT_EQ(info.local_rank, 1);
  EXPECT_EQ(info.local_size, 1);
  EXPECT_EQ(info.master_host, "node07");
  EXPECT_EQ(info.master_port, 15003);
  Variables given = kSlurm;
  given["MASTER_ADDR"] = "10.0.0.1";
  given["MASTER_PORT"] = "4000";
  EXPECT_EQ(info_of(given).master_host, "10.0.0.1");
  EXPECT_EQ(info_of(given).master_port, 4000);
}

TEST(RankInfo, OneTaskOfSlurmIsOneProcess) {
  EXPECT_EQ(info_of({{"SLURM_PROCID", "0"}, {"SLURM_STEP_NUM_TASKS", "1"}}).size, 1);
  Variables step = kSlurm;  // srun -n 1 in a job of eight tasks
  step["SLURM_STEP_NUM_TASKS"] = "1";
  step["SLURM_NTASKS"] = "8";
  EXPECT_EQ(info_of(step).size, 1);
  EXPECT_EQ(info_of({{"SLURM_NTASKS", "8"}}).size, 1) << "a shell of salloc";
  EXPECT_EQ(info_of({{"SLURM_NTASKS", "8"}, {"SLURM_PROCID", "0"}}).size, 1) << "sbatch's script";
}

TEST(RankInfo, AVariableThatIsMissingOrMakesNoSenseIsNamed) {
  for (const char* name : {"RANK", "WORLD_SIZE", "MASTER_ADDR", "MASTER_PORT"}) {
    Variables without = kTorchrun;
    without.erase(name);
    EXPECT_THAT(refusal(without), testing::HasSubstr(name));
  }
  Variables beyond = kTorchrun;
  beyond["RANK"] = "4";
  EXPECT_THAT(refusal(beyond), testing::HasSubstr("RANK is '4'"));
  beyond["RANK"] = "one";
  EXPECT_THAT(refusal(beyond), testing::HasSubstr("RANK is 'one'"));
}

TEST(RankInfo, SlurmsListsOfHostsAreRead) {
  EXPECT_EQ(first_host("login"), "login");
  EXPECT_EQ(first_host("a,b"), "a");
  EXPECT_EQ(first_host("node[03-05,07],login"), "node03");
  EXPECT_EQ(first_host("node[3,5]"), "node3");
  EXPECT_EQ(first_host("gpu-a[12]"), "gpu-a12");
}

}  // namespace
}  // namespace dragoman
