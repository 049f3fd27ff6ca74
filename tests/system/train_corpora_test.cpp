// Several corpora, pairs that are encoded again in each epoch, and text in lower case.

#include <gmock/gmock.h>

#include <algorithm>
#include <cctype>
#include <csignal>

#include "base/error.h"
#include "base/files.h"
#include "model/file/run_folder.h"
#include "tests/names.h"
#include "tests/system/train_fixture.h"
#include "tokenizer/tokenizer.h"

namespace dragoman {

namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

class TrainCorpora : public Train {
 protected:
  /// Training on the sample corpus and its tagged test part, with every random option.
  static std::vector<std::string> two_corpora(const std::string& run_folder,
                                              const std::vector<std::string>& more = {}) {
    std::vector<std::string> words = {"--train-src",   path("more.en"), "--train-tgt",
                                      path("more.de"), "--corpus-tags", "",
                                      "<bt>"};
    for (const auto& flags :
         {split("--vocab-size 320 --corpus-weights 1 2.5 --subword-sampling 0.2 "
                "--augment-upper-case 0.2 --augment-drop-end-punctuation 0.2"),
          more})
      words.insert(words.end(), flags.begin(), flags.end());
    return command(run_folder, words);
  }
  static void write_more() {
    for (const std::string side : {"en", "de"})
      write_file(path("more." + side), read_file(sample("test." + side)));
  }
};

TEST_F(TrainCorpora, AResumedRunEndsWithTheSameWeights) {
  write_more();
  const auto straight = train(two_corpora("straight"));
  EXPECT_THAT(straight.errors, Names("more.en ... 30 pairs ... weight 2.5 ... tag <bt>"));
  train(two_corpora("resumed", {"--max-updates", "30"}));
  const auto resumed = train(two_corpora("resumed"));
  EXPECT_THAT(resumed.errors, HasSubstr("resumed from"));
  EXPECT_TRUE(same_weights("straight", "resumed", 60));

  train({"train", "--config", path("straight/config.toml"), "-o", path("straight")});
}

TEST_F(TrainCorpora, ARunWithStagesAndNoiseThatIsResumedEndsWithTheSameWeights) {
  write_more();
  const auto words = [](const std::string& folder, std::vector<std::string> more = {}) {
    more.insert(more.end(), {"--vocab-size", "320", "--train-src", path("more.en"), "--train-tgt",
                             path("more.de"), "--mix", "2: 0 1", "1 1", "--corpus-temperature", "2",
                             "--noise", "usual", "--augment-typos", "0.3"});
    return command(folder, more);
  };
  const auto straight = train(words("stages"));
  EXPECT_THAT(straight.errors, Names("more.en ... 30 pairs ... weights "));
  EXPECT_THAT(straight.errors, Names("the run shows each pair ... more.en ... times"));
  EXPECT_THAT(straight.errors, Names("training pairs of ... more.en:  nll"));
  EXPECT_THAT(read_file(path("stages/config.toml")), HasSubstr("# augment-upper-case = 0.07"));
  train(words("stages-resumed", {"--max-updates", "3"}));
  train(words("stages-resumed"));
  EXPECT_TRUE(same_weights("stages", "stages-resumed", 60));
}

TEST_F(TrainCorpora, ARunThatIsKilledAroundTheEndsOfItsStagesEndsWithTheSameWeights) {
  write_more();
  // Greek becomes less and less likely, so no validation after the first of a stage gains.
  std::string greek;
  for (int line = 0; line < 30; ++line) greek += "\u03b1\u03b2\u03b3 \u03b4\u03b5\u03b6\n";
  write_file(path("valid.el"), greek);
  const auto words = [](const std::string& folder, std::vector<std::string> more = {}) {
    more.insert(more.end(), {"--train-src", path("more.en"), "--train-tgt", path("more.de"),
                             "--mix", "patience: 1 0", "1: 0 1", "0.5 1", "--patience", "2",
                             "--valid-every", "4", "--lr", "0.02"});
    auto all = command(folder, more);
    std::replace(all.begin(), all.end(), sample("valid.de"), path("valid.el"));
    return all;
  };
  const auto straight = train(words("open"));
  EXPECT_THAT(straight.errors, Names("stage 1 of 3 ends after 2 validations ... stage 2"));
  EXPECT_THAT(straight.errors, Names("stage 2 of 3 ends after 1 pass; ... stage 3"));

  for (const char* moment :
       {"validation at update 8", "stage 1 of 3 ends", "stage 2 of 3 ends", "stage 3  update 30"}) {
    Process process(words("open-killed"));
    EXPECT_TRUE(process.wait_for_errors(moment)) << process.errors();
    process.send_signal(SIGKILL);
    process.wait(kLimit);
  }
  const auto planned = run(words("open-killed", {"--plan"}), "", kLimit);
  EXPECT_THAT(planned.output, Names("stage 1 of 3 ... until --patience is used up; weights 1, 0"));
  EXPECT_THAT(planned.output,
              Names("stage 3 of 3 ... to the end; weights 0.5, 1; the run is in it"));
  const auto resumed = train(words("open-killed"));
  EXPECT_THAT(resumed.errors, Names("resumed from ... in stage 3 of 3"));
  const RunFolder folders[] = {{path("open")}, {path("open-killed")}};
  const auto name_of_last = [](const RunFolder& folder) {
    return "/checkpoints/" + folder.numbered().back().filename().string();
  };
  const std::string last = name_of_last(folders[0]);
  ASSERT_EQ(last, name_of_last(folders[1]));
  EXPECT_TRUE(weights("open" + last) == weights("open-killed" + last));
  EXPECT_TRUE(weights("open/model.safetensors") == weights("open-killed/model.safetensors"));
}

TEST_F(TrainCorpora, ARunKnowsItsTagsWeightsAndTextsWhereverTheTextsStand) {
  write_more();
  train(two_corpora("known", {"--max-updates", "5"}));
  const ModelFileReader reader(path("known/model.safetensors"));
  const Tokenizer tokenizer(std::string(reader.tokenizer_source()), "model");
  EXPECT_NE(tokenizer.id("<bt>"), tokenizer.unk_id());
  EXPECT_THAT(tokenizer.encode("<bt> Hello."), testing::Contains(tokenizer.id("<bt>")));

  const std::vector<std::string> longer = two_corpora("known", {"--max-updates", "6"});
  auto words = longer;
  std::replace(words.begin(), words.end(), std::string("2.5"), std::string("2"));
  expect_failure(run(words, "", kLimit), 2, "--corpus-weights ... with 1 2.5, not with 1 2");

  write_file(path("more.de"), join_text("X", read_file(path("more.de"))));
  const auto changed = run(longer, "", kLimit);
  EXPECT_EQ(changed.exit_code, 1);
  EXPECT_THAT(changed.errors,
              AllOf(Names("more.de ... changed"), HasSubstr("--init-from " + path("known"))));
  write_more();

  write_file(path("copy.en"), read_file(path("more.en")));
  words = longer;
  std::replace(words.begin(), words.end(), path("more.en"), path("copy.en"));
  std::replace(words.begin(), words.end(), path("more.de"), path("./more.de"));
  const auto moved = train(words);
  EXPECT_THAT(moved.errors, HasSubstr("data (from the cache)"));

  write_file(path("copy.en"), join_text("X", read_file(path("more.en"))));
  expect_failure(run(words, "", kLimit), 1, "copy.en ... changed");
}

TEST_F(TrainCorpora, OneOfSeveralValidationTextsDecidesAlsoInARunThatIsResumed) {
  const auto words = [](const std::string& folder, std::vector<std::string> more = {}) {
    more.insert(more.end(), {"--valid-src", sample("test.en"), "--valid-tgt", sample("test.de"),
                             "--best-valid", "test.en"});
    return command(folder, more);
  };
  const auto straight = train(words("texts"));
  for (const std::string& name : {sample("valid.en"), sample("test.en"), std::string("mean")})
    EXPECT_THAT(straight.errors, HasSubstr("    " + name + ":  BLEU "));
  train(words("texts-resumed", {"--max-updates", "30"}));
  train(words("texts-resumed"));
  EXPECT_TRUE(same_weights("texts", "texts-resumed", 60));
  EXPECT_TRUE(weights("texts/model.safetensors") == weights("texts-resumed/model.safetensors"));
  EXPECT_THAT(read_file(path("texts/log.jsonl")), HasSubstr("\"mean_bleu\""));
}

using TrainLowercase = Train;

TEST_F(TrainLowercase, TheModelReadsAndWritesLowerCaseAndSaysSoWhenItIsScored) {
  train(command("lower", {"--lowercase"}));
  const std::string model = path("lower/model.safetensors");
  const auto upper = run({"translate", "-m", model}, "THE DOG SEES A HOUSE.\n");
  const auto lower = run({"translate", "-m", model}, "the dog sees a house.\n");
  EXPECT_EQ(upper.exit_code, 0) << upper.errors;
  EXPECT_EQ(upper.output, lower.output);
  EXPECT_TRUE(std::ranges::none_of(upper.output, [](unsigned char c) { return std::isupper(c); }));

  const std::vector<std::string> evaluate = {
      "evaluate", "-m", model, "--src", sample("valid.en"), "--ref", sample("valid.de")};
  const std::string warning = "writes lower case alone";
  EXPECT_THAT(run(evaluate, "", kLimit).errors, HasSubstr(warning));
  auto in_lower_case = evaluate;
  in_lower_case.push_back("--lowercase");
  EXPECT_THAT(run(in_lower_case, "", kLimit).errors, Not(HasSubstr(warning)));
}

}  // namespace

}  // namespace dragoman
