// The answers that every command gives to --help and to mistakes of its command line.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "base/files.h"
#include "tests/names.h"
#include "tests/system/process.h"

namespace dragoman {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

/// The commands of the overview, which are those of the core and of the extras that are built.
std::vector<std::string> commands() {
  std::istringstream overview(run({}).output);
  std::vector<std::string> names;
  std::string line;
  while (std::getline(overview, line) && line != "Commands:") continue;
  while (std::getline(overview, line) && !line.empty())
    if (line.size() > 2 && line[2] != ' ') names.push_back(line.substr(2, line.find(' ', 2) - 2));
  return names;
}

TEST(Program, TheHelpNamesTheCommandsAndHowToBegin) {
  const ProcessResult bare = run({});
  EXPECT_EQ(bare.exit_code, 0);
  EXPECT_EQ(bare.errors, "");
  EXPECT_THAT(commands(), testing::IsSupersetOf({"train", "translate", "evaluate", "score",
                                                 "average", "quantize", "inspect"}));
  EXPECT_THAT(bare.output, HasSubstr("dragoman train --train-src"));
  for (const char* word : {"help", "completion", "manual"})
    EXPECT_THAT(bare.output, HasSubstr(std::string("\ndragoman ") + word + " "));
  EXPECT_EQ(run({"--help"}).output, bare.output);
  EXPECT_EQ(run({"-h"}).output, bare.output);
  EXPECT_EQ(run({"help"}).output, bare.output);
  EXPECT_EQ(run({"help", "translate"}).output, run({"translate", "--help"}).output);
  EXPECT_EQ(run({"--help", "translate"}).output, run({"translate", "--help"}).output);
  expect_one_error(run({"help", "trian"}), 2, "trian");
}

TEST(Program, TheExampleOfTheOverviewHasOnlyCommandsThatAreThere) {
  const std::string overview = run({}).output;
  std::istringstream example(overview.substr(overview.find("\nExample:\n") + 10));
  for (std::string line; std::getline(example, line) && !line.empty();) {
    std::istringstream words(line);
    std::string program, command;
    words >> program >> command;
    EXPECT_EQ(program, "dragoman");
    EXPECT_THAT(commands(), testing::Contains(command));
  }
}

TEST(Program, TheVersionIsPrintedWithTheLibraries) {
  const ProcessResult result = run({"--version"});
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_EQ(result.errors, "");
  EXPECT_THAT(result.output, StartsWith("dragoman " DRAGOMAN_VERSION "\nLibTorch 2."));
  EXPECT_THAT(result.output, HasSubstr("\nprocessor "));
}

TEST(Program, TheCommandsWithoutFlagsHaveHelp) {
  EXPECT_EQ(run({"manual", "--help"}).output,
            "dragoman manual [COMMAND] writes a page for man(1).\n");
  EXPECT_EQ(run({"help", "manual"}).output, run({"manual", "--help"}).output);
  EXPECT_THAT(run({"completion", "--help"}).output, Names("completion ... bash ... zsh ... fish"));
  EXPECT_EQ(run({"--version", "--help"}).output, run({}).output);
}

TEST(Program, WordsThatCountForNothingAreRefused) {
  expect_one_error(run({"manual", "translate", "rest"}), 2, "'rest'");
  expect_one_error(run({"completion", "bash", "zsh"}), 2, "'zsh'");
  expect_one_error(run({"--version", "foo"}), 2, "'foo'");
  expect_one_error(run({"--help", "lr", "foo"}), 2, "'foo'");
}

TEST(Program, AnUnknownCommandIsAnsweredWithTheNearestOne) {
  expect_one_error(run({"trian"}), 2, "trian ... train");
  expect_one_error(run({"--versoin"}), 2, "--versoin ... --version");
}

TEST(Program, AFlagBeforeTheCommandIsAnsweredWithTheCommandsThatHaveIt) {
  expect_one_error(run({"--list-presets"}), 2,
                   "dragoman: error: --list-presets ... flag of train ... "
                   "dragoman train --list-presets");
  expect_one_error(run({"--list_presets=true"}), 2, "dragoman train --list_presets");
  expect_one_error(run({"-b", "4"}), 2, "dragoman: error: -b ... flag of translate");
  expect_one_error(run({"--quiet", "inspect", "run/"}), 2,
                   "dragoman: error: --quiet ... every command ... --quiet");
  expect_one_error(run({"--no-quiet", "train"}), 2,
                   "dragoman: error: --no-quiet ... every command ... --no-quiet");
  expect_one_error(run({"--no-list-presets"}), 2, "dragoman train --no-list-presets");
  expect_one_error(run({"--no-preset", "base"}), 2, "unknown flag --no-preset");
}

TEST(Program, AMisspelledValueIsAnsweredWithTheNearestOne) {
  const std::vector<std::vector<std::string>> commands = {
      {"evaluate", "--hyp", "a", "--ref", "b", "--metrics", "blue"},
      {"evaluate", "--tokenize", "intll"},
      {"train", "--preset", "smal"},
      {"translate", "--compute-type", "int9"},
      {"inspect", "--format", "jso"}};
  const char* const nearest[] = {"bleu", "intl", "small", "int8", "json"};
  for (std::size_t i = 0; i < commands.size(); ++i)
    EXPECT_THAT(run(commands[i]).errors,
                HasSubstr(std::string("; did you mean ") + nearest[i] + "?"));
}

TEST(Program, TooLittleMemoryToBeginIsReportedInOneLine) {
  const TemporaryFolder folder;
  const std::string errors = folder / "errors";
  const std::string command = "ulimit -v 420000; " + std::string(kProgram) + " --version 2> " +
                              errors + "; test $? = 1 && test $(wc -l < " + errors +
                              ") = 1 && grep -q 'ulimit -v' " + errors;
  EXPECT_EQ(std::system(command.c_str()), 0);
}

TEST(Program, LibTorchIsLoadedOnlyForWhatNeedsIt) {
  Process libraries(CommandWords{{"ldd", kProgram}});
  EXPECT_THAT(libraries.wait().output, Not(HasSubstr("torch")));
  for (const std::vector<std::string>& words :
       {std::vector<std::string>{"translate", "-m", "none", "--device", "cuda", "a"},
        {"evaluate", "-m", "none", "--src", "a", "--ref", "b", "--device", "cpu",
         "--device-graph"}}) {
    Process itself(words);
    std::vector<std::string> command = words;
    command.insert(command.begin(), std::string(kProgram) + "-torch");
    Process torch(CommandWords{command});
    const ProcessResult result = itself.wait();
    EXPECT_NE(result.exit_code, 0);
    EXPECT_EQ(result.errors, torch.wait().errors);
  }
}

TEST(Program, WithoutProcThePartForLibTorchIsNotTakenFromTheWorkingFolder) {
  const TemporaryFolder folder;
  if (!can_hide_proc()) GTEST_SKIP() << "unshare may not make a mount namespace here";
  write_file(folder.path() / "dragoman-torch", "#!/bin/sh\necho a stranger\n");
  std::filesystem::permissions(folder.path() / "dragoman-torch", std::filesystem::perms::owner_all);
  std::filesystem::create_symlink(kProgram, folder.path() / "link");
  for (const char* name : {"\"$1\"", "./link"}) {
    SCOPED_TRACE(name);
    Process asked(without_proc(folder.path(), std::string("exec ") + name + " --version"));
    const ProcessResult result = asked.wait();
    EXPECT_EQ(result.exit_code, 0) << result.errors;
    EXPECT_THAT(result.output, HasSubstr("LibTorch "));
  }
}

TEST(Program, AConfigurationFileMayBeAPipe) {
  const std::string piped =
      R"(printf 'model = "m"\nsrc = "of the pipe"\ntgt = "b"\n' | "$0" score )";
  for (const char* flag : {"--config /dev/stdin", "--config=/dev/stdin", "-c /dev/stdin"}) {
    Process scored(CommandWords{{"sh", "-c", piped + flag, kProgram}});
    EXPECT_THAT(scored.wait().errors, HasSubstr("of the pipe"));
  }
}

TEST(Program, AProgramWithoutItsPartForLibTorchSaysWhatIsMissing) {
  const TemporaryFolder folder;
  std::filesystem::copy_file(kProgram, folder / "dragoman");
  Process trained(CommandWords{{folder / "dragoman", "train", "--plan"}});
  expect_one_error(trained.wait(), 1, (folder / "dragoman-torch").string() + ": cannot start");
  for (const char* command : {"train", "translate"}) {
    Process help(CommandWords{{folder / "dragoman", command, "--help"}});
    EXPECT_EQ(help.wait().exit_code, 0) << command;
  }
}

TEST(Program, TheProgramFailsIfStandardOutputCannotTakeTheText) {
  const std::string command = std::string(kProgram) + " --help > /dev/full 2> /dev/null";
  EXPECT_EQ(WEXITSTATUS(std::system(command.c_str())), 1);
}

TEST(Program, HelpOfEachCommandStandsOnStandardOutputWithin100Columns) {
  for (const std::string& command : commands()) {
    SCOPED_TRACE(command);
    for (const char* flag : {"--help", "-h"}) {
      const ProcessResult result = run({command, flag});
      EXPECT_EQ(result.exit_code, 0);
      EXPECT_EQ(result.errors, "");
      EXPECT_THAT(result.output, StartsWith("dragoman " + command + ": "));
      for (const char* common : {"--config", "--quiet", "--log-format", "--help"})
        EXPECT_THAT(result.output, HasSubstr(common));
      std::size_t begin = 0;
      for (std::size_t end; (end = result.output.find('\n', begin)) != std::string::npos;
           begin = end + 1)
        EXPECT_LE(end - begin, 100u) << result.output.substr(begin, end - begin);
    }
  }
}

TEST(Program, TheNameOfAFlagAfterHelpAsksForThatFlagAlone) {
  const ProcessResult one = run({"translate", "--help", "beam-size"});
  EXPECT_EQ(one.exit_code, 0);
  EXPECT_THAT(one.output, StartsWith("  -b, --beam-size N"));
  EXPECT_THAT(run({"translate", "--help"}).output, HasSubstr(one.output));
  EXPECT_EQ(run({"translate", "-m", "none", "-h", "b", "--quiet"}).output, one.output);
  EXPECT_EQ(run({"help", "translate", "beam-size"}).output, one.output);
  EXPECT_EQ(run({"help", "translate", "--beam-size"}).output, one.output);
  EXPECT_EQ(run({"translate", "--help", "--beam-size"}).output, one.output);
  EXPECT_EQ(run({"translate", "--help", "-b"}).output, one.output);
  const std::string plan = run({"train", "--help", "plan"}).output;
  EXPECT_EQ(run({"help", "train", "--plan"}).output, plan);
  EXPECT_EQ(run({"help", "train", "--no-plan"}).output, plan);
  EXPECT_EQ(run({"help", "train", "plan", "--lr"}).output,
            plan + run({"train", "--help", "lr"}).output);
  EXPECT_THAT(run({"train", "--help", "--preset", "big"}).output, StartsWith("dragoman train: "));
  expect_one_error(run({"translate", "--help", "beam-siez"}), 2, "--beam-siez ... --beam-size");
}

TEST(Program, HelpWithoutACommandTellsWhichCommandsHaveAFlag) {
  const std::string lr = run({"train", "--help", "lr"}).output;
  EXPECT_EQ(run({"--help", "lr"}).output, "train:\n" + lr);
  EXPECT_EQ(run({"help", "--lr"}).output, "train:\n" + lr);
  EXPECT_EQ(run({"--help", "--lr"}).output, "train:\n" + lr);
  const std::string model = run({"--help", "model"}).output;
  for (const char* command : {"translate", "serve"})
    EXPECT_THAT(model, HasSubstr(run({command, "--help", "model"}).output)) << command;
  expect_one_error(run({"--help", "lrr"}), 2, "lrr");
}

TEST(Program, EachCommandRefusesAnUnknownFlagInOneLine) {
  for (const std::string& command : commands()) {
    SCOPED_TRACE(command);
    const ProcessResult result = run({command, "--log-formt", "json"});
    expect_one_error(result, 2, "--log-formt ... --log-format");
    EXPECT_THAT(result.errors, HasSubstr("dragoman " + command + " --help"));
  }
}

TEST(Program, EachCommandRefusesABadConfigurationFileInOneLine) {
  for (const std::string& command : commands()) {
    SCOPED_TRACE(command);
    const TemporaryFolder folder;
    const std::string file = folder / "bad.toml";
    std::ofstream(file) << "# a comment\nquieet = true\n";
    expect_one_error(run({command, "--config", file}), 2,
                     "dragoman: error: " + file + ":2: ... 'quieet' ... quiet");
    expect_one_error(run({command, "--config", folder / "missing.toml"}), 1,
                     "dragoman: error: " + (folder / "missing.toml").string());
  }
}

TEST(Program, FlagsOfEachCommandMayHaveUnderscores) {
  for (const std::string& command : commands()) {
    SCOPED_TRACE(command);
    expect_one_error(run({command, "--log_format", "xml"}), 2,
                     "--log-format ... 'xml' ... text, json");
  }
}

TEST(Program, AMistakeIsReportedInTheFormatThatIsAskedFor) {
  const ProcessResult result = run({"train", "--log-format", "json", "--no-such-flag", "1"});
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_EQ(result.output, "");
  EXPECT_THAT(result.errors, AllOf(StartsWith("{\"time\""), Names("--no-such-flag")));
  EXPECT_EQ(std::count(result.errors.begin(), result.errors.end(), '\n'), 1) << result.errors;
}

TEST(Program, FarMoreThreadsThanCoresAreRefused) {
  const ProcessResult result =
      run({"train", "-o", "none", "--train-src", "a", "--train-tgt", "b", "--threads", "100000"});
  expect_one_error(result, 2, "--threads 100000");
}

}  // namespace
}  // namespace dragoman
