#include "extras/formats/vocabulary_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"
#include "extras/formats/json_yaml.h"
#include "tests/extras/formats/damage.h"
#include "tests/model/file/scratch_file.h"
#include "tests/names.h"

namespace dragoman {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::StartsWith;
using testing::ThrowsMessage;

using Parser = std::vector<std::string> (*)(std::string_view);

void expect_refused(Parser parse, const std::string& text, const std::string& what) {
  EXPECT_THAT([&] { parse(text); }, ThrowsMessage<Error>(Names(what))) << text;
}

TEST(Vocabulary, PiecesAndIdsOfJsonAreReadInAnyOrder) {
  EXPECT_THAT(parse_json_vocabulary(R"({"</s>": 0, "\u2581b": 2, "a\"\\": 1})"),
              ElementsAre("</s>", "a\"\\", "\u2581b"));
}

TEST(Vocabulary, AListOfJsonIsRead) {
  EXPECT_THAT(parse_json_vocabulary("[\"<unk>\",\n\"a\", \"\\n\"]\n"),
              ElementsAre("<unk>", "a", "\n"));
}

TEST(Vocabulary, JsonOfAnotherFormIsRefused) {
  const auto refused = [](const std::string& text, const std::string& what) {
    expect_refused(parse_json_vocabulary, text, what);
  };
  refused("", "not JSON");
  refused("{", "not JSON");
  refused("7", "number ... piece");
  refused("{}", "empty");
  refused("[]", "empty");
  refused(R"({"a": 0, "b": 0})", "\"a\" ... \"b\" ... id 0");
  refused(R"({"a": 0, "a": 1})", "\"a\" occurs twice");
  refused(R"(["a", "a"])", "\"a\" occurs twice");
  refused(R"({"a": 0, "b": 2})", "id 1 ... \"b\" ... 2");
  refused(R"({"a": 1})", "id 0");
  refused(R"({"a": -1})", "negative number ... \"a\"");
  refused(R"({"a": 0.5})", "fraction ... \"a\"");
  refused(R"({"a": "0"})", "text ... \"a\"");
  refused(R"({"a": null})", "null ... \"a\"");
  refused(R"({"a": true})", "true or false ... \"a\"");
  refused(R"({"a": {"b": 0}})", "list or a map ... \"a\"");
  refused(R"(["a", 1])", "number ... piece");
  refused(R"([["a"]])", "list or a map");
  refused("[\"\xff\"]", "byte 2 ... UTF-8");
  refused(std::string("[\"a\"]\0", 6), "byte 6");
  refused(R"(["a"] x)", "not JSON");
  refused(std::string(1'000'000, '['), "list or a map");
}

TEST(Vocabulary, AFileThatMarianWritesIsRead) {
  EXPECT_THAT(parse_yaml_vocabulary("</s>: 0\n<unk>: 1\n\"\\\"\": 2\n\"\\x85\": 3\n'''': 4\n"
                                    "\"\\u2028a\": 5\n? \"key\"\n: 6\n\"#\": 7\n\u2581b: 8\n"
                                    "\"\\\\\": 9\n~: 10\n\"\": 11\n"),
              ElementsAre("</s>", "<unk>", "\"", "\u0085", "'", "\u2028a", "key", "#", "\u2581b",
                          "\\", "~", ""));
  EXPECT_THAT(parse_yaml_vocabulary("{\"a\": 1, \"b\": 0}"), ElementsAre("b", "a"));
}

