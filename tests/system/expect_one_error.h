// A failure of the program as its user sees it.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "tests/system/process.h"

namespace dragoman {

/// One line on standard error with `what` in it, nothing on standard output.
inline void expect_one_error(const ProcessResult& result, int code, const std::string& what,
                             const std::string& program = "dragoman") {
  EXPECT_EQ(result.exit_code, code);
  EXPECT_EQ(result.output, "");
  EXPECT_THAT(result.errors,
              testing::AllOf(testing::StartsWith(program + ": error: "), testing::HasSubstr(what)));
  EXPECT_EQ(std::count(result.errors.begin(), result.errors.end(), '\n'), 1) << result.errors;
}

}  // namespace dragoman
