#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "base/json.h"
#include "tests/system/process.h"
#include "tests/system/run_folder_fixture.h"

namespace dragoman {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

class Inspect : public RunFolderTest {};

TEST_F(Inspect, TextAndJsonTellTheSame) {
  const ProcessResult text = run({"inspect", run_.path()});
  EXPECT_EQ(text.exit_code, 0) << text.errors;
  EXPECT_EQ(text.errors, "");
  const ProcessResult json = run({"inspect", "-m", model(), "--format", "json", "--check"});
  EXPECT_EQ(json.exit_code, 0) << json.errors;
  const auto facts = parse_json(json.output);
  EXPECT_EQ(facts["architecture"]["d-model"], 4);
  EXPECT_EQ(facts["tokenizer"]["source"]["type"], "unigram");
  EXPECT_EQ(facts["tokenizer"]["source"]["byte_fallback"], true);
  EXPECT_EQ(facts["tokenizer"]["source"]["normalization"], "nmt_nfkc");
  EXPECT_EQ(facts["tokenizer"]["source"]["lowercase"], false);
  EXPECT_EQ(facts["tokenizer"]["source"]["pieces"], facts["architecture"]["source-vocabulary"]);
  EXPECT_EQ(facts["provenance"]["seed"], 77);
  EXPECT_EQ(facts["checked"], true);
  std::int64_t sum = 0;
  for (const auto& [part, count] : facts["parameters"].items())
    if (part != "total") sum += count.get<std::int64_t>();
  EXPECT_EQ(facts["parameters"]["total"], sum);
  for (const char* word : {"d-model", "unigram", "valid-bleu", "38.51", "77", "byte-fallback",
                           "nmt_nfkc", "single spaces", "hash of the data"})
    EXPECT_THAT(text.output, HasSubstr(word));
  EXPECT_THAT(text.output, Not(HasSubstr("byte_fallback")));
}

TEST_F(Inspect, WeightsThatAreNotNumbersAreWarnedAbout) {
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

TEST_F(Inspect, ACheckpointIsKnown) {
  const auto result = run({"inspect", run_ / "checkpoints/update-00000010.safetensors"});
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_THAT(result.output,
              AllOf(HasSubstr("checkpoint\n"), HasSubstr("update                12")));
}

TEST_F(Inspect, AProgressRecordMayBeOtherTextButNotNestedWithoutBound) {
  SmallModel model(Tokenizer(tokenizer_, "tokenizer").size());
  model.contents.tokenizer_source = tokenizer_;
  model.make_checkpoint();
  const std::string path = run_ / "checkpoint.safetensors";
  model.contents.progress = "no JSON";
  write_model_file(path, model.contents);
  EXPECT_THAT(run({"inspect", path}).output, HasSubstr("no JSON"));
  model.contents.progress = std::string(200'000, '[') + std::string(200'000, ']');
  write_model_file(path, model.contents);
  for (const char* format : {"text", "json"})
    expect_one_error(run({"inspect", path, "--format", format}), 1, "64 deep");
}

TEST_F(Inspect, ADamagedOrUnreadableFileIsOneLine) {
  expect_one_error(run({"inspect", "--check", write_damaged_file()}), 1, "is damaged");
  for (const auto& [file, what] : write_unreadable_files())
    expect_one_error(run({"inspect", file}), 1, what);
}

}  // namespace
}  // namespace dragoman
