// translate --json: a line is a request, and each has an answer in its place.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <csignal>

#include "base/files.h"
#include "base/json.h"
#include "tests/names.h"
#include "tests/system/translate_fixture.h"

namespace dragoman {
namespace {

using nlohmann::json;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

class TranslateJson : public Translate {
 protected:
  ProcessResult ask(const std::string& input, std::vector<std::string> more = {}) {
    more.insert(more.begin(), "--json");
    return run(words(more), input);
  }

  std::vector<json> answers(const std::string& input, const std::vector<std::string>& more = {}) {
    const ProcessResult result = ask(input, more);
    EXPECT_EQ(result.exit_code, 0) << result.errors;
    std::vector<json> objects;
    for (const std::string& line : lines_of(result.output)) objects.push_back(parse_json(line));
    return objects;
  }

  std::string plain(const std::string& text, const std::vector<std::string>& more = {}) {
    return lines_of(run(words(more), text + "\n").output).at(0);
  }
};

TEST_F(TranslateJson, ObjectsComeBackWithTheirFieldsAndTheTranslation) {
  const auto found = answers(
      "{\"id\": [1, {\"a\": null}], \"text\": \"the cat\"}\n"
      "{\"text\": \"\", \"x\": \"\u00e4\"}\n"
      "{\"text\": \"number\\n7\", \"prefix\": \"mat\"}\n",
      {"--n-best", "3", "--alignment", "hard", "--word-scores"});
  ASSERT_EQ(found.size(), 3u);
  EXPECT_EQ(found[0]["id"], parse_json("[1, {\"a\": null}]"));
  EXPECT_EQ(found[0]["translation"], plain("the cat"));
  ASSERT_EQ(found[0]["alternatives"].size(), 2u);
  EXPECT_GE(found[0]["score"], found[0]["alternatives"][0]["score"]);
  EXPECT_NE(found[0]["translation"], found[0]["alternatives"][0]["translation"])
      << "the best one is written once";
  EXPECT_EQ(found[0]["words"].size(), found[0]["alignment"].size());
  EXPECT_EQ(found[1]["translation"], "");
  EXPECT_EQ(found[1]["x"], "\u00e4");
  EXPECT_THAT(found[2]["translation"].get<std::string>(), StartsWith("mat"));
}

TEST_F(TranslateJson, UnknownFieldsPassThroughToTheByte) {
  const std::string fields =
      "\"id\": 12345678901234567890123,\"a\": 1e400,\"b\" : [1.0,  -0,{\"c}\\\"\": "
      "\"],\\u00e9\\/\"}]"
      ",\"\u00e9\": 0.10";
  const std::string input = "{ " + fields + ", \"text\": \"the cat\", \"score\": 7 }\n";
  const ProcessResult result = ask(input);
  EXPECT_EQ(result.exit_code, 0) << result.errors;
  EXPECT_THAT(result.output,
              StartsWith("{" + fields + ",\"text\": \"the cat\",\"translation\":\""));
  EXPECT_NE(parse_json(result.output.substr(result.output.find(",\"text\"") + 1).insert(0, "{"))
                .at("score"),
            7)
      << "the answer's own fields are its own";
}

TEST_F(TranslateJson, ABadLineIsAnsweredInItsPlaceAndCostsNoOther) {
  const std::vector<std::string> bad = {"no json",
                                        "[1]",
                                        "",
                                        "{}",
                                        "{\"text\": 7}",
                                        "{\"text\": \"a\"",
                                        "{\"text\": \"\xff\"}",
                                        "{\"text\": \"a\", \"prefix\": []}",
                                        "{\"text\": \"a\", \"beam_size\": 0}",
                                        "{\"text\": \"a\", \"beam_size\": 1e9}",
                                        "{\"text\": \"a\", \"beam_size\": 2, \"n_best\": 3}",
                                        "{\"text\": \"a\", \"terms\": [\"b\"]}",
                                        "{\"text\": \"a\", \"terms\": {\"b\": \" \"}}",
                                        "{\"text\": \"a\", \"alignment\": \"firm\"}",
                                        "{\"text\": \"a\", \"x\": " + std::string(200'000, '[')};
  std::string input;
  for (const std::string& line : bad) input += "{\"text\": \"the cat\"}\n" + line + "\n";
  const ProcessResult result = ask(input + "{\"id\": 8, \"txt\": \"the cat\"}\n");
  EXPECT_EQ(result.exit_code, 1);
  const auto lines = lines_of(result.output);
  ASSERT_EQ(lines.size(), 2 * bad.size() + 1);
  const std::string expected = plain("the cat");
  for (std::size_t i = 0; i < bad.size(); ++i) {
    EXPECT_EQ(parse_json(lines[2 * i])["translation"], expected);
    const json answer = parse_json(lines[2 * i + 1]);
    EXPECT_EQ(answer["line"], 2 * i + 2) << bad[i];
    EXPECT_FALSE(answer["error"].get<std::string>().empty()) << bad[i];
    EXPECT_FALSE(answer.contains("translation"));
  }
  EXPECT_EQ(parse_json(lines.back())["id"], 8) << "whose answer it is can be told";
  EXPECT_THAT(result.errors, AllOf(Names("line 2 ... JSON object"), Names("16 lines")));
}

TEST_F(TranslateJson, ABeamIsRefusedBesideDraws) {
  const ProcessResult result =
      ask("{\"text\": \"the cat\", \"beam_size\": 2}\n{\"text\": \"the cat\"}\n", {"--sampling"});
  EXPECT_EQ(result.exit_code, 1);
  const auto lines = lines_of(result.output);
  ASSERT_EQ(lines.size(), 2u);
  EXPECT_THAT(parse_json(lines[0])["error"].get<std::string>(), Names("beam_size ... --sampling"));
  EXPECT_TRUE(parse_json(lines[1]).contains("translation"));
}

TEST_F(TranslateJson, AFlagWithoutEffectIsRefused) {
  const ProcessResult scores = ask("{}\n", {"--with-scores"});
  EXPECT_EQ(scores.exit_code, 2);
  EXPECT_THAT(scores.errors, HasSubstr("--with-scores: with --json"));
  const ProcessResult errors = run(words({"--json-errors", "stop"}), "the cat\n");
  EXPECT_EQ(errors.exit_code, 2);
  EXPECT_THAT(errors.errors, HasSubstr("--json-errors: needs --json"));
}

TEST_F(TranslateJson, ABadLineStopsTheWorkIfThatIsAskedFor) {
  const ProcessResult result =
      ask("{\"text\": \"the cat\"}\nno json\n{\"text\": \"mat\"}\n", {"--json-errors", "stop"});
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_EQ(lines_of(result.output).size(), 1u) << "what stands before it is answered";
  EXPECT_THAT(result.errors, Names("error: ... standard input:2 ... JSON object"));
}

TEST_F(TranslateJson, ABadLineBeforeAnInterruptionCountsToo) {
  const std::string out = folder_ / "out", line = "{\"text\": \"the cat\"}\n";
  Process process(words({"--json", "-o", out}));
  process.send("no json\n");
  wait_for_kept_line(out);
  process.send_signal(SIGINT);  // and the end of its input follows at once
  EXPECT_THAT(process.wait().errors, HasSubstr(".part; the same"));
  const ProcessResult resumed = ask("no json\n" + line, {"-o", out, "--resume"});
  EXPECT_EQ(resumed.exit_code, 1) << resumed.errors;
  EXPECT_EQ(lines_of(read_file(out)).size(), 2u);
}

TEST_F(TranslateJson, EachObjectMayHaveASearchOfItsOwn) {
  const std::string text = "the cat sat on mat 12";
  const std::string object = "{\"text\": \"" + text + "\"";
  std::string input;
  for (int i = 0; i < 40; ++i)
    input += object + "}\n" + object + ", \"beam_size\": 1}\n" + object +
             ", \"beam_size\": 400, \"n_best\": 3}\n" + object +
             ", \"alignment\": \"soft\", \"n_best\": 2}\n" + object +
             ", \"terms\": {\"cat\": " + "\"number mat\", \"Sat\": \"sat\"}}\n";
  const auto found = answers(input, {"--threads", "2", "--terms-force"});
  ASSERT_EQ(found.size(), 200u);
  const std::string usual = plain(text), greedy = plain(text, {"-b", "1"}),
                    wide = plain(text, {"-b", "400"});
  for (std::size_t i = 0; i < found.size(); i += 5) {
    EXPECT_EQ(found[i]["translation"], usual);
    EXPECT_FALSE(found[i].contains("alternatives"));
    EXPECT_EQ(found[i + 1]["translation"], greedy);
    EXPECT_EQ(found[i + 2]["translation"], wide);
    EXPECT_EQ(found[i + 2]["alternatives"].size(), 2u);
    EXPECT_EQ(found[i + 3]["translation"], usual);
    EXPECT_EQ(found[i + 3]["alternatives"][0]["alignment"].at(0).size(), 6u) << "source words";
    EXPECT_THAT(found[i + 4]["translation"].get<std::string>(), HasSubstr("number mat"));
    EXPECT_EQ(found[i + 2], found[2]);
  }
}

TEST_F(TranslateJson, TermsOfAnObjectComeBeforeTheGlossarys) {
  write_file(folder_ / "terms", "cat\tsat sat\nmat\tnumber\n");
  const auto found = answers(
      "{\"text\": \"the cat mat\", \"terms\": {\"cat\": \"mat 7\"}}\n{\"text\": \"the cat\"}\n",
      {"--terms", folder_ / "terms", "--terms-force"});
  EXPECT_THAT(found.at(0)["translation"].get<std::string>(),
              AllOf(HasSubstr("mat 7"), HasSubstr("number"), Not(HasSubstr("sat sat"))));
  EXPECT_THAT(found.at(1)["translation"].get<std::string>(), HasSubstr("sat sat"));
}

TEST_F(TranslateJson, APersonsLineIsAnsweredAtOnceThoughItIsEmpty) {
  Process process(words({"--json"}));
  process.send("\n");
  EXPECT_TRUE(process.wait_for_output("\"line\":1}\n"));
  EXPECT_EQ(process.wait().exit_code, 1);
}

}  // namespace
}  // namespace dragoman
