// The commands that take a model file, on models whose weights nobody trained.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <nlohmann/json.hpp>
#include <sstream>

#include "tests/model/file/small_model.h"
#include "tests/system/process.h"
#include "tokenizer/tokenizer.h"
#include "tokenizer/train_tokenizer.h"

namespace dragoman {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

std::string trained_tokenizer() {
  std::vector<std::string> lines;
  for (int i = 0; i < 300; ++i)
    lines.push_back("the cat number " + std::to_string(i) + " sat on mat " + std::to_string(i * 7));
  TokenizerConfig config;
  config.vocab_size = 320;
  return train_tokenizer({lines.begin(), lines.end()}, config).model_bytes;
}

/// A run folder: a model and two checkpoints.
class ModelFileCommands : public testing::Test {
 protected:
  static void SetUpTestSuite() { tokenizer_ = trained_tokenizer(); }

  ModelFileCommands() {
    const std::int64_t pieces = Tokenizer(tokenizer_, "tokenizer").size();
    SmallModel model(pieces);
    model.contents.tokenizer_source = tokenizer_;
    model.contents.provenance.seed = 77;
    model.contents.provenance.data = {{"training-text", "43e27dd8153ea544"}};
    write_model_file(run_ / "model.safetensors", model.contents);
    std::filesystem::create_directory(run_ / "checkpoints");
    model.make_checkpoint();
    for (const char* name : {"update-00000010.safetensors", "update-00000020.safetensors"})
      write_model_file(run_ / "checkpoints" / name, model.contents);
  }

  std::string model() const { return run_ / "model.safetensors"; }

