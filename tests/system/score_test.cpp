#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <sstream>

#include "tests/names.h"
#include "tests/system/process.h"
#include "tests/system/run_folder_fixture.h"

namespace dragoman {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

std::vector<double> numbers_of(const std::string& output) {
  std::istringstream numbers(output);
  return {std::istream_iterator<double>(numbers), {}};
}

/// Both programs have the command.
class Score : public RunFolderTest, public testing::WithParamInterface<const char*> {
 protected:
  static ProcessResult run_program(const char* program, std::vector<std::string> arguments,
                                   const std::string& input = "") {
    arguments.insert(arguments.begin(), program);
    Process process(CommandWords{std::move(arguments)});
    process.send(input);
    return process.wait();
  }
  static ProcessResult run(std::vector<std::string> arguments, const std::string& input = "") {
    return run_program(GetParam(), std::move(arguments), input);
  }
  static void expect_error(const ProcessResult& result, int code, const std::string& what) {
    expect_one_error(result, code, what, std::filesystem::path(GetParam()).filename());
  }
};

TEST_P(Score, EachLineHasALineOfScores) {
  write_file(run_ / "a.en", "the cat sat\n\nnumber 12\r\nmat");
  write_file(run_ / "a.de", "mat 7\nthe cat\n\non\n");
  const std::string source = run_ / "a.en", target = run_ / "a.de";
  const auto score = [&](std::vector<std::string> words, const std::string& input = "") {
    words.insert(words.begin(), {"score", "-m", run_.path(), "--device", "cpu"});
    return run(words, input);
  };
  const auto plain = score({"--src", source, "--tgt", target});
  EXPECT_EQ(plain.exit_code, 0) << plain.errors;
  EXPECT_EQ(std::count(plain.output.begin(), plain.output.end(), '\n'), 4);
  EXPECT_THAT(plain.errors, AllOf(HasSubstr("4 lines"), HasSubstr("perplexity")));

  const auto detailed = score({"--src", source, "--tgt", target, "--per-token", "--normalize"});
  std::istringstream sums(plain.output), lines(detailed.output);
  std::string line;
  while (std::getline(lines, line)) {
    std::istringstream numbers(line);
    double expected, mean, value, sum = 0;
    int count = 0;
    sums >> expected;
    numbers >> mean;
    while (numbers >> value) sum += value, ++count;
    ASSERT_GT(count, 0);
    EXPECT_NEAR(sum, expected, 1e-4);
    EXPECT_NEAR(sum / count, mean, 1e-4);
    EXPECT_LT(sum, 0);
  }
  EXPECT_EQ(score({"--src", "-", "--tgt", target}, read_file(source)).output, plain.output);
}

TEST_P(Score, LinesThatHaveUnseenCharactersAreCounted) {
  const auto score = [&] {
    return run({"score", "-m", run_.path(), "--device", "cpu", "--src", run_ / "a.en", "--tgt",
                run_ / "a.de"});
  };
  write_file(run_ / "a.en", "the cat\n１２ mat\nthe \u041C cat\nth\u00E9 cat\n\u2713\n");
  write_file(run_ / "a.de", "mat 7\non\non\non\non\n");
  const auto without_record = score();
  EXPECT_THAT(without_record.errors, Not(HasSubstr("--src")));

  SmallModel model(Tokenizer(tokenizer_, "tokenizer").size());
  model.contents.tokenizer_source = tokenizer_;
  model.contents.provenance.characters.emplace().source.add_all("the cat number 0123456789 on mat");
  write_model_file(this->model(), model.contents);
  const auto scored = score();
  EXPECT_EQ(scored.exit_code, 0) << scored.errors;
  EXPECT_EQ(scored.output, without_record.output);
  EXPECT_THAT(scored.errors, Names("3 of 5 lines ... --src ... line 3"))
      << "the tokenizer makes plain digits of the wide ones";

  write_file(run_ / "a.en", "the cat\nmat\n\non\nnumber 1\n");
  EXPECT_THAT(score().errors, Not(HasSubstr("--src")));
}

TEST_P(Score, LinesThatTheModelCannotWriteAreCountedAndOneIsShown) {
  write_file(run_ / "a.en", "the cat\nthe cat\nthe cat\n");
  write_file(run_ / "a.de", "mat 7\nmat 10⁴ on\n½\n");
  const auto scored = run({"score", "-m", run_.path(), "--device", "cpu", "--src", run_ / "a.en",
                           "--tgt", run_ / "a.de"});
  EXPECT_EQ(scored.exit_code, 0) << scored.errors;
  EXPECT_THAT(scored.errors,
              AllOf(Names("2 of 3 lines ... --tgt"), Names("line 2 ... \"10⁴\" ... \"104\"")));
}

TEST_P(Score, SentencesAreScoredApartIfBothSidesHaveAsMany) {
  write_file(run_ / "a.en", "The cat. The mat.\nThe cat. The mat.\nThe cat.\nThe mat.\n");
  write_file(run_ / "a.de", "Mat 7. On 3.  \nMat 7 on 3.\nMat 7.\nOn 3.\n");
  const auto score = [&](const std::string& choice) {
    const auto result = run({"score", "-m", run_.path(), "--src", run_ / "a.en", "--tgt",
                             run_ / "a.de", "--split-sentences", choice});
    EXPECT_EQ(result.exit_code, 0) << result.errors;
    return numbers_of(result.output);
  };
  const auto apart = score("always"), together = score("never");
  ASSERT_EQ(apart.size(), 4u);
  EXPECT_NEAR(apart[0], apart[2] + apart[3], 1e-4);
  EXPECT_NE(apart[0], together[0]);
  EXPECT_EQ(apart[1], together[1]) << "two sentences beside one";
  EXPECT_EQ(score("auto"), apart) << "of a model that does not say";
}

TEST_P(Score, FewPiecesAtATimeHaveTheSameScores) {
  std::string text;
  for (int i = 0; i < 40; ++i) text += "the cat number " + std::string(i % 7, '8') + " sat\n";
  write_file(run_ / "a.txt", text);
  const auto score = [&](const std::string& max_tokens) {
    const ProcessResult result = run({"score", "-m", run_.path(), "--src", run_ / "a.txt", "--tgt",
                                      run_ / "a.txt", "--max-tokens", max_tokens});
    EXPECT_EQ(result.exit_code, 0) << result.errors;
    return numbers_of(result.output);
  };
  const std::vector<double> together = score("4096"), alone = score("1");
  ASSERT_EQ(together.size(), 40u);
  for (std::size_t i = 0; i < together.size(); ++i) EXPECT_NEAR(together[i], alone[i], 1e-4);
}

class ScoreOfBothPrograms : public Score {};

TEST_F(ScoreOfBothPrograms, BothProgramsGiveTheSameScores) {
  std::string source, target;
  for (int i = 0; i < 300; ++i) {
    source += "the cat number " + std::to_string(i * 31) + (i % 5 == 0 ? ". It sat.\n" : "\n");
    target += i % 11 == 0 ? "\n" : "mat " + std::to_string(i) + " sat on. The cat \u4f60.\n";
  }
  write_file(run_ / "a.en", source);
  write_file(run_ / "a.de", target);
  const auto score = [&](const char* program) {
    const ProcessResult result =
        run_program(program, {"score", "-m", run_.path(), "--device", "cpu", "--src", run_ / "a.en",
                              "--tgt", run_ / "a.de", "--per-token"});
    EXPECT_EQ(result.exit_code, 0) << result.errors;
    return numbers_of(result.output);
  };
  const std::vector<double> torch = score(kProgram), lite = score(kLiteProgram);
  ASSERT_EQ(torch.size(), lite.size());
  ASSERT_GT(torch.size(), 2000u);
  for (std::size_t i = 0; i < torch.size(); ++i) EXPECT_NEAR(torch[i], lite[i], 1e-4);
}

/// The command reads the lines, whichever program scores them.
TEST_F(ScoreOfBothPrograms, LinesThatCannotBeScoredAreRefused) {
  write_file(run_ / "two.txt", "the cat\nmat\n");
  write_file(run_ / "one.txt", "the cat\n");
  write_file(run_ / "invalid.txt", "the \xff\n");
  write_file(run_ / "empty.txt", "");
  const std::string one = run_ / "one.txt", empty = run_ / "empty.txt";
  const auto expect_refusal = [&](std::vector<std::string> words, int code,
                                  const std::string& what) {
    words.insert(words.begin(), {"score", "-m", run_.path(), "--src"});
    expect_one_error(run_program(kLiteProgram, words), code, what, "dragoman-lite");
  };
  expect_refusal({one, "--tgt", run_ / "two.txt"}, 1, "one.txt ... 1 line");
  expect_refusal({one, "--tgt", run_ / "invalid.txt"}, 1, "invalid.txt:1 ... iconv");
  expect_refusal({empty, "--tgt", empty}, 1, "empty.txt ... no lines");
  expect_refusal({one, "--tgt", "-"}, 1, "one.txt has 1 line ... standard input has 0 lines");
  expect_refusal({one, "--tgt", one, "--max-length", "2"}, 1, "one.txt:1");
  expect_refusal({one}, 2, "--tgt");
}

TEST_P(Score, AnUnknownDeviceOrADamagedOrUnreadableModelIsOneLine) {
  write_file(run_ / "a.txt", "the cat\n");
  const std::string text = run_ / "a.txt";
  auto files = write_unreadable_files();
  files.emplace_back(write_damaged_file(), "is damaged");
  for (const auto& [file, what] : files)
    expect_error(run({"score", "-m", file, "--src", text, "--tgt", text}), 1, what);
  expect_error(run({"score", "-m", run_.path(), "--src", text, "--tgt", text, "--device", "tpu"}),
               2, "--device");
}

INSTANTIATE_TEST_SUITE_P(Programs, Score, testing::Values(kProgram, kLiteProgram),
                         [](const auto& program) {
                           return program.index == 0 ? "Dragoman" : "DragomanLite";
                         });

}  // namespace
}  // namespace dragoman
