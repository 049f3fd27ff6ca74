// dragoman quantize.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>

#include "base/files.h"
#include "tests/system/translate_fixture.h"

namespace dragoman {
namespace {

using testing::AllOf;
using testing::HasSubstr;

class Quantize : public Translate {
 protected:
  std::string path(const std::string& name) const { return (folder_ / name).string(); }

  ProcessResult quantize(const std::vector<std::string>& more) const {
    std::vector<std::string> arguments = {"quantize", path("model.safetensors"), "-o",
                                          path("int8.safetensors")};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return run(arguments);
  }

  static std::vector<std::string> files_in(const std::filesystem::path& folder) {
    std::vector<std::string> names;
    for (const auto& entry : std::filesystem::directory_iterator(folder))
      names.push_back(entry.path().filename().string());
    std::ranges::sort(names);
    return names;
  }

  std::string translated(const std::string& model, const std::vector<std::string>& more) const {
    std::vector<std::string> arguments = {"translate", "-m", path(model), "--max-length", "6"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    const ProcessResult result = run(arguments, kInput);
    EXPECT_EQ(result.exit_code, 0) << result.errors;
    return result.output;
  }
};

TEST_F(Quantize, TheFileTranslatesAsTheModelDoesInInt8) {
  const ProcessResult result = quantize({});
  ASSERT_EQ(result.exit_code, 0) << result.errors;
  EXPECT_THAT(result.errors, HasSubstr("int8.safetensors: "));
  EXPECT_TRUE(result.errors.ends_with("B)\n")) << result.errors;
  EXPECT_EQ(lines_of(translated("int8.safetensors", {})).size(), 6u);
  EXPECT_EQ(translated("int8.safetensors", {}), translated("int8.safetensors", {"--threads", "2"}));
  EXPECT_THAT(run({"inspect", path("int8.safetensors")}).output, HasSubstr("F32, I8"));
  const ProcessResult again = run({"quantize", path("int8.safetensors"), "-o", path("twice")});
  EXPECT_EQ(again.exit_code, 1);
  EXPECT_THAT(again.errors, HasSubstr("already"));
}

TEST_F(Quantize, MatricesAreKeptUntilTheLossIsSmall) {
  const std::string text = "the cat sat on mat 7\nmat number 14\nthe cat number 9\n";
  write_file(folder_ / "source", text);
  write_file(folder_ / "reference", text);
  const std::vector<std::string> texts = {"--src", path("source"), "--ref", path("reference")};
  const ProcessResult result = quantize(texts);
  ASSERT_EQ(result.exit_code, 0) << result.errors;
  EXPECT_THAT(result.errors,
              AllOf(HasSubstr("float32: BLEU "), HasSubstr(" matrices rounded: BLEU ")));
  EXPECT_TRUE(std::filesystem::exists(path("int8.safetensors")));
  EXPECT_EQ(
      files_in(folder_.path()),
      (std::vector<std::string>{"int8.safetensors", "model.safetensors", "reference", "source"}));
}

TEST_F(Quantize, ALinkedOutputStaysALinkAndKeepsItsPermissions) {
  namespace fs = std::filesystem;
  write_file(folder_ / "text", "the cat sat on mat 7\n");
  write_file(folder_ / "linked", "");
  fs::permissions(path("linked"), fs::perms::owner_read | fs::perms::owner_write);
  fs::create_symlink("linked", path("int8.safetensors"));
  const ProcessResult result = quantize({"--src", path("text"), "--ref", path("text")});
  ASSERT_EQ(result.exit_code, 0) << result.errors;
  EXPECT_TRUE(fs::is_symlink(path("int8.safetensors")));
  EXPECT_GT(fs::file_size(path("linked")), 0u);
  EXPECT_EQ(fs::status(path("linked")).permissions(),
            fs::perms::owner_read | fs::perms::owner_write);
}

TEST_F(Quantize, ADeviceIsAnOutput) {
  write_file(folder_ / "text", "the cat sat on mat 7\n");
  const std::vector<std::string> words = {"quantize", path("model.safetensors"), "-o", "/dev/null"};
  const ProcessResult rounded = run(words);
  EXPECT_EQ(rounded.exit_code, 0);
  EXPECT_THAT(rounded.errors, HasSubstr("/dev/null: "));
  std::filesystem::create_symlink("/dev/null", path("null"));
  EXPECT_EQ(quantize({"-o", path("null"), "--src", path("text"), "--ref", path("text")}).exit_code,
            0);
  EXPECT_TRUE(std::filesystem::is_symlink(path("null")));
}

TEST_F(Quantize, TheModelOfARunIsNeverReplaced) {
  std::filesystem::create_directories(folder_ / "checkpoints");
  const std::string best = path("checkpoints/best.safetensors"), model = path("model.safetensors");
  std::filesystem::copy_file(model, best);
  const std::string before = read_file(model);
  for (const char* command : {"quantize", "average"}) {
    expect_failure(run({command, best, "-o", model}), 2, "model of the training run");
    expect_failure(run({command, best, "-o", best}), 2, "file that is read");
  }
  EXPECT_EQ(read_file(model), before);
}

TEST_F(Quantize, AnErrorNamesTheWrongFlagOrFile) {
  EXPECT_EQ(quantize({"--src", path("source")}).exit_code, 2);
  expect_one_error(quantize({"--max-loss", "3"}), 2, "--max-loss ... --src ... --ref");
  EXPECT_EQ(quantize({"--src", "-", "--ref", "-"}).exit_code, 2);
  expect_failure(run({"quantize", path("model.safetensors"), "-o", path("model.safetensors")}), 2,
                 "file that is read");
  write_file(folder_ / "source", "a\nb\n");
  write_file(folder_ / "reference", "a\n");
  const ProcessResult unequal = quantize({"--src", path("source"), "--ref", path("reference")});
  EXPECT_EQ(unequal.exit_code, 1);
  EXPECT_THAT(unequal.errors, HasSubstr("has 2 lines"));
  EXPECT_FALSE(std::filesystem::exists(path("int8.safetensors")));
}

}  // namespace
}  // namespace dragoman
