#include "app/commands/open_translator.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace dragoman {
namespace {

using testing::HasSubstr;

TEST(HostSearchNotice, SaysWhatIsNotSearchedForOnTheGpu) {
  OpenedTranslator opened{};
  Demands terms;
  terms.protects = true;
  EXPECT_EQ(host_search_notice(opened, 2, terms), "") << "on the CPU all is";
  opened.is_on_gpu = true;
  EXPECT_EQ(host_search_notice(opened, 1, {}), "");
  EXPECT_THAT(host_search_notice(opened, 1, terms), HasSubstr("a protected text"));
  EXPECT_THAT(host_search_notice(opened, 2, {}), HasSubstr("several models"));
}

}  // namespace
}  // namespace dragoman
