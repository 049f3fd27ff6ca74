// dragoman export.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <set>

#include "base/files.h"
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

TEST_F(Export, AFolderThatCannotBeReadAgainIsRemoved) {
  // CTranslate2's folders are read where the end of a sentence is </s>.
  std::string& bytes = tokenizer_;
  for (std::size_t at; (at = bytes.find("</s>")) != bytes.npos;) bytes.replace(at, 4, "</e>");
  bytes += "\x12\x07\xFA\x02\x04</e>";  // the trainer's setting eos_piece
  write_model("model.safetensors", 1);
  const ProcessResult result = exported(path("en-de"));
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_THAT(result.errors, HasSubstr("the check failed, and the folder was removed"));
  EXPECT_THAT(result.errors, HasSubstr("the vocabulary has no </s>"));
  EXPECT_EQ(names(), (std::set<std::string>{"model.safetensors"}));
}

}  // namespace
}  // namespace dragoman
