// The completion scripts and the manual pages, for a program with one command. tests/system reads
// those of the programs with the shells and with man.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "app/frame/program.h"
#include "base/error.h"

namespace dragoman {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

enum class Size { Small, Large };
constexpr std::array<std::string_view, 2> names_of(Size) { return {"small", "large"}; }

struct Options {
  std::string model;
  std::int64_t beam = 5;
  bool cache = true;
  Size size = Size::Small;

  void for_each_field(const auto& visit) {
    const auto field = fields_under("", visit);
    field("model", model, "it's [the] model; a file", {.placeholder = "FILE"});
    fields_under("Search", visit)("beam", beam, ".1 or \\2");
    field("cache", cache, "keep it");
    field("size", size, "a size");
  }
};

const std::vector<Command>& commands() {
  static Options options;
  static const std::vector<Command> all = {{.name = "try",
                                            .summary = "tries",
                                            .fields = fields_of(options),
                                            .positionals = {"model"},
                                            .short_flags = {{"b", "beam"}},
                                            .run = [](const Invocation&) { return 0; },
                                            .examples = {"try --size small"}}};
  return all;
}

constexpr Program kProgram = {.name = "a-program",
                              .summary = "tries.",
                              .example = "  a-program try\n",
                              .commands = commands,
                              .libraries = [] { return std::string(); }};

std::string script(const std::string& shell) {
  return completion_script(kProgram, commands(), shell);
}

TEST(Completion, BashCompletesCommandsFlagsAndChoices) {
  EXPECT_THAT(script("bash"),
              AllOf(HasSubstr("words=\"try help manual completion --help --version\""),
                    HasSubstr("flags=\"--model -b --beam --no-cache --size "),
                    HasSubstr("--size) words=\"small large\" ;;"),
                    HasSubstr("-b | --beam) compopt +o default; return ;;"),
                    HasSubstr("complete -o default -F _a_program a-program\n")));
}

TEST(Completion, ZshTakesBracketsAndQuotesAsText) {
  EXPECT_THAT(script("zsh"), AllOf(HasSubstr("#compdef a-program\n"),
                                   HasSubstr(R"('--model=[it'\''s \[the\] model]:FILE:_files')"),
                                   HasSubstr("'(--beam)-b[.1 or \\\\2]:N:'"),
                                   HasSubstr("'--size=[a size]:NAME:(small large)'")));
}

TEST(Completion, FishTakesEachFlagWithItsDescription) {
  EXPECT_THAT(script("fish"),
              AllOf(HasSubstr(" -s b -l beam -x -d "), HasSubstr(" -l model -r -d "),
                    HasSubstr(" -l size -x -a 'small large' -d 'a size'\n"),
                    HasSubstr(" -l no-cache -d 'keep it'\n")));
}

TEST(Completion, AnotherShellIsRefused) { EXPECT_THROW(script("ksh"), UsageError); }

TEST(ManualPage, FlagsStandInTheirGroupsAndNoTextIsARequest) {
  const std::string page = manual_page(kProgram, commands(), "try");
  EXPECT_THAT(page, AllOf(HasSubstr(".TH A\\-PROGRAM\\-TRY 1 "), HasSubstr("\n.SS Search\n.TP\n"),
                          HasSubstr("\\fB\\-b\\fR, \\fB\\-\\-beam\\fR \\fIN\\fR\n"),
                          HasSubstr("\n\\&.1 or \\(rs2 [5]\n"), Not(HasSubstr("\n.1")),
                          HasSubstr("\na\\-program try \\-\\-size small\n")));
}

TEST(ManualPage, ThePageOfTheProgramLeadsToThoseOfItsCommands) {
  EXPECT_THAT(
      manual_page(kProgram, commands(), ""),
      AllOf(HasSubstr("a\\-program \\- tries\n"), HasSubstr("\\fBa\\-program\\-try\\fR(1)")));
  EXPECT_THROW(manual_page(kProgram, commands(), "tyr"), UsageError);
}

}  // namespace
}  // namespace dragoman
