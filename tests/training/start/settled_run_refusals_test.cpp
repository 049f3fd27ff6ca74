// What settle() refuses.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/training/start/run_start.h"

namespace dragoman {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

TEST_F(RunStart, FlagsThatMakeNoSenseAreRefused) {
  request.config.train.lr = 0;
  EXPECT_EQ(refusal(), "--lr must be above 0");
}

TEST_F(RunStart, ARateWithoutAnEndIsRefused) {
  ask("lr-scheduler", "linear");
  ask("max-epochs", "3");
  EXPECT_THAT(refusal(), HasSubstr("--lr-scheduler linear needs --lr-end or --max-updates"));
}

TEST_F(RunStart, AWarmUpThatIsLongerThanTheRateIsRefused) {
  ask("lr-scheduler", "linear");
  ask("max-updates", "30");
  ask("warmup-updates", "40");
  EXPECT_THAT(refusal(),
              AllOf(HasSubstr("--max-updates 30: the learning rate rises for 40 updates"),
                    Not(HasSubstr("--lr-end"))))
      << "before the text is read, and without a word of the end that nobody has given";
  ask("lr-end", "35");
  EXPECT_THAT(refusal(), HasSubstr("--lr-end must be 0 or above --warmup-updates"));
}

TEST_F(RunStart, AnotherArchitectureThanThatOfTheInitialModelIsRefused) {
  request.config.train.init_from = "first";
  facts.model = initial_model();
  ask("d-model", "64");
  EXPECT_THAT(refusal(), HasSubstr("--d-model 64: the model of --init-from (first/model"));
}

TEST_F(RunStart, FlagsOfATokenizerThatIsGivenAreRefused) {
  facts.tokenizer_files = tokenizers();
  request.config.tokenizer.source_model = "spm.model";
  ask("vocab-size", "300");
  EXPECT_EQ(refusal(), "") << "as it is";
  ask("vocab-size", "500");
  EXPECT_THAT(refusal(),
              HasSubstr("--vocab-size 500: the tokenizer is that of --tokenizer, which has 300"));
  ask("vocab-size", "300");
  ask("source-normalization", "nmt_nfkc");
  EXPECT_EQ(refusal(), "") << "as it is";
  ask("target-normalization", "none");
  EXPECT_THAT(refusal(), HasSubstr("--target-normalization none: the tokenizer is that of "
                                   "--tokenizer, which has nmt_nfkc"));
  ask("target-normalization", "nmt_nfkc");
  ask("vocab-size", "500");
  request.config.train.init_from = "first";
  facts.model = initial_model();
  EXPECT_THAT(refusal(),
              HasSubstr("--vocab-size 500: the tokenizer is that of --init-from, which has 300"));
  ask("vocab-size", "300");
  ask("character-coverage", "0.99");
  EXPECT_THAT(refusal(), HasSubstr("--character-coverage 0.99: the tokenizer is that of"));
}

TEST_F(RunStart, AnotherTokenizerThanTheCheckpointsIsRefused) {
  begin();
  facts.model = initial_model();
  facts.model->name = "this run's checkpoint";
  facts.tokenizer_files = trained(310);
  ask("tokenizer", "spm.model");
  EXPECT_THAT(message_of<Error>([this] { settled(); }),
              HasSubstr("spm.model: has 310 pieces, but this run's checkpoint (first/model"));
}

TEST_F(RunStart, ARateThatHasBegunIsNotBent) {
  ask("lr-scheduler", "cosine");
  ask("max-updates", "10000");
  begin();
  ask("max-updates", "20000");
  EXPECT_THAT(refusal(), HasSubstr("this run's learning rate ends at update 10000"));
  ask("lr-end", "10000");
  EXPECT_EQ(refusal(), "");
}

TEST_F(RunStart, AnEndThatTheRunHasPassedIsRefused) {
  ask("max-updates", "1000");
  begin();
  ask("max-updates", "499");
  EXPECT_EQ(refusal(),
            "--max-updates: 499 is less than the 500 updates that this run has made; give more, or "
            "leave the flag out");
  ask("max-updates", "500");
  EXPECT_EQ(refusal(), "");
  facts.begun->update = 1001;  // its cool-down came after the limit
  ask("max-updates", "1000");
  EXPECT_EQ(refusal(), "");
}

TEST_F(RunStart, AFlagThatWouldMakeAnotherRunIsRefused) {
  ask("lr", "0.004");
  begin();
  ask("lr", "0.005");
  EXPECT_THAT(refusal(), HasSubstr("--lr: this run was started with '0.004', not '0.005'"));
}

TEST_F(RunStart, MoreOrFewerTextsThanTheRunHadAreRefused) {
  begin();
  request.config.data.train_source = {"a.en", "b.en"};
  request.config.data.train_target = {"a.de", "b.de"};
  request.settings.asked["train-src"] = "a.en,b.en";
  request.settings.asked["train-tgt"] = "a.de,b.de";
  EXPECT_THAT(refusal(), HasSubstr("--train-src: this run was started with 'a.en'"));
}

TEST_F(RunStart, OneFileThatStandsForTwoIsRefused) {
  begin();
  facts.begun->start.file_hashes = {{"a.en", "0123"}, {"a.de", "4567"}};
  request.config.data.train_target = {"a.en"};
  request.settings.asked["train-tgt"] = "a.en";
  EXPECT_THAT(refusal(), HasSubstr("a.en is another text of this run, not a.de; give"));
}

TEST_F(RunStart, ATextToKeepWithoutAScoreFromTheStartIsRefused) {
  request.config.train.init_from = "first";
  request.config.data.keep_valid_source = {"k.en"};
  request.config.data.keep_valid_target = {"k.de"};
  begin();
  EXPECT_THAT(refusal(), HasSubstr("--keep-valid-src: this run was started without it"));
  facts.begun->keep_value = 30;
  EXPECT_EQ(refusal(), "");
}

TEST_F(RunStart, ARunOfAnEarlierVersionKeepsItsRulesAboutPairs) {
  begin();
  EXPECT_EQ(settled().config.data.pair_identity, PairIdentity::Text);
  for (auto* settings : {&*facts.remembered, &facts.begun->start.settings})
    for (const char* rule : {"pair-identity", "valid-overlap"}) settings->values.erase(rule);
  const SettledRun run = settled();
  EXPECT_EQ(run.config.data.pair_identity, PairIdentity::Bytes);
  EXPECT_EQ(run.config.data.valid_overlap, ValidOverlap::Ignored);
  EXPECT_EQ(run.settings.values.at("pair-identity"), "bytes");
  ask("pair-identity", "text");
  EXPECT_THROW(settled(), UsageError) << "that would be another run";
}

}  // namespace
}  // namespace dragoman
