#include "app/commands/input_output.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>

#include "base/error.h"
#include "base/files.h"
#include "tests/app/commands/output_folder.h"
#include "tests/names.h"

namespace dragoman {

namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;
using testing::ThrowsMessage;

TEST(StandardInput, OneFlagMayReadIt) {
  EXPECT_NO_THROW(check_standard_input({{"--src", "-"}, {"--ref", "a.de"}, {"--ref", ""}}));
  EXPECT_NO_THROW(check_standard_input({{"--src", "a.en"}, {"--ref", "a.en"}}));
}

TEST(StandardInput, TheFlagsThatReadItAreNamed) {
  EXPECT_THAT(
      [] {
        check_standard_input({{"--src", "-"}, {"--hyp", "a.de"}, {"--ref", "-"}, {"--ref", "-"}});
      },
      ThrowsMessage<UsageError>(Names("--src, --ref, --ref ... (-)")));
}

TEST(Descriptor, AnEmptyNameIsNamed) {
  EXPECT_THAT(message_of<Error>([] { Descriptor("", STDIN_FILENO, O_RDONLY); }),
              HasSubstr("name is empty"));
}

TEST(RequireLines, AnInputWithoutLinesIsNamed) {
  EXPECT_THAT([] { require_lines("a.en", 0); }, ThrowsMessage<Error>(Names("a.en ... no lines")));
  EXPECT_THAT([] { require_lines("-", 0); },
              ThrowsMessage<Error>(Names("standard input ... no lines")));
  EXPECT_NO_THROW(require_lines("a.en", 1));
}

class OutputFile : public OutputFolder {
 protected:
  OutputFile() { fs::create_directories(folder / "run" / "checkpoints"); }
};

TEST_F(OutputFile, AFileThatIsReadCannotBeTheOutput) {
  const std::string input = write("in", "a\n");
  fs::create_symlink(input, path("link"));
  for (const std::string& output : {input, path("link")})
    EXPECT_THAT(refusal([&] {
                  check_output("--output", output, {path("none"), input});
                }),
                HasSubstr("--output: " + output + " is "));
  check_output("--output", path("new"), {input});
  check_output("--output", "/dev/null", {"/dev/null"});
}

TEST_F(OutputFile, StandardOutputIsNotAnOutputFile) {
  EXPECT_THAT(refusal([] { check_output("--output", "-", {}); }),
              Names("--output ... - ... standard output"));
  EXPECT_THAT(refusal([] { check_text_output("--output", "-", {}); }), HasSubstr("--output: - "));
}

TEST_F(OutputFile, AnOutputNeedsAnExistingFolderAndIsNotAFolderItself) {
  EXPECT_THAT(refusal([&] { check_output("-o", folder.string(), {}); }),
              HasSubstr(folder.string() + " is a folder"));
  EXPECT_THAT([&] { check_output("--output", path("nodir/x"), {}); },
              ThrowsMessage<Error>(Names(path("nodir") + " ... folder")));
}

TEST_F(OutputFile, TextIsNotWrittenUnderANameOfCompressedText) {
  for (const std::string ending : {".gz", ".zst", ".xz"})
    EXPECT_THAT(refusal([&] { check_text_output("--output", path("a.de" + ending), {}); }),
                Names("--output ... a.de ... a.de" + ending));
  check_text_output("--output", path("a.gz.de"), {});
}

TEST_F(OutputFile, NoFileOfARunIsReplaced) {
  const auto said = [this](const std::string& name) {
    return refusal([&] { check_output("--output", path(name), {}); });
  };
  fs::create_symlink(write("run/model.safetensors", "weights"), path("link"));
  EXPECT_THAT(said("run/model.safetensors"), Names("model of the training run"));
  EXPECT_THAT(said("link"), Names("model of the training run"));
  for (const std::string name : {"best", "latest", "start", "update-00001000"})
    EXPECT_THAT(said("run/checkpoints/" + name + ".safetensors"),
                Names("checkpoint of the training run"));
  EXPECT_THAT(said("run/log.jsonl"), Names("log of the training run"));
  EXPECT_THAT(said("run/config.toml"), Names("configuration of the training run"));
  EXPECT_EQ(said("log.jsonl"), "accepted");
  EXPECT_EQ(said("run/average.safetensors"), "accepted");
  EXPECT_EQ(said("run/checkpoints/mine.safetensors"), "accepted");
  EXPECT_EQ(said("model.safetensors"), "accepted");
}

TEST_F(OutputFile, ATextReplacesNoModel) {
  const auto said = [this](const std::string& name) {
    return refusal([&] { check_text_output("--output", path(name), {}); });
  };
  const std::string_view model("\x02\0\0\0\0\0\0\0{}", 10);
  write("model", std::string(model));
  EXPECT_THAT(said("model"), Names("model ... another file"));
  EXPECT_EQ(refusal([&] { check_output("--output", path("model"), {}); }), "accepted");
  for (const std::string& text : {std::string(), std::string("{"), std::string("12345678{}"),
                                  std::string(model.substr(0, 8)) + "["})
    EXPECT_EQ((write("text", text), said("text")), "accepted") << text;
  EXPECT_EQ(said("new"), "accepted");
}

TEST_F(OutputFile, AModelReplacesOnlyModels) {
  const auto said = [this](const std::string& name) {
    return refusal([&] { check_model_output("--output", path(name), {}); });
  };
  write("model", std::string("\x02\0\0\0\0\0\0\0{}", 10));
  write("empty", "");
  write("text", "a line\n");
  EXPECT_EQ(said("model"), "accepted");
  EXPECT_EQ(said("empty"), "accepted");
  EXPECT_EQ(said("new"), "accepted");
  EXPECT_THAT(said("text"), Names("text ... not a model"));
}

TEST_F(OutputFile, AFileBesideTheResultReplacesOnlyItsLike) {
  const auto said = [this](const std::string& name) {
    return refusal([&] {
      check_replaced("--list", path(name), "a list",
                     [](const std::string& file) { return read_file(file) == "a list\n"; });
    });
  };
  write("list", "a list\n");
  write("empty", "");
  write("text", "a line\n");
  for (const char* name : {"list", "empty", "new"}) EXPECT_EQ(said(name), "accepted") << name;
  EXPECT_THAT(said("text"), Names("--list ... text ... not a list ... another file"));
  check_replaced("--list", "/dev/null", "a list", [](const std::string&) { return false; });
}

TEST_F(OutputFile, TwoFlagsThatWriteOneFileAreNamed) {
  write("there", "");
  fs::create_symlink(path("new"), path("link"));  // to a file that is not there
  const std::string there = path("there"), fresh = path("new");
  for (const auto& [one, other] :
       {std::pair(there, there), std::pair(fresh, fresh), std::pair(there, path("run/../there")),
        std::pair(fresh, path("run/../new")), std::pair(fresh, path("link")),
        std::pair(fs::absolute("here").string(), std::string("here"))})
    EXPECT_THAT(refusal([&] {
                  require_different_outputs({{"--json", one}, {"--text", ""}, {"--html", other}});
                }),
                Names("--html ... " + other + " ... --json"));
}

TEST_F(OutputFile, SeveralFlagsMayWriteToAStreamAndNoneNeedNameAFile) {
  require_different_outputs({{"--json", "/dev/null"},
                             {"--html", "/dev/null"},
                             {"--output", "-"},
                             {"--lexicon", "-"},
                             {"--text", ""},
                             {"--page", ""},
                             {"--list", path("a")},
                             {"--log", path("b")}});
}

class PartFileTest : public OutputFolder {
 protected:
  PartFile part(std::uint64_t work, bool is_numbered = false) const {
    return {
        .path = path_, .work = work, .is_numbered = is_numbered, .expects_last_lines_again = false};
  }
  PartFile from_a_pipe(bool is_numbered = false) const {
    PartFile resumed = part(1, is_numbered);
    resumed.expects_last_lines_again = true;
    return resumed;
  }
  /// An interrupted run that has written these lines.
  void write_part(std::uint64_t work, const std::vector<std::string>& lines,
                  bool is_numbered = false) const {
    const auto output = open_part(part(work, is_numbered));
    for (const std::string& line : lines) output->write_line(line);
    output->flush();
  }

