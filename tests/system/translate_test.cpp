// dragoman translate, with a model of untrained weights. Its translations mean nothing, but line i
// of the output translates line i of the input.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <csignal>
#include <fstream>
#include <nlohmann/json.hpp>

#include "base/files.h"
#include "model/file/model_file.h"
#include "tests/names.h"
#include "tests/system/process.h"
#include "tests/system/translate_fixture.h"

namespace dragoman {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::StartsWith;
using std::string_literals::operator""s;

TEST_F(Translate, EachLineHasItsTranslationAndTheSummaryGoesToStandardError) {
  const ProcessResult result = run(words(), kInput);
  EXPECT_EQ(result.exit_code, 0) << result.errors;
  const auto lines = lines_of(result.output);
  ASSERT_EQ(lines.size(), 6u);
  EXPECT_EQ(lines[1], "");
  EXPECT_EQ(lines[2], "");
  EXPECT_THAT(result.errors,
              AllOf(HasSubstr("6 lines"), HasSubstr("2 lines empty"), Names("1 line ... UTF-8")));
}

TEST_F(Translate, FilesAndPipesAndAnyBatchSizeGiveTheSame) {
  const std::string expected = run(words(), kInput).output;
  write_file(folder_ / "in", kInput);
  const auto in = (folder_ / "in").string(), out = (folder_ / "out").string();
  const ProcessResult result = run(words({"-i", in, "-o", out, "--batch-size", "5"}));
  EXPECT_EQ(result.exit_code, 0) << result.errors;
  EXPECT_EQ(result.output, "");
  EXPECT_EQ(read_file(out), expected);
  EXPECT_EQ(run(words({"-i", in, "-o", "/dev/stdout"})).output, expected);
}

TEST_F(Translate, APersonIsAnsweredAtEachLine) {
  Process process(words({"-b", "1"}));
  process.send("the cat\n");
  EXPECT_TRUE(process.wait_for_output("\n"));
  EXPECT_EQ(lines_of(process.output()).size(), 1u);
  process.send("the mat\n");
  const ProcessResult result = process.wait();
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_EQ(lines_of(result.output).size(), 2u);
}

TEST_F(Translate, NBestAreWrittenWithTheirScores) {
  const auto lines =
      lines_of(run(words({"-b", "3", "--n-best", "2"}), "the cat\nthe mat\n").output);
  ASSERT_EQ(lines.size(), 4u);
  for (std::size_t i = 0; i < 4; ++i) {
    EXPECT_THAT(lines[i], StartsWith(i < 2 ? "0 ||| " : "1 ||| "));
    EXPECT_THAT(lines[i], testing::ContainsRegex("[|]{3} F0= -?[0-9.]+ [|]{3} -?[0-9.]+$"));
  }
}

TEST_F(Translate, ASignalLeavesNoHalfFile) {
  Process process(words({"-o", folder_ / "out"}));
  process.send("the cat\n");
  wait_for_kept_line(folder_ / "out");
  process.send_signal(SIGTERM);
  EXPECT_TRUE(process.wait_for_errors("SIGTERM"));  // before its input ends
  EXPECT_EQ(process.wait().exit_code, 128 + SIGTERM);
  EXPECT_FALSE(std::filesystem::exists(folder_ / "out"));
}

TEST_F(Translate, AResumedFileHasTheSameBytes) {
  std::string text;
  for (int i = 0; i < 400; ++i) text += "the cat number " + std::to_string(i) + " sat on mat\n";
  write_file(folder_ / "in", text);
  const std::string in = folder_ / "in", out = folder_ / "out";
  const std::vector<std::vector<std::string>> searches = {
      {}, {"--n-best", "3"}, {"--sampling", "--n-best", "2", "--seed", "7"}, {"--with-scores"}};
  int interrupted = 0;
  for (std::vector<std::string> flags : searches) {
    const std::string whole = run(words(flags), text).output;
    flags.insert(flags.end(), {"-i", in, "-o", out});
    Process process(words(flags));
    wait_for_kept_line(out);
    process.send_signal(SIGKILL);
    process.wait();
    if (std::filesystem::remove(out)) continue;  // it was faster
    ++interrupted;
    const auto parts = parts_in(folder_.path());
    ASSERT_EQ(parts.size(), 1u);
    std::ofstream(parts[0], std::ios::app) << "half a li";
    const ProcessResult result = run(words(flags));
    EXPECT_EQ(result.exit_code, 0) << result.errors;
    EXPECT_THAT(result.errors, HasSubstr(" already there, ")) << "some were there";
    EXPECT_EQ(read_file(out), whole);
    EXPECT_EQ(parts_in(folder_.path()).size(), 0u);
    std::filesystem::remove(out);
  }
  EXPECT_GT(interrupted, 0);
}

TEST_F(Translate, OnlyTheSameCommandContinuesAPartFile) {
  write_file(folder_ / "in", "the cat\nmat\n");
  const std::string in = folder_ / "in", out = folder_ / "out";
  write_file(folder_ / "prefixes", "a\nb\nc\n");
  Process process(words({"-o", out}));
  process.send("the cat\n");
  wait_for_kept_line(out);
  process.send_signal(SIGINT);  // and the end of its input follows at once
  const ProcessResult stopped = process.wait();
  EXPECT_EQ(stopped.exit_code, 128 + SIGINT);
  EXPECT_THAT(stopped.errors, AllOf(HasSubstr(" 1 line, "), Names("out ... 1 line ... translated"),
                                    Names(".part ... same command")));
  for (const std::vector<std::string>& more : {std::vector<std::string>{"-o", out}, {"--resume"}}) {
    expect_failure(run(words({"-o", out, "-b", "2", more.front(), more.back()}), "the cat\nmat\n"),
                   1, ".part ... unfinished output ... another -o");
  }
  expect_failure(run(words({"-o", out, "--resume"}), ""), 1, ".part ... another input");
  EXPECT_EQ(run(words({"-o", out, "--resume"}), "the cat\nmat\n").exit_code, 0);
  EXPECT_EQ(read_file(out), run(words({"-i", in})).output);
  EXPECT_EQ(run(words({"--resume"})).exit_code, 2);
}

TEST_F(Translate, TheSameContentsUnderOtherNamesResumeAnUnfinishedOutput) {
  write_file(folder_ / "in", "{\"text\": \"the cat\"}\nno json\n{\"text\": \"mat\"}\n");
  const std::string in = folder_ / "in", out = folder_ / "out";
  const std::string whole = run(words({"--json", "-i", in})).output;
  const auto stopped = run(words({"--json", "--json-errors", "stop", "-i", in, "-o", out}));
  EXPECT_EQ(stopped.exit_code, 1);
  ASSERT_EQ(parts_in(folder_.path()).size(), 1u) << stopped.errors;
  std::filesystem::rename(in, folder_ / "renamed");
  std::filesystem::last_write_time(folder_ / "renamed",
                                   std::filesystem::file_time_type::clock::now());
  std::filesystem::rename(folder_ / "model.safetensors", folder_ / "other.safetensors");
  const ProcessResult resumed =
      run({"translate", "-m", folder_ / "other.safetensors", "--max-length", "6", "--json", "-i",
           folder_ / "renamed", "-o", out});
  EXPECT_THAT(resumed.errors, HasSubstr(" already there, "));
  EXPECT_EQ(read_file(out), whole);
}

TEST_F(Translate, ATextInTheCommandIsTranslated) {
  const std::string expected = run(words(), "the cat sat\n").output;
  for (const std::vector<std::string>& call :
       {std::vector<std::string>{"-m", folder_.path(), "the cat sat"},
        {"the cat sat", "-m", folder_.path()},
        {"-m", folder_.path(), "--text", "the cat sat"}}) {
    std::vector<std::string> all = {"translate", "--max-length", "6"};
    all.insert(all.end(), call.begin(), call.end());
    const ProcessResult result = run(all, "an input that nobody reads\n");
    EXPECT_EQ(result.exit_code, 0) << result.errors;
    EXPECT_EQ(result.output, expected);
  }
  std::string longer_than_a_name;
  for (int i = 0; i < 30; ++i) longer_than_a_name += "the cat sat ";
  const ProcessResult after =
      run({"translate", "--max-length", "6", "-m", folder_.path(), longer_than_a_name});
  EXPECT_EQ(after.exit_code, 0) << after.errors;
  EXPECT_EQ(
      after.output,
      run({"translate", "--max-length", "6", longer_than_a_name, "-m", folder_.path()}).output);
  write_file(folder_ / "in.en", "the cat\n");
  const std::string folder = folder_.path(), in = folder_ / "in.en";
  expect_one_error(run({"translate", "-m", folder, "cat"}), 2,
                   "--model ... cat ... --text \"cat\"");
  expect_one_error(run({"translate", "-m", folder, "the", "cat"}), 2, "quotes");
  expect_one_error(run({"translate", "-m", folder, "a b", "c d"}), 1, "a b ... no such model");
  expect_one_error(run({"translate", in, "-m", folder}), 2, "--input " + in);
  expect_one_error(run({"translate", folder}), 2, "-m " + folder);
  expect_one_error(run({"translate", "-m", folder, "-i", in, "a b"}), 2, "--input: ");
  expect_one_error(run({"translate", "-m", folder, ""}), 2, "--model ... " + folder + " ... empty");
  expect_one_error(run({"translate", "-m", folder, "--text", ""}), 2, "--text ... empty");
}

TEST_F(Translate, AnotherTextFromAPipeIsNotMixedIn) {
  const std::string out = folder_ / "out";
  Process process(words({"-o", out, "--with-scores"}));
  process.send("the cat\n");
  wait_for_kept_line(out);
  process.send_signal(SIGINT);
  process.wait();
  expect_failure(run(words({"-o", out, "--with-scores", "--resume"}), "mat\nthe cat\n"), 1,
                 ".part ... another input");
  EXPECT_EQ(run(words({"-o", out, "--with-scores", "--resume"}), "the cat\nmat\n").exit_code, 0);
}

TEST_F(Translate, TheConfigurationIsNotReplacedByTheOutput) {
  const std::string toml = folder_ / "t.toml", text = "max-length = 5\n";
  write_file(toml, text);
  expect_failure(run(words({"-c", toml, "-o", toml}), "the cat\n"), 2, "t.toml ... another file");
  EXPECT_EQ(read_file(toml), text);
}

TEST_F(Translate, AFinishedFileIsNotTranslatedAgainByAResume) {
  write_file(folder_ / "in", "the cat\nmat\n");
  const std::string in = folder_ / "in", out = folder_ / "out";
  for (const std::vector<std::string>& flags : {std::vector<std::string>{}, {"--n-best", "3"}}) {
    std::vector<std::string> all = flags;
    all.insert(all.end(), {"-i", in, "-o", out});
    EXPECT_EQ(run(words(all)).exit_code, 0);
    all.push_back("--resume");
    const std::string before = read_file(out);
    const auto time = std::filesystem::last_write_time(out);
    const ProcessResult again = run(words(all));
    EXPECT_EQ(again.exit_code, 0);
    EXPECT_THAT(again.errors, Names("out ... complete ... 2 lines"));
    EXPECT_EQ(read_file(out), before);
    EXPECT_EQ(std::filesystem::last_write_time(out), time);
  }
  expect_failure(run(words({"--n-best", "3", "-o", out, "--resume"}), "a\nb\nc\n"), 1,
                 "out ... 2 lines ... standard input ... 3 lines");
}

TEST_F(Translate, AWordWithoutEndIsCutAndNamedByItsLine) {
  const ProcessResult result =
      run(words({"-b", "1"}), "the cat\nmat " + std::string(3'000'000, 'z') + "\n");
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_EQ(lines_of(result.output).size(), 2u);
  EXPECT_THAT(result.errors,
              AllOf(Names("line 2 ... 5,000 pieces"), Names("1 word ... 5,000 pieces")));
}

TEST_F(Translate, InvalidUtf8IsWarnedAboutAtItsFirstLine) {
  const ProcessResult result = run(words(), "the cat\nm\xFFt\n\xE9t\xE9\n");
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_THAT(result.errors, AllOf(Names("line 2 ... UTF-8"), HasSubstr("iconv -f latin1"),
                                   Names("2 lines ... UTF-8"), testing::Not(HasSubstr("line 3:"))));
}

TEST_F(Translate, InputAndModelAreNeverReplacedByTheOutput) {
  write_file(folder_ / "in", "the cat\n");
  write_file(folder_ / "terms", "cat\tmat\n");
  std::filesystem::create_symlink(folder_ / "in", folder_ / "link");
  const std::string in = folder_ / "in", model = folder_ / "model.safetensors";
  const std::string before = read_file(model);
  for (const std::string& out : {in, (folder_ / "link").string()}) {
    const ProcessResult result = run(words({"-i", in, "-o", out}));
    expect_failure(result, 2, "--output ... input");
  }
  const std::string terms = folder_ / "terms";
  for (const std::string& out : {model, terms}) {
    expect_failure(run(words({"-i", in, "--terms", terms, "-o", out})), 2, "--output ... " + out);
  }
  EXPECT_EQ(read_file(in), "the cat\n");
  EXPECT_EQ(read_file(model), before);
}

TEST_F(Translate, AFileKeepsItsRightsAndLinksStayLinks) {
  const auto out = folder_ / "out", link = folder_ / "link";
  write_file(out, "old\n");
  std::filesystem::permissions(
      out, std::filesystem::perms::owner_read | std::filesystem::perms::owner_write);
  std::filesystem::create_symlink("out", link);
  EXPECT_EQ(run(words({"-o", link}), "the cat\n").exit_code, 0);
  EXPECT_TRUE(std::filesystem::is_symlink(link));
  EXPECT_NE(read_file(out), "old\n");
  EXPECT_EQ(std::filesystem::status(out).permissions(),
            std::filesystem::perms::owner_read | std::filesystem::perms::owner_write);
}

TEST_F(Translate, TheProgramEndsQuietlyIfTheReaderHasGone) {
  write_file(folder_ / "in", std::string(200'000, '\n'));
  const std::string in = folder_ / "in", text = folder_ / "text";
  write_file(text, "the cat\n");
  const std::string commands[] = {
      "translate -m " + folder_.path().string() + " -i " + in,
      "score -m " + folder_.path().string() + " --per-token --src " + in + " --tgt " + in,
      "evaluate --hyp " + in + " --ref " + in + " --sentence-level --force"};
  for (const std::string& command : commands) {
    Process process(CommandWords{{"bash", "-c",
                                  std::string(kProgram) + " " + command +
                                      " | head -n 1 > /dev/null; exit ${PIPESTATUS[0]}"}});
    const ProcessResult result = process.wait();
    EXPECT_EQ(result.exit_code, 128 + SIGPIPE) << command << result.errors;
    EXPECT_THAT(result.errors, testing::Not(HasSubstr("error"))) << command;
  }
}

TEST_F(Translate, AWrongFlagOrFileIsNamedInOneLine) {
  expect_one_error(run({"translate"}), 2, "--model");
  expect_one_error(run(words({"--beam-size", "0"})), 2, "--beam-size 0");
  expect_one_error(run(words({"--beem", "3"})), 2, "--beem");
  expect_one_error(run(words({"-i", folder_ / "missing"})), 1, "missing: cannot open");
  expect_one_error(run(words({"-i", folder_.path()})), 1, "Is a directory");
  expect_one_error(run({"translate", "-m", folder_ / "missing"}), 1, "missing");
  expect_one_error(run(words({"-o", "/dev/full"}), "the cat\n"), 1, "/dev/full: cannot write");
  expect_one_error(run(words({"-o", folder_ / "none" / "out"})), 1, "none ... folder");
  expect_one_error(run({"translate", folder_.path()}), 2, "-m ");
  write_file(folder_ / "in.en", "the cat sat on the mat\n");
  expect_one_error(run({"translate", "-m", folder_.path(), folder_ / "in.en"}), 2,
                   "in.en ... --input");
  expect_one_error(run(words({"in.en"})), 2, "--input in.en");
}

TEST_F(Translate, AFlagThatDoesNotChangeDrawsIsRefusedBesideThem) {
  const std::vector<std::vector<std::string>> flags = {{"--beam-size", "4"},
                                                       {"--stop", "exact"},
                                                       {"--length-penalty", "2"},
                                                       {"--word-penalty", "0.1"},
                                                       {"--coverage-penalty", "0.3"}};
  for (const std::vector<std::string>& flag : flags) {
    std::vector<std::string> drawn = flag;
    drawn.push_back("--sampling");
    expect_one_error(run(words(drawn), "the cat\n"), 2, flag[0] + " ... --sampling");
  }
  for (const std::vector<std::string>& ordered :
       {std::vector<std::string>{"--n-best", "2"}, {"--with-scores"}}) {
    std::vector<std::string> drawn = {"--sampling", "--length-penalty", "2"};
    drawn.insert(drawn.end(), ordered.begin(), ordered.end());
    EXPECT_EQ(run(words(drawn), "the cat\n").exit_code, 0) << "their score counts";
  }
  write_decode_defaults(folder_ / "model.safetensors",
                        {{"beam-size", "4"}, {"length-penalty", "2"}});
  EXPECT_EQ(run(words({"--sampling"}), "the cat\n").exit_code, 0) << "the model's defaults may";
}

TEST_F(Translate, ADamagedModelIsRefused) {
  const auto path = folder_ / "model.safetensors";
  const std::string whole = read_file(path);
  write_file(path, whole.substr(0, whole.size() - 40));
  expect_one_error(run(words(), "the cat\n"), 1, "model.safetensors");
  std::string flipped = whole;
  flipped[whole.size() - 40] ^= 1;
  write_file(path, flipped);
  expect_one_error(run(words(), "the cat\n"), 1, "model.safetensors");
}

TEST_F(Translate, AnyNumberOfThreadsGivesTheSameInEachArithmetic) {
  std::string input;
  for (int i = 0; i < 200; ++i) input += "the cat number " + std::to_string(i) + " sat on mat\n";
  const std::string automatic = run(words(), input).output;
  for (const std::string type : {"float32", "int8"}) {
    const std::string alone = run(words({"--compute-type", type, "--threads", "1"}), input).output;
    EXPECT_EQ(lines_of(alone).size(), 200u);
    for (const std::string threads : {"2", "5"})
      EXPECT_EQ(run(words({"--compute-type", type, "--threads", threads}), input).output, alone);
    EXPECT_TRUE(type == "int8" || alone == automatic);
  }
}

}  // namespace
}  // namespace dragoman
