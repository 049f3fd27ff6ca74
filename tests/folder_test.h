// A folder for a test's files, which is removed when the test ends.
#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <string>
#include <string_view>

#include "base/files.h"

namespace dragoman {

class FolderTest : public testing::Test {
 protected:
  FolderTest() {
    const auto* info = testing::UnitTest::GetInstance()->current_test_info();
    folder = std::filesystem::path(testing::TempDir()) /
             ("dragoman-" + std::to_string(getpid()) + "-" + info->name());
    std::filesystem::create_directories(folder);
  }
  ~FolderTest() override {
    std::error_code ignored;
    std::filesystem::remove_all(folder, ignored);
  }

  /// Writes a file into the folder and returns its path.
  std::string write(const std::string& name, std::string_view text) const {
    write_file(folder / name, text);
    return (folder / name).string();
  }

  std::filesystem::path folder;
};

}  // namespace dragoman
