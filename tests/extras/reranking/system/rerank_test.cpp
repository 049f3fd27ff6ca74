// dragoman rerank: lists in, a line out for each, and what is refused.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <string>

#include "base/error.h"
#include "tests/names.h"
#include "tests/system/process.h"

namespace dragoman {
namespace {

using testing::HasSubstr;

constexpr const char* kList =
    "0 ||| eine Frau kocht ||| F0= -1 ||| -0.2\n"
    "0 ||| der Mann schläft ||| F0= -1.1 ||| -0.21\n"
    "0 ||| der Mann schläft ||| F0= -1.15 ||| -0.215\n"
    "0 ||| der Mann schlief ||| F0= -1.2 ||| -0.22\n"
    "1 ||| allein ||| F0= -3 ||| -1\n";

TEST(Rerank, EachLineGetsTheTranslationMostLikeTheOthers) {
  const ProcessResult result = run({"rerank"}, kList);
  EXPECT_EQ(result.exit_code, 0) << result.errors;
  EXPECT_EQ(result.output, "der Mann schläft\nallein\n");
  EXPECT_THAT(result.errors, HasSubstr("2 lines, another translation than the first for 1"));
}

TEST(Rerank, ATemperatureNearZeroKeepsTheBest) {
  const ProcessResult result = run({"rerank", "--temperature", "0.001"}, kList);
  EXPECT_EQ(result.output, "eine Frau kocht\nallein\n") << result.errors;
}

TEST(Rerank, ManyLinesStayInOrder) {
  std::string list, expected;
  for (int line = 0; line < 600; ++line)
    for (const std::string word : {"eins", "eins", "zwei"}) {
      list += join_text(line, " ||| ", word, " ", line, " ||| F0= -1 ||| -1\n");
      if (word == "zwei") expected += join_text("eins ", line, "\n");
    }
  EXPECT_EQ(run({"rerank"}, list).output, expected);
}

TEST(Rerank, TheOutputIsAFileOfItsOwn) {
  const TemporaryFolder folder;
  std::ofstream(folder / "list") << kList;
  const ProcessResult same = run({"rerank", "-i", folder / "list", "-o", folder / "list"});
  EXPECT_EQ(same.exit_code, 2);
  EXPECT_THAT(same.errors, HasSubstr("--output"));
  const ProcessResult result = run({"rerank", "-i", folder / "list", "-o", folder / "out"});
  EXPECT_EQ(result.exit_code, 0) << result.errors;
  EXPECT_EQ(result.output, "");
}

TEST(Rerank, OtherLinesAreNamed) {
  const ProcessResult text = run({"rerank"}, "Ein Mann schläft.\n");
  EXPECT_EQ(text.exit_code, 1);
  EXPECT_THAT(text.errors, HasSubstr("standard input:1"));
  EXPECT_THAT(text.errors, HasSubstr("--n-best"));
  const ProcessResult gap =
      run({"rerank"}, "0 ||| ja ||| F0= -1 ||| -1\n2 ||| nein ||| F0= -1 ||| -1\n");
  EXPECT_EQ(gap.exit_code, 1);
  EXPECT_THAT(gap.errors, HasSubstr("standard input:2"));
  EXPECT_EQ(run({"rerank", "--temperature", "0"}, kList).exit_code, 2);
}

TEST(Rerank, AnEmptyListGivesNoLine) {
  const ProcessResult result = run({"rerank"}, "");
  EXPECT_EQ(result.exit_code, 0) << result.errors;
  EXPECT_EQ(result.output, "");
}

}  // namespace
}  // namespace dragoman