TEST(Vocabulary, YamlOfAnotherFormIsRefusedWithItsLine) {
  const auto refused = [](const std::string& text, const std::string& what) {
    expect_refused(parse_yaml_vocabulary, text, what);
  };
  refused("", "map of names");
  refused("a", "line 1 ... map of names");
  refused("a: 0\nb: 0\n", "line 2 ... \"a\" ... \"b\" ... id 0");
  refused("a: 0\na: 1\n", "line 2 ... \"a\" ... twice");
  refused("a: 0\nb: 2\n", "id 1");
  refused("a: 0\nb: x\n", "line 2 ... \"b\" ... whole number");
  refused("a: 0\nb: 1x\n", "line 2 ... \"b\" ... whole number");
  refused("a: 0\nb: -1\n", "line 2 ... \"b\" ... whole number");
  refused("a: 0\nb:\n", "line 2 ... \"b\" ... whole number");
  refused("a: 0\nb: [1]\n", "line 2 ... \"b\" ... whole number");
  refused("a: 0\nb:\n  c: 1\n", "line 3 ... map within the map");
  refused("a: &x 0\nb: *x\n", "line 2: an alias");
  refused("a: 0\n\"\\N\": x\n", "line 2 ... escape ... UTF-8");
  refused("a: 0\n\"\\uD800\": 1\n", "line 2: ");
  refused("- a\n- b\n", "line 1: a list");
  refused("[a]: 0\n", "line 1: a list");
  refused("a: 0\n\"b: 1\n", "line ");
  refused("a: 0\n--- \nb: 1\n", "more than one document");
  refused("a: 0\nb\xff: 1\n", "byte 6 ... UTF-8");
  refused(std::string(100'000, '['), "line 1: a list");
  refused(std::string(100'000, '{'), "line 1: ");
  refused("a: " + std::string(100'000, '['), "line 1: ");
}

TEST(Vocabulary, APieceIsReadOnEachLine) {
  EXPECT_THAT(parse_text_vocabulary("<unk>\na b\nc"), ElementsAre("<unk>", "a b", "c"));
  expect_refused(parse_text_vocabulary, "", "empty");
  expect_refused(parse_text_vocabulary, "a\n\nb\n", "line 2: is empty");
  expect_refused(parse_text_vocabulary, "a\nb\na\n", "line 3 ... \"a\" ... twice");
  expect_refused(parse_text_vocabulary, "a\n\xff\n", "byte 2 ... UTF-8");
}

TEST(Vocabulary, TheEndingOfTheNameDecides) {
  EXPECT_THAT(read_vocabulary(ScratchFile("v.json", "[\"a\"]").path()), ElementsAre("a"));
  EXPECT_THAT(read_vocabulary(ScratchFile("v.yml", "a: 0").path()), ElementsAre("a"));
  EXPECT_THAT(read_vocabulary(ScratchFile("v.yaml", "a: 0").path()), ElementsAre("a"));
  EXPECT_THAT(read_vocabulary(ScratchFile("v.txt", "a").path()), ElementsAre("a"));
  const ScratchFile other("v.spm", "a"), broken("v.yml", "a: 1");
  EXPECT_THAT([&] { read_vocabulary(other.path()); }, ThrowsMessage<Error>(HasSubstr("end with")));
  EXPECT_THAT([&] { read_vocabulary(broken.path()); },
              ThrowsMessage<Error>(AllOf(StartsWith(broken.path().string()), HasSubstr("id 0"))));
}

TEST(Vocabulary, DamageIsRefusedOrHarmless) {
  const std::string json = R"({"</s>": 0, "\u2581b": 2, "a\"\\": 1, "c": 3})";
  const std::string yaml =
      "</s>: 0\n\"\\\"\": 1\n\"\\x85\": 2\n'''': 3\n? \"key\"\n: 4\n\u2581b: 5\n";
  accepted_beginnings(json, exercise_json_vocabulary);
  accepted_beginnings(yaml, exercise_yaml_vocabulary);
  EXPECT_GT(refused_flips(json, exercise_json_vocabulary), 10'000);
  EXPECT_GT(refused_flips(yaml, exercise_yaml_vocabulary), 10'000);
  EXPECT_GT(refused_flips("<unk>\na b\n\u2581c\n", exercise_text_vocabulary), 5'000);
}

TEST(YamlMap, TheOptionsOfAMarianModelAreRead) {
  const auto entries = parse_yaml_map(
      "dim-emb: 512\ndim-vocabs:\n  - 32000\n  - 32000\ntype: transformer\ntied: true\n"
      "none: []\nempty: ~\nversion: \"v1.12.0 65bf82f 2023-02-21\"\n");
  ASSERT_EQ(entries.size(), 7u);
  EXPECT_EQ(entries[0].name, "dim-emb");
  EXPECT_THAT(entries[0].values, ElementsAre("512"));
  EXPECT_FALSE(entries[0].is_list);
  EXPECT_TRUE(entries[1].is_list);
  EXPECT_THAT(entries[1].values, ElementsAre("32000", "32000"));
  EXPECT_EQ(entries[2].line, 5u);
  EXPECT_THAT(entries[4].values, ElementsAre());
  EXPECT_THAT(entries[6].values, ElementsAre("v1.12.0 65bf82f 2023-02-21"));
}

}  // namespace
}  // namespace dragoman
