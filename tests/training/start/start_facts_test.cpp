#include "training/start/start_facts.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"
#include "base/files.h"
#include "tests/folder_test.h"
#include "tests/free_port.h"
#include "tests/model/file/small_model.h"
#include "tests/tokenizer/sample_text.h"
#include "tests/training/ranks/ranks.h"
#include "training/checkpoint.h"
#include "training/ranks/communicator.h"
#include "training/start/settled_run.h"

namespace dragoman {
namespace {

using testing::Each;

const Tokenizer& tokenizer() {
  static const Tokenizer trained = [] {
    TokenizerConfig config;
    config.vocab_size = 300;
    return train_on(sample_text(200), config);
  }();
  return trained;
}

/// As a flag does.
void ask(RunSettings& request, const std::string& name, const std::string& text) {
  assign_text(field_named(request.fields(), name), text);
  request.asked[name] = text;
}

RunSettings settings() {
  RunSettings settings = RunSettings::from_preset(Preset::Base);
  settings.train.output = "run";
  ask(settings, "train-src", "a.en");
  ask(settings, "train-tgt", "a.de");
  return settings;
}

/// A checkpoint of the run that was asked for.
FoundCheckpoint checkpoint_of(const RunSettings& asked) {
  FoundCheckpoint found{.initial_checksum = "0123"};
  found.progress.update = 500;
  found.progress.start = settle(asked, {}).settings.record();
  return found;
}

class StartFactsTest : public testing::Test {
 protected:
  /// With a d_model of 4.
  std::filesystem::path write_model() {
    SmallModel model(tokenizer().size());
    model.contents.tokenizer_source = tokenizer().model_bytes();
    write_model_file(model_.path(), model.contents);
    return model_.path();
  }
  std::string write_tokenizer() {
    write_file(tokenizer_.path(), tokenizer().model_bytes());
    return tokenizer_.path().string();
  }

  Communicator alone_{RankInfo{}, 60};
  StartFacts known_;

