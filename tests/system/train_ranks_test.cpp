// Training on several ranks, also by scripts/launch. They make the updates that one process would
// make. They stop together and say why. They refuse to train with different texts or settings.

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <chrono>
#include <cmath>
#include <filesystem>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "base/files.h"
#include "tests/free_port.h"
#include "tests/names.h"
#include "tests/system/train_fixture.h"

namespace dragoman {

namespace {

using testing::HasSubstr;
using testing::Not;

Variables rank_variables(int rank, int size, const std::string& host, int port) {
  return {{"RANK", std::to_string(rank)},
          {"WORLD_SIZE", std::to_string(size)},
          {"LOCAL_RANK", std::to_string(rank)},
          {"MASTER_ADDR", host},
          {"MASTER_PORT", std::to_string(port)}};
}

class TrainRanks : public Train {
 protected:
  using Words = std::vector<std::string>;

  /// Starts ranks 0, 1, ..., each with a command.
  static std::vector<std::unique_ptr<Process>> start(const std::vector<Words>& commands) {
    const int port = free_port();
    std::vector<std::unique_ptr<Process>> ranks;
    for (const Words& words : commands)
      ranks.push_back(std::make_unique<Process>(
          words, rank_variables(static_cast<int>(ranks.size()), static_cast<int>(commands.size()),
                                "127.0.0.1", port)));
    return ranks;
  }
  static std::vector<ProcessResult> run_all(const std::vector<Words>& commands) {
    std::vector<ProcessResult> results;
    for (const auto& rank : start(commands)) results.push_back(rank->wait(kLimit));
    return results;
  }
  static std::vector<ProcessResult> run_two(const Words& words) { return run_all({words, words}); }
};

/// The gradient of each parameter, cut out of Adam's flat first moment, which after one update is
/// the gradient times 1 - beta1. Parameters start at multiples of 32 elements.
std::map<std::string, std::vector<float>> gradients(const std::filesystem::path& checkpoint) {
  const ModelFileReader reader(checkpoint);
  const TensorData moment = reader.tensor("training.adam.first_moment");
  std::vector<float> flat(static_cast<std::size_t>(moment.elements()));
  copy_as_floats(moment, flat);
  std::map<std::string, std::vector<float>> cut;
  std::size_t offset = 0;
  for (const ParameterShape& parameter : parameter_shapes(reader.config())) {
    std::size_t count = 1;
    for (const std::int64_t size : parameter.shape) count *= static_cast<std::size_t>(size);
    cut[parameter.name].assign(flat.begin() + static_cast<std::ptrdiff_t>(offset),
                               flat.begin() + static_cast<std::ptrdiff_t>(offset + count));
    offset += (count + 31) / 32 * 32;
  }
  EXPECT_EQ(offset, flat.size());
  return cut;
}

double norm(const std::vector<float>& values) {
  double sum = 0;
  for (const float value : values) sum += static_cast<double>(value) * value;
  return std::sqrt(sum);
}

/// Trains on two ranks and in one process with twice the batches; compares the first gradient.
class FirstGradient : public TrainRanks {
 protected:
  static void expect_same(const Words& options) {
    const auto with = [&options](const std::string& folder, const std::string& update_freq) {
      Words words = {"--precision",   "fp32",     "--clip-norm",    "0", "--dropout",        "0.3",
                     "--max-updates", "1",        "--average-last", "0", "--warmup-updates", "0",
                     "--update-freq", update_freq};
      words.insert(words.end(), options.begin(), options.end());
      return command(folder, words);
    };
    std::filesystem::remove_all(path("gradient1"));
    std::filesystem::remove_all(path("gradient2"));
    for (const auto& result : run_two(with("gradient2", "1")))
      ASSERT_EQ(result.exit_code, 0) << result.errors;
    train(with("gradient1", "2"));
    const std::string file = "/checkpoints/update-00000001.safetensors";
    const auto of_one = gradients(path("gradient1" + file));
    const auto of_two = gradients(path("gradient2" + file));
    ASSERT_EQ(of_one.size(), of_two.size());
    for (const auto& [name, expected] : of_one) {
      std::vector<float> difference = of_two.at(name);
      for (std::size_t i = 0; i < difference.size(); ++i) difference[i] -= expected[i];
      EXPECT_LE(norm(difference), 1e-5 * norm(expected)) << name;
      EXPECT_GT(norm(expected), 0) << name;
    }
  }
};

TEST_F(FirstGradient, TwoRanksHaveTheGradientOfOneProcessWithTwiceTheBatches) { expect_same({}); }

TEST_F(FirstGradient, WithRandomTextAndGuidedAlignmentTheGradientIsThatOfOneProcess) {
  std::string links;
  for (int line = 0; line < 1500; ++line) links += "0-0\n";
  write_file(path("links"), links);
  expect_same({"--tokenizer-type", "bpe", "--subword-sampling", "0.2", "--augment-title-case",
               "0.5", "--guided-alignment", path("links")});
}

TEST_F(FirstGradient, WithWeightsOfCorporaTheGradientIsThatOfOneProcess) {
  // The second files; the fixture names the first.
  expect_same({"--train-src", sample("valid.en"), "--train-tgt", sample("valid.de"),
               "--corpus-weights", "0.5", "3"});
}

TEST_F(TrainRanks, AKilledRankEndsTheRunWhichResumesBitIdentically) {
  const auto killed = [](const std::string& folder) {
    return command(folder, {"--ema", "0.9", "--subword-sampling", "0.5"});
  };
  for (const auto& result : run_two(killed("straight"))) ASSERT_EQ(result.exit_code, 0);
  for (const std::size_t victim : {0U, 1U}) {
    auto ranks = start({killed("killed"), killed("killed")});
    ASSERT_TRUE(ranks[0]->wait_for_errors(victim == 0 ? "update 10" : "update 30", kLimit));
    ranks[victim]->send_signal(SIGKILL);
    const auto other = ranks[1 - victim]->wait(kLimit);
    EXPECT_EQ(other.exit_code, 1) << other.errors;
    EXPECT_THAT(other.errors, HasSubstr(victim == 0 ? "rank 0 (host " : "rank 1 (host "));
    EXPECT_THAT(other.errors, HasSubstr("is gone"));
  }
  const auto resumed = run_two(killed("killed"));
  EXPECT_EQ(resumed[0].exit_code, 0) << resumed[0].errors;
  EXPECT_EQ(resumed[1].exit_code, 0) << resumed[1].errors;
  EXPECT_THAT(resumed[0].errors, HasSubstr("resumed from"));
  EXPECT_THAT(resumed[0].errors, Not(HasSubstr("bit-identically")));
  EXPECT_TRUE(same_weights("straight", "killed", 60));
}

TEST_F(TrainRanks, AFineTuningThatHasBegunResumesWithoutTheModelThatItBeganWith) {
  train(command("initial", {"--max-updates", "2"}));
  const auto words = [](const std::string& updates) {
    return train_on_sample(
        "tuned", {"--init-from", path("initial"), "--max-updates", updates, "--max-tokens", "400",
                  "--threads", "1", "--lr", "1e-4", "--lr-scheduler", "inverse-sqrt",
                  "--warmup-updates", "2", "--ema", "0", "--valid-every", "5"});
  };
  for (const auto& result : run_two(words("5"))) ASSERT_EQ(result.exit_code, 0) << result.errors;
  std::filesystem::remove_all(path("initial"));
  for (const auto& result : run_two(words("8"))) EXPECT_EQ(result.exit_code, 0) << result.errors;
}

TEST_F(TrainRanks, OnePlanIsPrintedForAll) {
  Words words = command("planned");
  words.push_back("--plan");
  const auto results = run_two(words);
  EXPECT_EQ(results[0].exit_code, 0) << results[0].errors;
  EXPECT_THAT(results[0].output, HasSubstr("\nranks                         2; "));
  EXPECT_EQ(results[1].exit_code, 0) << results[1].errors;
  EXPECT_EQ(results[1].output, "");
}

TEST_F(TrainRanks, RanksRollBackTogether) {
  const Words words = command("rolled", {"--lr", "30", "--warmup-updates", "3000", "--max-updates",
                                         "200", "--save-every", "20", "--patience", "0"});
  const auto results = run_two(words);
  EXPECT_THAT(results[0].errors, HasSubstr("rolled back to update "));
  for (const auto& result : results) EXPECT_EQ(result.exit_code, 0) << result.errors;
}

TEST_F(TrainRanks, AHungRankEndsTheRun) {
  for (const std::size_t victim : {0U, 1U}) {
    const Words words = command("hung", {"--max-updates", "100000", "--rank-timeout", "2"});
    auto ranks = start({words, words});
    ASSERT_TRUE(ranks[0]->wait_for_errors("update 10", kLimit));
    ranks[victim]->send_signal(SIGSTOP);
    const auto other = ranks[1 - victim]->wait(kLimit);
    ranks[victim]->send_signal(SIGKILL);
    EXPECT_EQ(other.exit_code, 1) << other.errors;
    EXPECT_THAT(other.errors, HasSubstr(victim == 0 ? "rank 0 (host " : "rank 1 (host "));
    EXPECT_THAT(other.errors, Names("heartbeat ... 2 s"));
  }
  const auto resumed = run_two(command("hung"));
  EXPECT_EQ(resumed[0].exit_code, 0) << resumed[0].errors;
}

TEST_F(TrainRanks, RanksThatWereSuspendedTogetherContinue) {
  const Words words = command("suspended", {"--rank-timeout", "1"});
  auto ranks = start({words, words});
  ASSERT_TRUE(ranks[0]->wait_for_errors("update 10", kLimit));
  for (const auto& rank : ranks) rank->send_signal(SIGSTOP);
  std::this_thread::sleep_for(std::chrono::seconds(3));
  for (const auto& rank : ranks) rank->send_signal(SIGCONT);
  for (const auto& rank : ranks) {
    const auto result = rank->wait(kLimit);
    EXPECT_EQ(result.exit_code, 0) << result.errors;
  }
}

TEST_F(TrainRanks, ASignalToAnyRankStopsAllCleanly) {
  const Words words = command("signal", {"--max-updates", "100000"});
  auto ranks = start({words, words});
  ASSERT_TRUE(ranks[0]->wait_for_errors("update 10", kLimit));
  ranks[1]->send_signal(SIGTERM);
  EXPECT_EQ(ranks[1]->wait(kLimit).exit_code, 128 + SIGTERM);
  const auto first = ranks[0]->wait(kLimit);
  EXPECT_EQ(first.exit_code, 0) << first.errors;
  EXPECT_THAT(first.errors, Names("same command"));
  // With another number of ranks, too.
  const auto resumed = train(command("signal"));
  EXPECT_THAT(resumed.errors, Names("ranks 2 -> 1 ... not bit-identically"));
}

TEST_F(TrainRanks, RanksWithDifferentConfigurationsRefuseToStart) {
  for (const auto& result : run_all({command("unlike"), command("unlike", {"--lr", "0.1"})})) {
    EXPECT_EQ(result.exit_code, 2) << result.errors;
    EXPECT_THAT(result.errors, HasSubstr("rank 1 (host "));
    EXPECT_THAT(result.errors, Names("--lr ... '0.1' ... rank 0 ... '7e-04'"));
  }
  EXPECT_FALSE(std::filesystem::exists(path("unlike/config.toml")));
}

/// Each in a folder of its own, as on hosts without a common file system.
class TrainHosts : public TrainRanks {
 protected:
  static CommandWords in_folder(const std::string& name, Words more = {}) {
    Words words = command("unused", std::move(more));
    words[2] = "run";
    for (std::size_t i = 0; i + 1 < words.size(); ++i)
      if (words[i] == "--train-src" || words[i] == "--train-tgt")
        words[i + 1] = std::filesystem::path(words[i + 1]).filename();
    CommandWords moved{{"env", "-C", path(name), kProgram}};
    moved.words.insert(moved.words.end(), words.begin(), words.end());
    return moved;
  }
  static void make_host(const std::string& name) {
    std::filesystem::create_directories(path(name));
    for (const char* file : {"train.en", "train.de"})
      std::filesystem::copy_file(sample(file), path(name) + "/" + file,
                                 std::filesystem::copy_options::overwrite_existing);
  }
  static std::vector<ProcessResult> run_hosts(const std::vector<std::string>& hosts, int port) {
    std::vector<std::unique_ptr<Process>> ranks;
    for (const std::string& host : hosts) {
      auto variables = rank_variables(static_cast<int>(ranks.size()), 2, "127.0.0.1", port);
      variables["LOCAL_RANK"] = "0";
      ranks.push_back(std::make_unique<Process>(in_folder(host), variables));
    }
    std::vector<ProcessResult> results;
    for (const auto& rank : ranks) results.push_back(rank->wait(kLimit));
    return results;
  }
};

TEST_F(TrainHosts, HostsNeedNoCommonFiles) {
  make_host("a");
  make_host("b");
  for (const auto& result : run_hosts({"a", "b"}, free_port()))
    ASSERT_EQ(result.exit_code, 0) << result.errors;
  EXPECT_TRUE(std::filesystem::exists(path("a/run/checkpoints/update-00000060.safetensors")));
  EXPECT_TRUE(std::filesystem::exists(path("b/run/corpus")));
  EXPECT_FALSE(std::filesystem::exists(path("b/run/checkpoints")));
  const auto again = run_hosts({"a", "b"}, free_port());
  EXPECT_EQ(again[0].exit_code, 0) << again[0].errors;
  EXPECT_THAT(again[0].errors, HasSubstr("resumed from"));
  EXPECT_EQ(again[1].exit_code, 0) << again[1].errors;
}

TEST_F(TrainHosts, HostsWithDifferentTextsRefuseToStart) {
  make_host("c");
  make_host("d");
  std::string text = read_file(path("d/train.en"));
  text[100] = text[100] == 'a' ? 'b' : 'a';
  write_file(path("d/train.en"), text);
  for (const auto& result : run_hosts({"c", "d"}, free_port())) {
    EXPECT_EQ(result.exit_code, 1) << result.errors;
    EXPECT_THAT(result.errors, HasSubstr("rank 1 (host "));
    EXPECT_THAT(result.errors, Names("training text's hash"));
  }
  std::filesystem::remove(path("d/train.de"));
  const auto missing = run_hosts({"c", "d"}, free_port());
  EXPECT_EQ(missing[0].exit_code, 1);
  EXPECT_THAT(missing[0].errors, HasSubstr("has stopped: train.de"));
  EXPECT_EQ(missing[1].exit_code, 1);
}

/// Two network namespaces with a cable between them; gone with the object.
class TwoNetworks {
 public:
  TwoNetworks() {
    const std::string id = std::to_string(getpid());
    names_ = {"dragoman-a" + id, "dragoman-b" + id};
    const std::string left = "dga" + id, right = "dgb" + id;
    end_ = right;
    works_ = ip({"netns", "add", names_[0]}) && ip({"netns", "add", names_[1]}) &&
             ip({"link", "add", left, "netns", names_[0], "type", "veth", "peer", "name", right,
                 "netns", names_[1]}) &&
             ip({"-n", names_[0], "address", "add", "10.213.77.1/24", "dev", left}) &&
             ip({"-n", names_[1], "address", "add", "10.213.77.2/24", "dev", right}) &&
             ip({"-n", names_[0], "link", "set", left, "up"}) &&
             ip({"-n", names_[1], "link", "set", right, "up"}) &&
             ip({"-n", names_[0], "link", "set", "lo", "up"});
  }
  ~TwoNetworks() {
    for (const std::string& name : names_) ip({"netns", "delete", name});
  }
  bool works() const { return works_; }
  CommandWords command_in(std::size_t network, const std::vector<std::string>& arguments) const {
    CommandWords command{{"ip", "netns", "exec", names_[network], kProgram}};
    command.words.insert(command.words.end(), arguments.begin(), arguments.end());
    return command;
  }
  bool cut() const { return ip({"-n", names_[1], "link", "set", end_, "down"}); }

