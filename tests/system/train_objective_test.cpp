// Terms of the loss and the average of the weights: guided alignment, --ema.

#include <gmock/gmock.h>

#include "base/files.h"
#include "model/file/model_file.h"
#include "tests/system/train_fixture.h"

namespace dragoman {

namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

/// The sample corpus has 1,500 lines, none empty: each first word is linked to the other.
class TrainGuidedAlignment : public Train {
 protected:
  static std::string alignment(const std::string& name, const std::string& third_line,
                               int lines = 1500) {
    std::string text;
    for (int line = 1; line <= lines; ++line) text += line == 3 ? third_line + "\n" : "0-0\n";
    write_file(path(name), text);
    return path(name);
  }

  static void expect_error(const std::string& file, const std::string& message) {
    expect_failure(run(command("refused", {"--guided-alignment", file}), "", kLimit), 1,
                   file + message);
  }
};

TEST_F(TrainGuidedAlignment, ARunWithGuidedAlignmentIsResumedExactly) {
  const std::string file = alignment("links", "0-0");
  const auto with = [&](const char* updates) {
    return std::vector<std::string>{"--guided-alignment", file, "--max-updates", updates};
  };
  train(command("straight", with("20")));
  train(command("resumed", with("10")));
  train(command("resumed", with("20")));
  EXPECT_TRUE(same_weights("straight", "resumed", 20));
  EXPECT_THAT(read_file(path("straight/log.jsonl")), HasSubstr("\"alignment_loss\":"));

  alignment("links", "");
  expect_failure(run(command("resumed", with("30")), "", kLimit), 1, file + " ... changed");
}

TEST_F(TrainGuidedAlignment, TheProgramFindsTheLinksItselfAndResumesExactly) {
  const auto with = [&](const char* updates) {
    return std::vector<std::string>{"--guided-alignment", "auto", "--max-updates", updates};
  };
  train(command("auto", with("20")));
  train(command("continued", with("10")));
  train(command("continued", with("20")));
  EXPECT_TRUE(same_weights("auto", "continued", 20));
  EXPECT_THAT(read_file(path("auto/log.jsonl")), HasSubstr("\"alignment_loss\":"));
  EXPECT_EQ(ModelFileReader(path("auto/model.safetensors")).decode_defaults().size(), 2u);
}

TEST_F(TrainGuidedAlignment, AGuidedModelIsNotThePlainOneAndNamesTheHeadWithTheLinks) {
  const auto defaults_of = [](const std::string& name, std::vector<std::string> flags) {
    flags.insert(flags.end(), {"--max-updates", "2", "--log-every", "1", "--decoder-layers", "2"});
    EXPECT_EQ(run(command(name, flags), "", kLimit).exit_code, 0);
    return ModelFileReader(path(name + "/model.safetensors")).decode_defaults();
  };
  const std::string file = alignment("links", "0-0");
  EXPECT_EQ(defaults_of("last", {"--guided-alignment", file}),
            (DecodeDefaults{{"attention-layer", "2"}, {"attention-head", "1"}}));
  EXPECT_EQ(defaults_of("first", {"--guided-alignment", file, "--guided-alignment-layer", "1",
                                  "--guided-alignment-head", "2"}),
            (DecodeDefaults{{"attention-layer", "1"}, {"attention-head", "2"}}));
  EXPECT_EQ(defaults_of("plain", {}), DecodeDefaults{});
  EXPECT_FALSE(same_weights("last", "plain", 2));
  EXPECT_THAT(read_file(path("plain/log.jsonl")),
              AllOf(HasSubstr("\"perplexity\":"), Not(HasSubstr("alignment_loss"))));
}

TEST_F(TrainGuidedAlignment, AnErrorNamesTheFileAndTheLineThatAreWrong) {
  expect_error(alignment("short", "", 1499), " ... 1,499 lines");
  expect_error(alignment("nonsense", "0-0 1:2"), ":3: ... '1:2' ... 0-2");
  expect_error(alignment("beyond", "0-0 99-0"), ":3: ... word 99 ... source line");
}

TEST_F(TrainGuidedAlignment, ALayerOrAHeadThatTheModelLacksIsRefused) {
  for (const char* flag : {"--guided-alignment-layer", "--guided-alignment-head"}) {
    const auto result = run(command("refused", {flag, "3"}), "", kLimit);
    EXPECT_EQ(result.exit_code, 2);
    EXPECT_THAT(result.errors, HasSubstr(std::string(flag) + " 3: "));
  }
}

using TrainAverage = Train;

const std::vector<std::string> kEma = {"--ema", "0.9", "--average-last", "0"};

TEST_F(TrainAverage, TheModelIsTheMovingAverageAndAResumedRunHasTheSame) {
  auto half = kEma;
  half.insert(half.end(), {"--max-updates", "30"});
  train(command("straight", kEma));
  train(command("resumed", half));
  train(command("resumed", kEma));
  const std::string last = "/checkpoints/update-00000060.safetensors";
  for (const std::string& file : {last, std::string("/model.safetensors")})
    EXPECT_TRUE(weights("straight" + file) == weights("resumed" + file)) << file;
  const ModelFileReader straight(path("straight" + last)), other(path("resumed" + last));
  EXPECT_EQ(straight.tensor("training.weights").raw(), other.tensor("training.weights").raw());

  const auto best = ModelFileReader(path("straight/model.safetensors")).provenance().updates;
  EXPECT_TRUE(weights("straight/checkpoints/update-000000" + std::to_string(best) +
                      ".safetensors") == weights("straight/model.safetensors"));
}

}  // namespace

}  // namespace dragoman
