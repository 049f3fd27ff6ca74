#include "base/fields.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <string>
#include <vector>

#include "tests/names.h"

namespace dragoman {
namespace {

enum class Colour { Red, Blue };
constexpr std::array<std::string_view, 2> names_of(Colour) { return {"red", "blue"}; }

struct Settings {
  bool quiet = false;
  std::int64_t threads = 4;
  double rate = 0.1;
  std::string name = "a";
  Colour colour = Colour::Red;

  void for_each_field(const auto& visit) {
    const auto field = fields_under("", visit);
    field("quiet", quiet, "");
    field("threads", threads, "");
    field("rate", rate, "");
    field("name", name, "");
    field("colour", colour, "");
  }
};

std::string refusal_of(const Field& field, const std::vector<std::string>& texts) {
  return message_of<UsageError>([&] { field.assign(texts); });
}

TEST(Field, ANumberHasOneSign) {
  EXPECT_EQ(parse_number("x", "+1.5"), 1.5);
  EXPECT_EQ(parse_integer("x", "+5"), 5);
  EXPECT_THROW(parse_number("x", "+-1.5"), UsageError);
}

TEST(Field, EachKindReadsTheTextThatItWrites) {
  Settings settings{true, -7, 1.0 / 3, "b,c", Colour::Blue};
  Settings copy;
  const auto from = fields_of(settings), to = fields_of(copy);
  ASSERT_EQ(from.size(), 5u);
  for (std::size_t i = 0; i < from.size(); ++i) to[i].assign({from[i].text()});
  EXPECT_EQ(copy.quiet, true);
  EXPECT_EQ(copy.threads, -7);
  EXPECT_EQ(copy.rate, 1.0 / 3);
  EXPECT_EQ(copy.name, "b,c");
  EXPECT_EQ(copy.colour, Colour::Blue);
}

TEST(Field, FieldsOfSeveralConfigurationsComeInTheirOrder) {
  Settings first, second;
  const auto fields = fields_of(first, second);
  ASSERT_EQ(fields.size(), 10u);
  EXPECT_EQ(fields[1].info.name, "threads");
  EXPECT_EQ(fields[6].info.name, "threads");
  fields[1].assign({"1"});
  fields[6].assign({"2"});
  EXPECT_EQ(first.threads, 1);
  EXPECT_EQ(second.threads, 2);
}

TEST(Field, FieldsUnderAHeadingHaveItAndWhatElseIsSaid) {
  std::int64_t number = 0;
  FieldInfo seen;
  const auto visit = [&seen](const FieldInfo& info, std::int64_t& value) {
    seen = info;
    value = 7;
  };
  fields_under("Numbers", visit)("n", number, "a number", {.aliases = "m", .placeholder = "N"});
  EXPECT_EQ(number, 7);
  EXPECT_EQ(seen.name, "n");
  EXPECT_EQ(seen.help, "a number");
  EXPECT_EQ(seen.group, "Numbers");
  EXPECT_EQ(seen.aliases, "m");
  EXPECT_EQ(seen.placeholder, "N");
}

TEST(Field, AnErrorNamesTheFlagAndTheText) {
  Settings settings;
  const auto fields = fields_of(settings);
  for (const std::size_t i : {0, 1, 2, 4}) {
    const std::string flag(fields[i].info.name), message = refusal_of(fields[i], {"1.5x"});
    EXPECT_TRUE(message.starts_with("--" + flag)) << message;
    EXPECT_NE(message.find("1.5x"), std::string::npos) << message;
  }
  EXPECT_NE(refusal_of(fields[1], {"1", "2"}), "");
}

TEST(Field, WholeNumbersMayHaveUnderscoresAndUnits) {
  EXPECT_EQ(parse_integer("n", "1_000"), 1000);
  EXPECT_EQ(parse_integer("n", "32k"), 32'000);
  EXPECT_EQ(parse_integer("n", "3M"), 3'000'000);
  EXPECT_THROW(parse_integer("n", "1.5"), UsageError);
  EXPECT_THROW(parse_integer("n", "9223372036854775807k"), UsageError);
}

TEST(Field, AMessageHasTheNumberAsItWasWritten) {
  for (const std::string text :
       {"k", "10kk", "1_x", "99999999999999999999M", "+-5", "1__0", "_1", "1_", "1_k", "++5"}) {
    try {
      parse_integer("n", text);
      FAIL() << text;
    } catch (const UsageError& error) {
      EXPECT_THAT(error.what(), testing::HasSubstr(text));
    }
  }
}

TEST(Field, TheTextsOfAListComeBackAsTheyWere) {
  std::vector<std::string> list = {"a,b", "", "c\\", "\\,"};
  const Field field = detail::make_field({.name = "files", .help = ""}, list);
  const auto before = list;
  const std::string text = field.text();
  EXPECT_EQ(text, R"(a\,b,,c\\,\\\,)");
  EXPECT_EQ(text_of(list), text);
  list.clear();
  assign_text(field, text);
  EXPECT_EQ(list, before);
  assign_text(field, "");
  EXPECT_TRUE(list.empty());
}

TEST(NearestName, TheNearestNameHasTheFewestEditsIfAnyIsNear) {
  const std::vector<std::string> names = {"train", "translate", "score"};
  EXPECT_EQ(nearest_name("trian", names), "train");
  EXPECT_EQ(nearest_name("scor", names), "score");
  EXPECT_EQ(nearest_name("qqqqqqqq", names), "");
  EXPECT_EQ(nearest_name("lr", {"src", "tgt"}), "");
  EXPECT_EQ(nearest_name("sr", {"src", "tgt"}), "src");
}

}  // namespace
}  // namespace dragoman
