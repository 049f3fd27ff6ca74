#include "app/commands/output_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <functional>

#include "base/error.h"
#include "base/files.h"

namespace dragoman {
namespace {

using testing::HasSubstr;
namespace fs = std::filesystem;

class OutputFile : public testing::Test {
 protected:
  OutputFile() {
    fs::remove_all(folder_);
    fs::create_directories(folder_ / "run" / "checkpoints");
  }
  ~OutputFile() override { fs::remove_all(folder_); }

  std::string path(const std::string& name) const { return (folder_ / name).string(); }
  std::string file(const std::string& name, const std::string& text) const {
    write_file(folder_ / name, text);
    return path(name);
  }

  static std::string refusal(const std::function<void()>& check) {
    try {
      check();
    } catch (const UsageError& error) {
      return error.what();
    }
    return "accepted";
  }

  const fs::path folder_ =
      fs::path(testing::TempDir()) / ("output_file_" + std::to_string(getpid()));
};

TEST_F(OutputFile, AFileThatIsReadIsNoOutput) {
  const std::string input = file("in", "a\n");
  fs::create_symlink(input, path("link"));
  EXPECT_TRUE(same_file(input, path("link")));
  EXPECT_FALSE(same_file(input, path("none")));
  for (const std::string& output : {input, path("link")})
    EXPECT_THAT(refusal([&] {
                  check_output("--output", output, {path("none"), input});
                }),
                HasSubstr("--output: " + output + " is "));
  check_output("--output", path("new"), {input});
  check_output("--output", "/dev/null", {"/dev/null"});
}

TEST_F(OutputFile, StandardOutputIsNoOutputFile) {
  EXPECT_THAT(refusal([] { check_output("--output", "-", {}); }),
              HasSubstr("--output: - stands for standard output"));
  EXPECT_THAT(refusal([] { check_text_output("--output", "-", {}); }), HasSubstr("--output: - "));
}

TEST_F(OutputFile, AnOutputNeedsAnExistingFolderAndIsNoFolderItself) {
  EXPECT_THAT(refusal([&] { check_output("-o", folder_.string(), {}); }),
              HasSubstr(folder_.string() + " is a folder"));
  try {
    check_output("--output", path("nodir/x"), {});
    FAIL();
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr(path("nodir") + ": no such folder"));
  }
}

TEST_F(OutputFile, NoFileOfARunIsReplaced) {
  const auto said = [this](const std::string& name) {
    return refusal([&] { check_output("--output", path(name), {}); });
  };
  fs::create_symlink(file("run/model.safetensors", "weights"), path("link"));
  EXPECT_THAT(said("run/model.safetensors"), HasSubstr("is the model of the training run"));
  EXPECT_THAT(said("link"), HasSubstr("is the model of the training run"));
  for (const std::string name : {"best", "latest", "start", "update-00001000"})
    EXPECT_THAT(said("run/checkpoints/" + name + ".safetensors"),
                HasSubstr("is a checkpoint of the training run"));
  EXPECT_THAT(said("run/log.jsonl"), HasSubstr("is the log of the training run"));
  EXPECT_THAT(said("run/config.toml"), HasSubstr("is the configuration of the training run"));
  EXPECT_EQ(said("log.jsonl"), "accepted");
  EXPECT_EQ(said("run/average.safetensors"), "accepted");
  EXPECT_EQ(said("run/checkpoints/mine.safetensors"), "accepted");
  EXPECT_EQ(said("model.safetensors"), "accepted");
}

TEST_F(OutputFile, ATextReplacesNoModel) {
  const auto said = [this](const std::string& name) {
    return refusal([&] { check_text_output("--output", path(name), {}); });
  };
  const std::string_view model("\x02\0\0\0\0\0\0\0{}", 10);
  file("model", std::string(model));
  EXPECT_THAT(said("model"), HasSubstr("is a model; name another file"));
  EXPECT_EQ(refusal([&] { check_output("--output", path("model"), {}); }), "accepted");
  for (const std::string& text : {std::string(), std::string("{"), std::string("12345678{}"),
                                  std::string(model.substr(0, 8)) + "["})
    EXPECT_EQ((file("text", text), said("text")), "accepted") << text;
  EXPECT_EQ(said("new"), "accepted");
}

TEST_F(OutputFile, AModelReplacesOnlyModels) {
  const auto said = [this](const std::string& name) {
    return refusal([&] { check_model_output("--output", path(name), {}); });
  };
  file("model", std::string("\x02\0\0\0\0\0\0\0{}", 10));
  file("empty", "");
  file("text", "a line\n");
  EXPECT_EQ(said("model"), "accepted");
  EXPECT_EQ(said("empty"), "accepted");
  EXPECT_EQ(said("new"), "accepted");
  EXPECT_THAT(said("text"), HasSubstr("text is there and is no model"));
}

}  // namespace
}  // namespace dragoman
