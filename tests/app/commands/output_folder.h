// A test of files that commands write: a folder of its own, and what a check refuses.
#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <functional>
#include <string>

#include "base/error.h"
#include "base/files.h"

namespace dragoman {

class OutputFolder : public testing::Test {
 protected:
  OutputFolder() {
    std::filesystem::remove_all(folder_);
    std::filesystem::create_directories(folder_);
  }
  ~OutputFolder() override { std::filesystem::remove_all(folder_); }

  std::string path(const std::string& name) const { return (folder_ / name).string(); }
  std::string file(const std::string& name, const std::string& text) const {
    write_file(folder_ / name, text);
    return path(name);
  }

  /// The message of the UsageError that `check` throws; "accepted" if it throws none.
  static std::string refusal(const std::function<void()>& check) {
    try {
      check();
    } catch (const UsageError& error) {
      return error.what();
    }
    return "accepted";
  }

  const std::filesystem::path folder_ =
      std::filesystem::path(testing::TempDir()) / ("output_folder_" + std::to_string(getpid()));
};

}  // namespace dragoman
