#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "base/files.h"
#include "tests/system/process.h"

namespace dragoman {
namespace {

using testing::HasSubstr;

class Evaluate : public testing::Test {
 protected:
  std::string file(const std::string& name, const std::string& text) {
    const auto path = folder_ / name;
    write_file(path, text);
    return path.string();
  }

  TemporaryFolder folder_;
  const std::string reference_ = file("ref", "a cat sat\nthe dog is here\nnothing\n");
  const std::string good_ = file("good", "a cat sat\nthe dog was here\nnothing\n");
  const std::string bad_ = file("bad", "the cats\na dog\n\n");
};

TEST_F(Evaluate, ComparesSystemsAndWritesAPageOfTheirSentences) {
  const std::string page = (folder_ / "page.html").string();
  const auto result =
      run({"evaluate", "--hyp", bad_, good_, "--ref", reference_, "--src", reference_, "--metrics",
           "chrf", "ter", "--paired-ar", "--format", "json", "--html", page});
  ASSERT_EQ(result.exit_code, 0) << result.errors;
  const auto list = nlohmann::json::parse(result.output);
  ASSERT_EQ(list.size(), 2U);
  EXPECT_EQ(list[0]["system"], bad_);
  EXPECT_GT(list[1]["chrF2"]["score"], list[0]["chrF2"]["score"]);
  EXPECT_LT(list[1]["TER"]["score"], list[0]["TER"]["score"]);
  EXPECT_TRUE(list[1]["TER"]["p_value"].is_number());
  const std::string html = read_file(page);
  EXPECT_THAT(html, HasSubstr("the dog <mark>was</mark> here"));
  EXPECT_THAT(html, HasSubstr("<i>nothing</i>"));
}

TEST_F(Evaluate, SaysWhatIsWrongWithAFile) {
  const auto expect = [this](const std::vector<std::string>& words, int code,
                             const std::string& message) {
    const auto result = run(words);
    EXPECT_EQ(result.exit_code, code) << result.errors;
    EXPECT_THAT(result.errors, HasSubstr(message));
    EXPECT_EQ(result.output, "");
  };
  const std::string page = (folder_ / "page.html").string();
  const std::string two = file("two", "a\nb\n"), odd = file("odd", "a\n\xFF\nc\n"),
                    empty = file("empty", "");
  expect({"evaluate", "--hyp", good_, two, "--ref", reference_, "--html", page}, 1,
         good_ + " has 3 lines but " + two + " has 2");
  expect({"evaluate", "--hyp", good_, "--ref", reference_, two}, 1,
         good_ + " has 3 lines but " + two + " has 2");
  expect({"evaluate", "--hyp", odd, "--ref", reference_}, 1, odd + ":2: invalid UTF-8");
  expect({"evaluate", "--hyp", empty, "--ref", empty}, 1, empty + " has no lines to score");
  expect({"evaluate", "--hyp", good_, good_, "--ref", reference_}, 2, "named twice");
  expect({"evaluate", "--hyp", good_, "--ref", reference_, "--paired-bs"}, 2,
         "--paired-bootstrap: name two or more systems");
  expect({"evaluate", "-m", "run/", "--ref", reference_}, 2, "--src: name the text");
  expect({"evaluate", "--ref", reference_}, 2, "name what to score");
  EXPECT_FALSE(std::filesystem::exists(page));
}

}  // namespace
}  // namespace dragoman
