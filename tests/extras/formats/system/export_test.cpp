// dragoman export.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <set>

#include "base/files.h"
#include "tests/names.h"
#include "tests/system/translate_fixture.h"

namespace dragoman {
namespace {

using testing::HasSubstr;
namespace fs = std::filesystem;

class Export : public Translate {
 protected:
  std::string path(const std::string& name) const { return (folder_ / name).string(); }

  ProcessResult exported(const std::string& output) const {
    return run({"export", path("model.safetensors"), output});
  }

  std::set<std::string> names() const {
    std::set<std::string> names;
    for (const auto& entry : fs::directory_iterator(folder_.path()))
      names.insert(entry.path().filename().string());
    return names;
  }
};

TEST_F(Export, NoOtherFolderIsTouched) {
  fs::create_directory(folder_ / "en-de.part");
  write_file(folder_ / "en-de.part/work", "of a person");
  const ProcessResult result = exported(path("en-de/"));
  ASSERT_EQ(result.exit_code, 0) << result.errors;
  EXPECT_EQ(read_file(folder_ / "en-de.part/work"), "of a person");
  EXPECT_TRUE(fs::exists(folder_ / "en-de/model.bin"));
  EXPECT_EQ(names(), (std::set<std::string>{"en-de", "en-de.part", "model.safetensors"}));
}

TEST_F(Export, AnImportNeverReplacesAFileOfTheModelThatItReads) {
  const std::string model = path("en-de"), bin = model + "/model.bin";
  ASSERT_EQ(exported(model).exit_code, 0);
  const std::string before = read_file(bin);
  expect_failure(run({"import", model, "-o", bin}), 2, "file of the folder");
  EXPECT_EQ(read_file(bin), before);
  for (int again = 0; again < 2; ++again)
    EXPECT_EQ(run({"import", model, "-o", model + "/ours.safetensors"}).exit_code, 0);
}

TEST_F(Export, TheFolderHasTheUsualPermissions) {
  fs::create_directory(folder_ / "usual");
  ASSERT_EQ(exported(path("en-de")).exit_code, 0);
  EXPECT_EQ(fs::status(folder_ / "en-de").permissions(),
            fs::status(folder_ / "usual").permissions());
}

TEST_F(Export, ALinkToAnEmptyFolderStaysALink) {
  fs::create_directory(folder_ / "linked");
  fs::create_directory_symlink("linked", folder_ / "en-de");
  ASSERT_EQ(exported(path("en-de")).exit_code, 0);
  EXPECT_TRUE(fs::is_symlink(folder_ / "en-de"));
  EXPECT_TRUE(fs::exists(folder_ / "linked/model.bin"));
}

TEST_F(Export, AFullFolderIsRefusedAndNothingIsLeft) {
  fs::create_directory(folder_ / "full");
  write_file(folder_ / "full/file", "");
  const ProcessResult result = exported(path("full"));
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_THAT(result.errors, HasSubstr("not empty"));
  EXPECT_EQ(names(), (std::set<std::string>{"full", "model.safetensors"}));
  EXPECT_EQ(exported("").exit_code, 2);
}

TEST_F(Export, SettingsOfTheSearchThatAFormatLacksAreNamed) {
  write_decode_defaults(folder_ / "model.safetensors",
                        {{"stop", "marian"}, {"coverage-penalty", "0.2"}, {"beam-size", "5"}});
  const ProcessResult warned = exported(path("en-de"));
  EXPECT_EQ(warned.exit_code, 0);
  EXPECT_THAT(warned.errors, Names("CTranslate2 ... --coverage-penalty 0.2, --stop marian"));
  EXPECT_EQ(names(), (std::set<std::string>{"en-de", "model.safetensors"}));
  expect_failure(run({"export", path("model.safetensors"), path("hf"), "--format", "hf-marian"}), 1,
                 "MarianMTModel ... --coverage-penalty 0.2, --stop marian ... --drop-search");
  const ProcessResult other = run(
      {"export", path("model.safetensors"), path("hf"), "--format", "hf-marian", "--drop-search"});
  EXPECT_EQ(other.exit_code, 0);
  EXPECT_THAT(other.errors, Names("hf ... --coverage-penalty 0.2, --stop marian"));
}

TEST_F(Export, AnInt8ModelIsSaidToBeWrittenAsFloat32) {
  const std::string model = path("model.safetensors"), whole = path("int8.safetensors");
  ASSERT_EQ(run({"quantize", "-m", model, "-o", whole}).exit_code, 0);
  EXPECT_THAT(run({"export", whole, path("ct2")}).errors,
              Names("int8.safetensors ... 8 bits ... float32"));
  EXPECT_THAT(run({"export", whole, path("eight"), "--type", "int8"}).errors,
              testing::Not(HasSubstr("float32")));
  EXPECT_THAT(exported(path("plain")).errors, testing::Not(HasSubstr("float32")));
}

TEST_F(Export, TheNameOfHuggingFaceIsItsFormat) {
  const ProcessResult result =
      run({"export", path("model.safetensors"), path("hf"), "--format", "huggingface"});
  EXPECT_EQ(result.exit_code, 0) << result.errors;
  EXPECT_TRUE(fs::exists(folder_ / "hf/source.spm"));
}

TEST_F(Export, AFolderThatCannotBeReadAgainIsRemoved) {
  // A folder of CTranslate2 can be read only if its unknown piece is <unk>.
  const std::string usual = tokenizer_;
  for (std::size_t at; (at = tokenizer_.find("<unk>")) != tokenizer_.npos;)
    tokenizer_.replace(at, 5, "<unq>");
  write_model("model.safetensors", 1);
  tokenizer_ = usual;
  const ProcessResult result = exported(path("en-de"));
  expect_failure(result, 1, "folder was removed");
  EXPECT_THAT(result.errors, Names("vocabulary ... <unk>"));
  EXPECT_EQ(names(), (std::set<std::string>{"model.safetensors"}));
}

}  // namespace
}  // namespace dragoman
