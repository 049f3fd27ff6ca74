#include "extras/report/short_names.h"

#include <gtest/gtest.h>

namespace dragoman {
namespace {

using Names = std::vector<std::string>;

TEST(ShortNames, WordsThatAllNamesHaveInCommonAreLeftOut) {
  EXPECT_EQ(short_names({"out/test.old.de", "out/test.new.de"}), (Names{"old", "new"}));
  EXPECT_EQ(short_names({"wmt/news2017.KIT.4950.en-de", "wmt/news2017.online-A.0.en-de"}),
            (Names{"KIT.4950", "online-A.0"}));
  EXPECT_EQ(short_names({"run/update-100.safetensors", "run/update-200.safetensors"}),
            (Names{"update-100", "update-200"}));
  EXPECT_EQ(short_names({"a/model/", "b/model/"}), (Names{"a", "b"}));
  EXPECT_EQ(short_names({"out/test.de"}), Names{"test"});
  EXPECT_EQ(short_names({"run/"}), Names{"run"});
}

TEST(ShortNames, WordsAndDecimalNumbersStayWhole) {
  const Names searches = {"beam 4, length penalty 0.6", "beam 4, length penalty 0.8"};
  EXPECT_EQ(short_names(searches), searches);
  EXPECT_EQ(short_names({"translated", "trained"}), (Names{"translated", "trained"}));
}

TEST(ShortNames, NamesAreNeverEmptyAndStayDifferent) {
  EXPECT_EQ(short_names({"a/", "a/b"}), (Names{"a/", "a/b"}));
  EXPECT_EQ(short_names({"/", "."}), (Names{"/", "."}));
  EXPECT_EQ(short_names({".x", "y.x"}), (Names{".x", "y.x"}));
  EXPECT_EQ(short_names({"a.b", "a.a.b"}), (Names{"b", "a.b"}));
  EXPECT_EQ(short_names({"-"}), Names{"-"});
  EXPECT_EQ(short_names({"/"}), Names{"/"});
}

}  // namespace
}  // namespace dragoman