 private:
  static bool ip(std::vector<std::string> words) {
    words.insert(words.begin(), "ip");
    try {
      return Process(CommandWords{words}).wait().exit_code == 0;
    } catch (const std::runtime_error&) {  // no such program here
      return false;
    }
  }

  std::vector<std::string> names_;
  std::string end_;  // of the cable
  bool works_ = false;
};

TEST_F(TrainRanks, RanksTrainAcrossANetwork) {
  const TwoNetworks networks;
  if (!networks.works()) GTEST_SKIP() << "network namespaces are not permitted here";
  const auto start_in_networks = [&](const Words& words) {
    std::vector<std::unique_ptr<Process>> ranks;
    for (const int rank : {0, 1})
      ranks.push_back(
          std::make_unique<Process>(networks.command_in(static_cast<std::size_t>(rank), words),
                                    rank_variables(rank, 2, "10.213.77.1", 29'500)));
    return ranks;
  };
  for (const auto& rank : start_in_networks(command("network"))) {
    const auto result = rank->wait(kLimit);
    EXPECT_EQ(result.exit_code, 0) << result.errors;
  }
  // The cable is pulled.
  auto ranks =
      start_in_networks(command("cut", {"--max-updates", "100000", "--rank-timeout", "2"}));
  ASSERT_TRUE(ranks[0]->wait_for_errors("update 10", kLimit)) << ranks[0]->errors();
  ASSERT_TRUE(networks.cut());
  const auto first = ranks[0]->wait(kLimit), second = ranks[1]->wait(kLimit);
  EXPECT_EQ(first.exit_code, 1);
  EXPECT_THAT(first.errors, HasSubstr("rank 1 (host "));
  EXPECT_EQ(second.exit_code, 1);
  EXPECT_THAT(second.errors, HasSubstr("rank 0 (host "));
}

using LaunchedTraining = Train;

/// scripts/launch with a number of ranks and a command.
CommandWords launch(const std::string& ranks, const std::vector<std::string>& command) {
  CommandWords words{{"bash", std::string(kSources) + "/scripts/launch", ranks}};
  words.words.insert(words.words.end(), command.begin(), command.end());
  return words;
}

TEST_F(LaunchedTraining, ATrainingRunsOnSeveralRanks) {
  auto words = command("launched", {"--max-updates", "20"});
  words.insert(words.begin(), kProgram);
  const auto result = Process(launch("2", words)).wait(kLimit);
  EXPECT_EQ(result.exit_code, 0) << result.errors;
  EXPECT_THAT(result.errors, HasSubstr("training on 2 ranks"));
  EXPECT_THAT(result.errors, Names("--max-updates ... 20 updates"));
}

TEST_F(LaunchedTraining, ATrainingGetsTheSignalsThatLaunchGets) {
  auto words = command("launched-signal", {"--max-updates", "100000"});
  words.insert(words.begin(), kProgram);
  Process process(launch("2", words));
  ASSERT_TRUE(process.wait_for_errors("update 10", kLimit)) << process.errors();
  process.send_signal(SIGINT);
  const auto result = process.wait(kLimit);
  EXPECT_EQ(result.exit_code, 128 + SIGINT) << result.errors;
  EXPECT_THAT(result.errors, Names("same command"));
}

TEST(Launch, WhenARankFailsAllEndWithItsCode) {
  const auto result = Process(launch("3", {"bash", "-c", "[ $RANK = 1 ] && exit 7; sleep 100"}))
                          .wait(std::chrono::seconds(30));
  EXPECT_FALSE(result.timed_out);
  EXPECT_EQ(result.exit_code, 7) << result.errors;
  EXPECT_THAT(result.errors, Names("rank 1 ... code 7"));
}

TEST(Launch, EachRankIsToldWhereTheRanksAre) {
  const auto result =
      Process(launch("2", {"bash", "-c",
                           "echo $RANK/$WORLD_SIZE $LOCAL_RANK/$LOCAL_WORLD_SIZE $MASTER_ADDR"}))
          .wait();
  EXPECT_EQ(result.exit_code, 0) << result.errors;
  EXPECT_THAT(result.output, HasSubstr("0/2 0/2 127.0.0.1"));
  EXPECT_THAT(result.output, HasSubstr("1/2 1/2 127.0.0.1"));
  EXPECT_EQ(Process(launch("none", {"true"})).wait().exit_code, 2);
}

}  // namespace

}  // namespace dragoman