  const fs::path path_ = folder / "out";
};

TEST_F(PartFileTest, TheWholeFileAppearsWhenItIsFinished) {
  const auto output = open_part(part(1));
  output->write_line("a");
  EXPECT_FALSE(fs::exists(path_));
  EXPECT_EQ(finished_lines(part(1)), std::nullopt);
  output->finish();
  EXPECT_EQ(read_file(path_), "a\n");
  EXPECT_EQ(finished_lines(part(1)), 1);
}

TEST_F(PartFileTest, TheSameWorkResumesAfterTheLinesThatAreThere) {
  write_part(1, {"a", "b"});
  const auto output = open_part(part(1));
  EXPECT_EQ(output->done(), 2);
  output->write_line("c");
  output->finish();
  EXPECT_EQ(read_file(path_), "a\nb\nc\n");
}

TEST_F(PartFileTest, OtherWorkIsRefusedAndTheUnfinishedLinesStay) {
  write_part(1, {"a"});
  EXPECT_THAT([this] { open_part(part(2)); },
              ThrowsMessage<Error>(
                  testing::AllOf(Names(".part ... the command that began it ... another -o"),
                                 testing::Not(testing::HasSubstr("--resume")))));
  EXPECT_EQ(open_part(part(1))->done(), 1);
}

TEST_F(PartFileTest, AnEmptyPartFileOfOtherWorkDoesNotHinder) {
  write_file(path_.string() + ".0123456789abcdef.part", "");
  open_part(part(2))->finish();
  EXPECT_TRUE(fs::exists(path_));
}

TEST_F(PartFileTest, TheLastNumberedLineOfInputIsWrittenAgain) {
  write_part(1, {"0 a", "0 b", "1 a"}, true);
  const auto output = open_part(part(1, true));
  EXPECT_EQ(output->done(), 1);
  output->write_line("1 c");
  output->finish();
  EXPECT_EQ(read_file(path_), "0 a\n0 b\n1 c\n");
}

TEST_F(PartFileTest, TheLastTenLinesFromAPipeMustComeAgain) {
  std::vector<std::string> lines;
  for (int i = 0; i < 25; ++i) lines.push_back("line " + std::to_string(i));
  write_part(1, lines);
  const auto output = open_part(from_a_pipe());
  EXPECT_EQ(output->done(), 15);
  for (int i = 15; i < 25; ++i) output->write_line(lines[static_cast<std::size_t>(i)]);
  output->write_line("another");
  output->finish();
  std::string text;
  for (const std::string& line : lines) text += line + "\n";
  EXPECT_EQ(read_file(path_), text + "another\n");
}

TEST_F(PartFileTest, NumberedLinesFromAPipeMustComeAgainToo) {
  write_part(1, {"0 a", "0 b", "1 a", "1 b", "2 a"}, true);
  const auto output = open_part(from_a_pipe(true));
  EXPECT_EQ(output->done(), 0);
  for (const char* line : {"0 a", "0 b", "1 a", "1 b", "2 a", "2 b"}) output->write_line(line);
  output->finish();
  EXPECT_EQ(read_file(path_), "0 a\n0 b\n1 a\n1 b\n2 a\n2 b\n");
}

TEST_F(PartFileTest, AnotherInputOfAPipeIsRefusedAndNothingIsLost) {
  write_part(1, {"a", "b"});
  {
    const auto output = open_part(from_a_pipe());
    output->write_line("a");
    EXPECT_THROW(output->write_line("bb"), Error);
    EXPECT_THROW(output->write_line(""), Error);
    EXPECT_THROW(output->finish(), Error) << "the input is shorter";
  }
  const auto output = open_part(from_a_pipe());
  output->write_line("a");
  output->write_line("b");
  output->finish();
  EXPECT_EQ(read_file(path_), "a\nb\n");
}

TEST_F(PartFileTest, TwoProcessesCannotWriteOneFile) {
  const auto output = open_part(part(1));
  EXPECT_THROW(open_part(part(1)), Error);
}

TEST_F(PartFileTest, AnOutputWithoutALineLeavesNoFile) {
  write_part(1, {});
  EXPECT_TRUE(fs::is_empty(folder));
}

}  // namespace

}  // namespace dragoman
