// dragoman-lite: the same translations without LibTorch.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/files.h"
#include "tests/names.h"
#include "tests/system/translate_fixture.h"

namespace dragoman {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

class Lite : public Translate {
 protected:
  static ProcessResult lite(std::vector<std::string> arguments, const std::string& input = "") {
    arguments.insert(arguments.begin(), kLiteProgram);
    Process process(CommandWords{std::move(arguments)});
    process.send(input);
    return process.wait();
  }
};

TEST_F(Lite, TheProgramIsLinkedWithoutLibTorch) {
  Process process(CommandWords{{"ldd", kLiteProgram}});
  const ProcessResult result = process.wait();
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_THAT(result.output, AllOf(HasSubstr("libsentencepiece"), Not(HasSubstr("torch")),
                                   Not(HasSubstr("libc10"))));
}

TEST_F(Lite, TranslationsAreThoseOfDragoman) {
  for (const char* type : {"float32", "int8"})
    EXPECT_EQ(lite(words({"--compute-type", type}), kInput).output,
              run(words({"--compute-type", type}), kInput).output);
}

TEST_F(Lite, ModelsNameTheProgramThatMadeThem) {
  const std::string model = folder_ / "model.safetensors", int8 = folder_ / "int8.safetensors";
  EXPECT_EQ(lite({"quantize", model, "-o", int8}).exit_code, 0);
  EXPECT_THAT(lite({"inspect", int8}).output, HasSubstr("dragoman-lite quantize " + model));
}

// In KiB, as ulimit counts; with less the libraries fail before the program begins.
TEST_F(Lite, AnyLimitOfMemoryIsAnErrorThatSaysSoOrEnough) {
  std::string call = "ulimit -v $0; exec \"$@\"";
  int calls = 0, refusals = 0;
  for (int limit = 44'000; limit < 500'000; limit += limit / 40) {
    ++calls;
    std::vector<std::string> command = {"sh", "-c", call, std::to_string(limit), kLiteProgram};
    for (const std::string& word : words({"--threads", "4"})) command.push_back(word);
    Process process(CommandWords{command});
    process.send(kInput);
    const ProcessResult result = process.wait();
    ASSERT_FALSE(result.timed_out) << limit;
    if (result.exit_code == 0) continue;
    ++refusals;
    EXPECT_EQ(result.exit_code, 1) << limit << ": " << result.errors;
    EXPECT_THAT(result.errors,
                testing::AnyOf(HasSubstr("not enough memory"), HasSubstr("Cannot allocate memory"),
                               HasSubstr("cannot start another thread")))
        << limit << " KiB";
  }
  EXPECT_GT(refusals, 0);
  EXPECT_LT(refusals, calls);
}

TEST_F(Lite, AStreamThatIsClosedLendsItsNumberToNoFile) {
  for (const auto& [call, message] :
       {std::pair("exec \"$@\" <&-", "standard input ... Bad file descriptor"),
        std::pair("exec \"$@\" >&-", "standard output ... Bad file descriptor")}) {
    std::vector<std::string> command = {"sh", "-c", call, "sh", kLiteProgram};
    for (const std::string& word : words({})) command.push_back(word);
    Process process(CommandWords{command});
    process.send(kInput);
    const ProcessResult result = process.wait();
    EXPECT_FALSE(result.timed_out) << call;
    EXPECT_EQ(result.exit_code, 1) << call;
    EXPECT_THAT(result.errors, Names(message));
  }
}

TEST_F(Lite, TheProgramKnowsItsNameAndItsLimits) {
  EXPECT_THAT(lite({"--version"}).output,
              AllOf(HasSubstr("dragoman-lite " DRAGOMAN_VERSION), Not(HasSubstr("Torch"))));
  EXPECT_THAT(lite({"translate", "--help"}).output, HasSubstr("Usage: dragoman-lite translate"));
  const ProcessResult train = lite({"train"});
  expect_failure(train, 2, "train ... dragoman ... dragoman-lite");
  EXPECT_THAT(lite({}).output, AllOf(HasSubstr("\n  translate "), Not(HasSubstr("\n  train ")),
                                     Not(HasSubstr("\n  best "))));
  expect_failure(lite(words({"--device", "cuda"}), "a\n"), 1, "dragoman-lite ... CPU");
  const ProcessResult other = lite(words({"--device", "tpu"}), "a\n");
  EXPECT_EQ(other.exit_code, 2);
  EXPECT_THAT(other.errors, HasSubstr("--device"));
}

TEST_F(Lite, TheProgramEvaluatesAndInspects) {
  write_file(folder_ / "text", "the cat sat on the mat\n");
  const std::string text = (folder_ / "text").string();
  const ProcessResult evaluated = lite({"evaluate", "--hyp", text, "--ref", text});
  EXPECT_EQ(evaluated.exit_code, 0) << evaluated.errors;
  EXPECT_THAT(evaluated.output, HasSubstr("100.00"));
  EXPECT_EQ(lite({"inspect", folder_.path()}).exit_code, 0);
}

}  // namespace
}  // namespace dragoman
