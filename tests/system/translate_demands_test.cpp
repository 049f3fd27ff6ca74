// The options of translate beyond the best translation: prefixes, terms, protected and avoided
// text, alignments, scores, ensembles.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/files.h"
#include "base/json.h"
#include "tests/names.h"
#include "tests/system/translate_fixture.h"
#include "tokenizer/train_tokenizer.h"

namespace dragoman {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::MatchesRegex;
using testing::Not;
using testing::StartsWith;

class TranslateDemands : public Translate {
 protected:
  std::string file(const std::string& name, const std::string& text) {
    write_file(folder_ / name, text);
    return (folder_ / name).string();
  }

  std::vector<std::string> translated(const std::vector<std::string>& more,
                                      const std::string& input) {
    const ProcessResult result = run(words(more), input);
    EXPECT_EQ(result.exit_code, 0) << result.errors;
    return lines_of(result.output);
  }

  std::string misuse(const std::vector<std::string>& more, int code = 2) {
    const ProcessResult result = run(words(more), "the cat\n");
    EXPECT_EQ(result.exit_code, code) << result.errors;
    return result.errors;
  }
};

TEST_F(TranslateDemands, APrefixBeginsTheTranslation) {
  const std::string prefixes = file("prefixes", "sat on\n\nmat\n");
  for (const char* beam : {"1", "4"}) {
    const auto lines =
        translated({"--prefix-file", prefixes, "-b", beam}, "the cat\nthe cat\nnumber 7\n");
    ASSERT_EQ(lines.size(), 3u);
    EXPECT_THAT(lines[0], StartsWith("sat on"));
    EXPECT_EQ(lines[1], translated({"-b", beam}, "the cat\n").at(0));
    EXPECT_THAT(lines[2], StartsWith("mat"));
  }
  EXPECT_THAT(misuse({"--prefix-file", file("none", "")}, 1), Names("0 lines ... input ... more"));
  EXPECT_THAT(misuse({"--prefix-file", prefixes}, 1), Names("3 lines ... input ... 1"));
  const std::string input = file("in", "the cat\nmat");
  EXPECT_THAT(misuse({"--prefix-file", prefixes, "-i", input}, 1),
              Names("3 lines ... input ... 2"));
}

TEST_F(TranslateDemands, TermsAndProtectedTextsStandInTheTranslation) {
  const std::string terms = file("terms.tsv", "cat\tnumber mat\nsat on\tthe cat\n");
  for (const char* beam : {"1", "5"}) {
    const auto lines = translated({"--terms", terms, "--protect", "--terms-force", "-b", beam},
                                  "the cat sat on 25 mats\nthe mat\n\n{name} 7\n");
    ASSERT_EQ(lines.size(), 4u);
    EXPECT_THAT(lines[0], AllOf(HasSubstr("number mat"), HasSubstr("the cat"), HasSubstr("25")));
    EXPECT_EQ(lines[1], translated({"-b", beam}, "the mat\n").at(0)) << "nothing is asked for";
    EXPECT_EQ(lines[2], "");
    EXPECT_THAT(lines[3], AllOf(HasSubstr("{name}"), HasSubstr("7")));
  }
  EXPECT_THAT(misuse({"--terms", file("bad.tsv", "a\tb\nno tab\n")}, 1), HasSubstr("bad.tsv:2: "));
  EXPECT_THAT(misuse({"--protect", "--sampling"}), HasSubstr("--sampling: "));
  EXPECT_THAT(translated({"--protect", "--terms-force", "--number-format", "en-de"}, "1,250.5\n"),
              ElementsAre(HasSubstr("1.250,5")));
  EXPECT_THAT(misuse({"--number-format", "en-de"}), HasSubstr("--number-format: needs --protect"));
  EXPECT_THAT(misuse({"--protect", "--number-format", "de"}), HasSubstr("--number-format de: "));
}

TEST_F(TranslateDemands, TheWordsOfAProtectedTextAreThoseOfTheTranslation) {
  // The tokenizer writes "1 000" and "104".
  const ProcessResult result =
      run(words({"--protect", "--terms-force", "--json", "--word-scores", "-b", "4"}),
          R"({"text": "the 1\u202F000 cats 10\u2074"})"
          "\n");
  ASSERT_EQ(result.exit_code, 0) << result.errors;
  const auto answer = parse_json(result.output);
  const auto text = answer["translation"].get<std::string>();
  EXPECT_THAT(text, AllOf(HasSubstr("1\u202F000"), HasSubstr("10\u2074")));
  std::string joined;
  for (const auto& word : answer["words"])
    joined += (joined.empty() ? "" : " ") + word["text"].get<std::string>();
  EXPECT_EQ(joined, text);
}

TEST_F(TranslateDemands, AvoidedAndSuppressedTextDoesNotAppear) {
  const std::string plain = translated({}, "the cat sat\n").at(0);
  const std::string avoided = file("avoid", plain + "\n");
  EXPECT_NE(translated({"--avoid", avoided}, "the cat sat\n").at(0), plain);
  const std::string piece = Tokenizer(tokenizer_, "tokenizer").pieces(plain).front();
  for (const std::string& line : translated({"--suppress", piece, "--n-best", "5"}, "the cat\n"))
    EXPECT_THAT(line, Not(HasSubstr("||| " + plain.substr(0, 3))));
  EXPECT_THAT(misuse({"--suppress", "nosuchpiece"}), HasSubstr("--suppress nosuchpiece: "));
}

TEST_F(TranslateDemands, NothingIsRepeatedIfThatIsForbidden) {
  const auto line =
      translated({"--no-repeat-ngram-size", "1", "--min-length", "6"}, "the cat\n").at(0);
  const auto pieces = Tokenizer(tokenizer_, "tokenizer").pieces(line);
  EXPECT_GE(pieces.size(), 4u);
  EXPECT_THAT(misuse({"--repetition-penalty", "0"}), HasSubstr("--repetition-penalty 0"));
  EXPECT_NE(translated({"--repetition-penalty", "5", "--min-length", "6"}, "the cat\n"),
            translated({"--min-length", "6"}, "the cat\n"));
}

TEST_F(TranslateDemands, AlignmentsAndScoresStandAfterTheTranslation) {
  const std::string plain = translated({}, "the cat sat\n").at(0);
  const std::string hard =
      translated({"--alignment", "hard", "--word-scores"}, "the cat sat\n").at(0);
  EXPECT_THAT(hard, StartsWith(plain + " ||| WordScores= -"));
  EXPECT_THAT(hard, MatchesRegex(".* \\|\\|\\| [0-2]-0( [0-2]-[0-9]+)*"));
  const std::string soft =
      translated({"--alignment", "soft", "--n-best", "2"}, "the cat sat\n").at(1);
  EXPECT_THAT(soft, MatchesRegex("0 \\|\\|\\| .* \\|\\|\\| F0= -[0-9.]+ \\|\\|\\| -[0-9.]+ "
                                 "\\|\\|\\| ([01]\\.[0-9]+,?)+( ([01]\\.[0-9]+,?)+)*"));
  EXPECT_THAT(misuse({"--alignment", "hard", "--attention-layer", "2"}),
              HasSubstr("--attention-layer 2: "));
  EXPECT_THAT(misuse({"--alignment", "hard", "--attention-layer", "0"}),
              HasSubstr("--attention-layer 0: "));
}

TEST_F(TranslateDemands, ManyLinesOfAnyLengthComeBackInOrder) {
  std::string input;
  for (int i = 0; i < 20'000; ++i) {
    input += "{\"id\": " + std::to_string(i) + ", \"text\": \"";
    for (int word = i * 7919 % 11; word > 0; --word) input += "the cat ";
    input += "\"}\n";
  }
  const auto lines = translated({"--json", "-b", "1", "--threads", "2"}, input);
  ASSERT_EQ(lines.size(), 20'000u);
  for (std::size_t i = 0; i < lines.size(); ++i)
    ASSERT_THAT(lines[i], StartsWith("{\"id\": " + std::to_string(i) + ","));
}

TEST_F(TranslateDemands, AnEnsembleOfOneModelTwiceIsThatModel) {
  const std::string model = (folder_ / "model.safetensors").string();
  const std::string input = "the cat sat\nmat number 7\n";
  const ProcessResult one = run({"translate", "-m", model, "--with-scores"}, input);
  const ProcessResult two = run({"translate", "-m", model, model, "--with-scores"}, input);
  ASSERT_EQ(two.exit_code, 0) << two.errors;
  const auto ours = lines_of(two.output), expected = lines_of(one.output);
  ASSERT_EQ(ours.size(), 2u);
  for (std::size_t i = 0; i < 2; ++i)
    EXPECT_EQ(ours[i].substr(0, ours[i].find("F0=")),
              expected[i].substr(0, expected[i].find("F0=")));

  write_model("other.safetensors", 3);
  const std::string other = (folder_ / "other.safetensors").string();
  const ProcessResult both = run({"translate", "-m", model, other, "--with-scores"}, input);
  EXPECT_EQ(both.exit_code, 0) << both.errors;
  EXPECT_NE(both.output, one.output);

  TokenizerConfig config;
  config.vocab_size = 300;
  std::string another = train_tokenizer({"another text"}, config).model_bytes;
  tokenizer_.swap(another);
  write_model("foreign.safetensors", 1);
  tokenizer_.swap(another);
  const ProcessResult foreign =
      run({"translate", "-m", model, (folder_ / "foreign.safetensors").string()}, input);
  EXPECT_EQ(foreign.exit_code, 1);
  EXPECT_THAT(foreign.errors, HasSubstr("another tokenizer"));
}

TEST_F(TranslateDemands, TextThatTheModelHasNotSeenIsCopied) {
  const std::string input =
      "the \u041C\u043E\u0441\u043A\u0432\u0430 \U0001F355 sat\n\u2713 \u2713\nthe c\u00E0t\nthe "
      "cat\n";
  const auto of_old_model = translated({}, input);
  write_model("model.safetensors", 1, "the cat number sat on mat 0123456789 X");
  const ProcessResult result = run(words({}), input);
  const auto lines = lines_of(result.output);
  ASSERT_EQ(lines.size(), 4u) << result.errors;
  EXPECT_THAT(lines[0],
              AllOf(HasSubstr("\u041C\u043E\u0441\u043A\u0432\u0430"), HasSubstr("\U0001F355")));
  EXPECT_EQ(lines[1], "\u2713 \u2713");
  EXPECT_EQ(lines[2], lines[3]) << "read without its accent";
  EXPECT_EQ(lines[3], of_old_model[3]);
  EXPECT_THAT(result.errors, Names("1 line ... copied"));

  const auto json = translated(
      {"--json"}, "{\"text\": \"the \u041C \U0001F355 mat\"}\n{\"text\": \"the cat\"}\n");
  EXPECT_EQ(parse_json(json[0])["unknown"], nlohmann::json({"\u041C", "\U0001F355"}));
  EXPECT_FALSE(parse_json(json[1]).contains("unknown"));
  EXPECT_EQ(translated({"--unknown-words", "translate"}, input), of_old_model);
}

}  // namespace
}  // namespace dragoman