 private:
  ScratchFile model_{"model.safetensors"}, tokenizer_{"tokenizer.model"};
};

// ---- one rank -----------------------------------------------------------------------------------

TEST_F(StartFactsTest, ANewRunRemembersNothing) {
  known_.take_checkpoint({}, alone_);
  EXPECT_FALSE(known_.resumes);
  known_.share(settings().record(), alone_);
  EXPECT_FALSE(known_.remembered) << "one rank has nobody to share with";
}

TEST_F(StartFactsTest, ARunThatHasBegunRemembersTheSettingsOfItsCheckpoint) {
  RunSettings begun = settings();
  ask(begun, "lr", "0.004");
  const FoundCheckpoint found = checkpoint_of(begun);
  known_.take_checkpoint(found, alone_);
  EXPECT_TRUE(known_.resumes);
  EXPECT_EQ(known_.begun->update, 500);
  EXPECT_EQ(known_.initial_checksum, "0123");
  EXPECT_EQ(known_.remembered, found.progress.start);
  EXPECT_EQ(settle(settings(), known_).settings.train.lr, 0.004);
}

// ---- models -------------------------------------------------------------------------------------

TEST_F(StartFactsTest, WithoutAModelOrTokenizerNothingIsOpened) {
  known_.find_models(settings(), {});
  EXPECT_FALSE(known_.model);
  EXPECT_FALSE(known_.tokenizer_files);
}

TEST_F(StartFactsTest, ANewRunOpensTheModelOfInitFrom) {
  RunSettings asked = settings();
  ask(asked, "init-from", write_model().string());
  known_.find_models(asked, {});
  EXPECT_EQ(known_.model->name, "the model of --init-from");
  EXPECT_EQ(known_.model->tokenizers.source->size(), tokenizer().size());
  EXPECT_EQ(settle(asked, known_).settings.model.d_model, 4);
}

TEST_F(StartFactsTest, ARunThatHasBegunOpensItsCheckpointInstead) {
  RunSettings asked = settings();
  ask(asked, "init-from", "is not there any more");
  FoundCheckpoint found = checkpoint_of(asked);
  found.path = write_model();
  known_.find_models(asked, found);
  EXPECT_EQ(known_.model->name, "this run's checkpoint");
  EXPECT_EQ(known_.model->path, found.path);
}

TEST_F(StartFactsTest, OneTokenizerFileServesBothSidesUnlessTheTargetHasItsOwn) {
  RunSettings asked = settings();
  ask(asked, "tokenizer", write_tokenizer());
  known_.find_models(asked, {});
  EXPECT_TRUE(known_.tokenizer_files->joint());
  ask(asked, "target-tokenizer", write_tokenizer());
  known_.find_models(asked, {});
  EXPECT_NE(known_.tokenizer_files->target, known_.tokenizer_files->source);
}

TEST_F(StartFactsTest, AModelOrTokenizerThatCannotBeReadIsAnError) {
  for (const char* flag : {"init-from", "tokenizer"}) {
    RunSettings asked = settings();
    ask(asked, flag, "is not there");
    EXPECT_THROW(StartFacts().find_models(asked, {}), Error) << flag;
  }
}

TEST_F(StartFactsTest, ARunThatHasBegunDoesWithoutAMissingTokenizerAndSaysSo) {
  RunSettings asked = settings();
  ask(asked, "tokenizer", "is not there");
  FoundCheckpoint found = checkpoint_of(asked);
  found.path = write_model();
  known_.find_models(asked, found);
  EXPECT_FALSE(known_.tokenizer_files);
  const SettledRun run = settle(asked, known_);
  ASSERT_EQ(run.remarks.size(), 1U);
  EXPECT_EQ(run.remarks[0].text,
            "is not there: is missing; the run continues with the tokenizer in its checkpoint");
}

// ---- several ranks ------------------------------------------------------------------------------

/// Runs `work` on two ranks, after rank 0 has taken its checkpoint. They ask for two kinds of
/// threads.
std::vector<std::string> on_two_ranks(
    const std::optional<FoundCheckpoint>& of_rank_0,
    const std::function<void(Communicator&, const RunSettings& asked, StartFacts&)>& work) {
  const int port = free_port();
  return run_ranks(2, [&](int rank) {
    Communicator ranks(info_on_loopback(rank, 2, port), 5);
    RunSettings asked = settings();
    ask(asked, "threads", std::to_string(rank + 1));
    StartFacts known;
    known.take_checkpoint(ranks.leads() ? of_rank_0 : std::nullopt, ranks);
    work(ranks, asked, known);
  });
}

TEST(StartFactsOfRanks, AllKnowThatTheRunHasBegunAndTakeItsSettings) {
  RunSettings begun = settings();
  ask(begun, "lr", "0.004");
  EXPECT_THAT(on_two_ranks(checkpoint_of(begun),
                           [](Communicator& ranks, const RunSettings& asked, StartFacts& known) {
                             EXPECT_TRUE(known.resumes);
                             EXPECT_EQ(known.begun.has_value(), ranks.leads());
                             const RunSettings settings = settle(asked, known).settings;
                             EXPECT_EQ(settings.train.lr, 0.004);
                             EXPECT_EQ(settings.train.threads, ranks.rank() + 1);
                           }),
              Each(""));
}

TEST(StartFactsOfRanks, SharedSettingsAreThoseOfRank0ButForFieldsOfTheHost) {
  EXPECT_THAT(on_two_ranks({},
                           [](Communicator& ranks, const RunSettings& asked, StartFacts& known) {
                             EXPECT_FALSE(known.resumes);
                             if (ranks.leads()) {
                               known.text = TextSize{.pairs = 29'000};
                               known.preset = ChosenPreset{Preset::Tiny, "29,000 pairs"};
                             }
                             known.share(settle(asked, known).settings.record(), ranks);
                             EXPECT_EQ(known.remembered.has_value(), !ranks.leads());
                             const RunSettings settings = settle(asked, known).settings;
                             EXPECT_EQ(settings.train.preset, Preset::Tiny);
                             EXPECT_EQ(settings.train.threads, ranks.rank() + 1);
                           }),
              Each(""));
}

}  // namespace
}  // namespace dragoman
