// A test of files that commands write: a folder of its own, and what a check refuses.
#pragma once

#include <functional>
#include <string>

#include "base/error.h"
#include "tests/folder_test.h"

namespace dragoman {

class OutputFolder : public FolderTest {
 protected:
  std::string path(const std::string& name) const { return (folder / name).string(); }

  /// The message of the UsageError that `check` throws; "accepted" if it throws none.
  static std::string refusal(const std::function<void()>& check) {
    try {
      check();
    } catch (const UsageError& error) {
      return error.what();
    }
    return "accepted";
  }
};

}  // namespace dragoman
