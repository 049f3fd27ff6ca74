// The shells complete the programs' command lines, and man reads their pages without a warning. A
// shell that is not installed is left out.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <regex>
#include <string>
#include <vector>

#include "base/files.h"
#include "tests/system/process.h"

namespace dragoman {
namespace {

using testing::HasSubstr;

ProcessResult run_words(std::vector<std::string> words) {
  Process process(CommandWords{std::move(words)});
  return process.wait();
}

bool has(const std::string& command) {
  return run_words({"sh", "-c", "command -v " + command}).exit_code == 0;
}

/// The completions that bash offers for the last of the words.
std::string bash_completions(const std::string& words) {
  const std::string call =
      ". <(" + std::string(kProgram) + " completion bash) && COMP_WORDS=(" + words +
      ") && COMP_CWORD=$((${#COMP_WORDS[@]} - 1)) && _dragoman && echo \"${COMPREPLY[*]}\"";
  const ProcessResult result = run_words({"bash", "-c", call});
  EXPECT_EQ(result.errors, "");
  return result.output;
}

TEST(Completion, BashCompletesTheProgram) {
  const ProcessResult registered = run_words(
      {"bash", "-c", ". <(" + std::string(kProgram) + " completion bash); complete -p dragoman"});
  EXPECT_EQ(registered.output, "complete -o default -F _dragoman dragoman\n");
  EXPECT_EQ(bash_completions("dragoman tra"), "train translate\n");
  EXPECT_EQ(bash_completions("dragoman train --pres"), "--preset\n");
  EXPECT_EQ(bash_completions("dragoman translate --alignment ''"), "none hard soft\n");
  EXPECT_EQ(bash_completions("dragoman translate --alignment = h"), "hard\n");
  EXPECT_EQ(bash_completions("dragoman evaluate --metrics chr"), "chrf chrf++\n");
  EXPECT_EQ(bash_completions("dragoman help ins"), "inspect\n");
  EXPECT_EQ(bash_completions("dragoman translate -m ''"), "\n");
}

TEST(Completion, ZshReadsItsScript) {
  if (!has("zsh")) GTEST_SKIP() << "no zsh";
  const TemporaryFolder folder;
  write_file(folder / "_dragoman", run({"completion", "zsh"}).output);
  const ProcessResult result = run_words(
      {"zsh", "-f", "-c",
       "fpath=($0 $fpath); autoload -Uz compinit; compinit -u -D; print ${_comps[dragoman]}; "
       "zsh -n $0/_dragoman",
       folder.path()});
  EXPECT_EQ(result.output, "_dragoman\n");
  EXPECT_EQ(result.errors, "");
}

TEST(Completion, FishCompletesTheProgram) {
  if (!has("fish")) GTEST_SKIP() << "no fish";
  const TemporaryFolder folder;
  write_file(folder / "script", run({"completion", "fish"}).output);
  const ProcessResult result =
      run_words({"fish", "--no-config", "-c",
                 "source " + (folder / "script").string() +
                     "; complete -C 'dragoman transl'; complete -C 'dragoman translate --alignment "
                     "h'; complete -C 'dragoman evaluate --metrics bleu-c'"});
  EXPECT_THAT(result.output, HasSubstr("translate\t"));
  EXPECT_THAT(result.output, HasSubstr("hard\t"));
  EXPECT_THAT(result.output, HasSubstr("bleu-compound-split"));
  EXPECT_EQ(result.errors, "");
}

TEST(Completion, AnUnknownShellIsAnErrorInOneLine) {
  expect_one_error(run({"completion", "ksh"}), 2, "bash, zsh or fish, not for 'ksh'");
}

TEST(ManualPage, ManReadsThePageOfEachCommandWithoutAWarning) {
  if (!has("man")) GTEST_SKIP() << "no man";
  const TemporaryFolder folder;
  for (const char* command : {"", "train", "translate", "evaluate", "inspect"}) {
    write_file(folder / "page.1", run({"manual", command}).output);
    const ProcessResult result =
        run_words({"man", "--warnings", "-E", "UTF-8", "-l", "-Tutf8", folder / "page.1"});
    EXPECT_EQ(result.exit_code, 0);
    EXPECT_EQ(result.errors, "") << command;
    // A bold letter is the letter, a backspace and the letter again.
    const std::string text = std::regex_replace(result.output, std::regex(".\b"), "");
    EXPECT_THAT(text, HasSubstr("EXIT STATUS")) << command;
  }
}

}  // namespace
}  // namespace dragoman
