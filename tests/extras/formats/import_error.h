// What the import of a model says that cannot be imported.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <string>

#include "base/error.h"
#include "extras/formats/import_model.h"

namespace dragoman {

/// The error, which has one line; "no error" where the import succeeds.
inline std::string import_error(const std::filesystem::path& path) {
  try {
    import_model(path);
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), testing::Not(testing::HasSubstr("\n")));
    return error.what();
  }
  return "no error";
}

}  // namespace dragoman
