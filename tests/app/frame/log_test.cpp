#include "app/frame/log.h"

#include <gtest/gtest.h>

namespace dragoman {
namespace {

TEST(Log, ControlCharactersAndInvalidBytesAreShown) {
  EXPECT_EQ(printable("a\x1b[2J\nb\xff\xc3\xa4"),
            "a\\x1b[2J\\x0a"
            "b\xef\xbf\xbd\xc3\xa4");
}

}  // namespace
}  // namespace dragoman