  static inline std::string tokenizer_;
  TemporaryFolder run_;
};

void expect_one_error(const ProcessResult& result, int code, const std::string& what) {
  EXPECT_EQ(result.exit_code, code);
  EXPECT_EQ(result.output, "");
  EXPECT_THAT(result.errors, AllOf(StartsWith("dragoman: error: "), HasSubstr(what)));
  EXPECT_EQ(std::count(result.errors.begin(), result.errors.end(), '\n'), 1) << result.errors;
}

TEST_F(ModelFileCommands, InspectTellsTheSameAsTextAndAsJson) {
  const ProcessResult text = run({"inspect", run_.path()});
  EXPECT_EQ(text.exit_code, 0) << text.errors;
  EXPECT_EQ(text.errors, "");
  const ProcessResult json = run({"inspect", "-m", model(), "--format", "json", "--check"});
  EXPECT_EQ(json.exit_code, 0) << json.errors;
  const auto facts = nlohmann::json::parse(json.output);
  EXPECT_EQ(facts["architecture"]["d-model"], 4);
  EXPECT_EQ(facts["tokenizer"]["source"]["type"], "unigram");
  EXPECT_EQ(facts["tokenizer"]["source"]["byte_fallback"], true);
  EXPECT_EQ(facts["tokenizer"]["source"]["pieces"], facts["architecture"]["source-vocabulary"]);
  EXPECT_EQ(facts["provenance"]["seed"], 77);
  EXPECT_EQ(facts["checked"], true);
  std::int64_t sum = 0;
  for (const auto& [part, count] : facts["parameters"].items())
    if (part != "total") sum += count.get<std::int64_t>();
  EXPECT_EQ(facts["parameters"]["total"], sum);
  for (const char* word :
       {"d-model", "unigram", "valid-bleu", "38.51", "77", "byte-fallback", "hash of the data"})
    EXPECT_THAT(text.output, HasSubstr(word));
  EXPECT_THAT(text.output, Not(HasSubstr("byte_fallback")));
}

TEST_F(ModelFileCommands, InspectWarnsOfWeightsThatAreNoNumbers) {
  SmallModel model(Tokenizer(tokenizer_, "tokenizer").size());
  model.contents.tokenizer_source = tokenizer_;
  const std::string name = model.contents.parameters.at(1).name;
  model.values.at(1).back() = std::nanf("");
  write_model_file(run_ / "broken.safetensors", model.contents);
  for (const char* format : {"text", "json"}) {
    const auto result = run({"inspect", run_ / "broken.safetensors", "--format", format});
    EXPECT_EQ(result.exit_code, 0);
    EXPECT_THAT(result.errors, HasSubstr("the weights " + name + " have NaN"));
    EXPECT_EQ(std::count(result.errors.begin(), result.errors.end(), '\n'), 1) << result.errors;
  }
}

TEST_F(ModelFileCommands, InspectKnowsACheckpoint) {
  const auto result = run({"inspect", run_ / "checkpoints/update-00000010.safetensors"});
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_THAT(result.output,
              AllOf(HasSubstr("checkpoint\n"), HasSubstr("update                12")));
}

TEST_F(ModelFileCommands, DamagedTruncatedAndMissingFilesAreOneLineEach) {
  const std::string bytes = read_file(model());
  std::string flipped = bytes;
  flipped[bytes.size() - 3] ^= 4;
  write_file(run_ / "flipped.safetensors", flipped);
  write_file(run_ / "short.safetensors", bytes.substr(0, bytes.size() / 2));
  write_file(run_ / "text.safetensors", "these are no tensors");
  write_file(run_ / "a.txt", "the cat\n");
  const std::string text = run_ / "a.txt";
  const auto score = [&](const std::string& name) {
    return run({"score", "-m", run_ / name, "--src", text, "--tgt", text});
  };
  expect_one_error(run({"inspect", "--check", run_ / "flipped.safetensors"}), 1, "is damaged");
  expect_one_error(score("flipped.safetensors"), 1, "is damaged");
  for (const auto& [name, what] : {std::pair("short.safetensors", "truncated"),
                                   std::pair("text.safetensors", "not a safetensors file"),
                                   std::pair("none.safetensors", "no such")}) {
    expect_one_error(run({"inspect", run_ / name}), 1, what);
    expect_one_error(score(name), 1, what);
    expect_one_error(run({"average", "-o", run_ / "out", run_ / name}), 1, what);
    EXPECT_FALSE(std::filesystem::exists(run_ / "out"));
  }
}

TEST_F(ModelFileCommands, AverageTakesFilesOrTheNewestCheckpointsOfARun) {
  const std::string output = run_ / "average.safetensors";
  for (const std::vector<std::string>& models :
       {std::vector<std::string>{run_.path(), "--last", "2"}, {run_.path()}, {model(), model()}}) {
    std::vector<std::string> words = {"average", "-o", output};
    words.insert(words.end(), models.begin(), models.end());
    const ProcessResult result = run(words);
    EXPECT_EQ(result.exit_code, 0) << result.errors;
    EXPECT_EQ(result.output, "");
    const ModelFileReader average(output), original(model());
    EXPECT_EQ(average.provenance().averaged_from.size(), 2u);
    for (const std::string& name : original.names())
      EXPECT_EQ(average.tensor(name).raw(), original.tensor(name).raw());
  }
  expect_one_error(run({"average", "-o", output, run_.path(), "--last", "3"}), 1, "2 checkpoints");
  EXPECT_THAT(run({"average", "-o", output, run_.path(), "--last", "1"}).errors,
              testing::HasSubstr("warning: " + output + ": a copy of "));
  expect_one_error(run({"average", "-o", run_.path(), model()}), 2, "is a folder");
  expect_one_error(run({"average", run_.path()}), 2, "--output");
  expect_one_error(run({"average", "-o", output}), 2, "--models");
}

TEST_F(ModelFileCommands, ScoreWritesALineForEachLine) {
  write_file(run_ / "a.en", "the cat sat\n\nnumber 12\r\nmat");
  write_file(run_ / "a.de", "mat 7\nthe cat\n\non\n");
  const std::string source = run_ / "a.en", target = run_ / "a.de";
  const auto score = [&](std::vector<std::string> words, const std::string& input = "") {
    words.insert(words.begin(), {"score", "-m", run_.path(), "--device", "cpu"});
    return run(words, input);
  };
  const auto plain = score({"--src", source, "--tgt", target});
  EXPECT_EQ(plain.exit_code, 0) << plain.errors;
  EXPECT_EQ(std::count(plain.output.begin(), plain.output.end(), '\n'), 4);
  EXPECT_THAT(plain.errors, AllOf(HasSubstr("4 lines"), HasSubstr("perplexity")));

  const auto detailed = score({"--src", source, "--tgt", target, "--per-token", "--normalize"});
  std::istringstream sums(plain.output), lines(detailed.output);
  std::string line;
  while (std::getline(lines, line)) {
    std::istringstream numbers(line);
    double expected, mean, value, sum = 0;
    int count = 0;
    sums >> expected;
    numbers >> mean;
    while (numbers >> value) sum += value, ++count;
    ASSERT_GT(count, 0);
    EXPECT_NEAR(sum, expected, 1e-4);
    EXPECT_NEAR(sum / count, mean, 1e-4);
    EXPECT_LT(sum, 0);
  }
  EXPECT_EQ(score({"--src", "-", "--tgt", target}, read_file(source)).output, plain.output);
}

TEST_F(ModelFileCommands, ScoreTakesSentencesApartWhereBothSidesHaveAsMany) {
  write_file(run_ / "a.en", "The cat. The mat.\nThe cat. The mat.\nThe cat.\nThe mat.\n");
  write_file(run_ / "a.de", "Mat 7. On 3.  \nMat 7 on 3.\nMat 7.\nOn 3.\n");
  const auto score = [&](const std::string& choice) {
    const auto result = run({"score", "-m", run_.path(), "--src", run_ / "a.en", "--tgt",
                             run_ / "a.de", "--split-sentences", choice});
    EXPECT_EQ(result.exit_code, 0) << result.errors;
    std::istringstream numbers(result.output);
    return std::vector<double>{std::istream_iterator<double>(numbers), {}};
  };
  const auto apart = score("always"), together = score("never");
  ASSERT_EQ(apart.size(), 4u);
  EXPECT_NEAR(apart[0], apart[2] + apart[3], 1e-4);
  EXPECT_NE(apart[0], together[0]);
  EXPECT_EQ(apart[1], together[1]) << "two sentences beside one";
  EXPECT_EQ(score("auto"), apart) << "of a model that does not say";
}

TEST_F(ModelFileCommands, ScoreRefusesWhatItCannotPair) {
  write_file(run_ / "two.txt", "the cat\nmat\n");
  write_file(run_ / "one.txt", "the cat\n");
  write_file(run_ / "invalid.txt", "the \xff\n");
  const std::string one = run_ / "one.txt";
  const auto score = [&](const std::string& name, std::vector<std::string> more = {}) {
    more.insert(more.begin(), {"score", "-m", run_.path(), "--src", one, "--tgt", run_ / name});
    return run(more);
  };
  expect_one_error(score("two.txt"), 1, "one.txt has 1 line but ");
  expect_one_error(score("invalid.txt"), 1, "invalid.txt:1");
  expect_one_error(score("one.txt", {"--max-length", "2"}), 1, "one.txt:1");
  expect_one_error(score("one.txt", {"--device", "tpu"}), 2, "--device");
  expect_one_error(run({"score", "-m", run_.path(), "--src", one}), 2, "--tgt");
}

}  // namespace
}  // namespace dragoman
