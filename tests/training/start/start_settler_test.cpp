#include "training/start/start_settler.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"
#include "base/files.h"
#include "tests/data/text_files.h"
#include "tests/free_port.h"
#include "tests/model/file/small_model.h"
#include "tests/tokenizer/sample_text.h"
#include "tests/training/ranks/ranks.h"

namespace dragoman {
namespace {

using testing::Each;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

const Tokenizer& tokenizer() {
  static const Tokenizer trained = [] {
    TokenizerConfig config;
    config.vocab_size = 300;
    return train_on(sample_text(200), config);
  }();
  return trained;
}

/// As a flag does.
void ask(RunRequest& request, const std::string& name, const std::string& text) {
  for (const Field& field : request.config.fields())
    if (field.info.name == name) assign_text(field, text);
  request.settings.asked[name] = text;
}

RunRequest request() {
  RunRequest request{.config = RunConfig::from_preset(Preset::Base), .settings = {}};
  request.config.train.output = "run";
  ask(request, "train-src", "a.en");
  ask(request, "train-tgt", "a.de");
  return request;
}

/// A checkpoint of the run that was asked for.
FoundCheckpoint checkpoint_of(const RunRequest& asked, const std::filesystem::path& path = {}) {
  FoundCheckpoint found{.path = path, .progress = {}};
  found.progress.update = 500;
  found.progress.start.settings = settle(asked, {}).settings;
  found.progress.start.machine = {.precision = "fp32", .threads = "2", .processor = "here"};
  return found;
}

class StartSettlerTest : public testing::Test {
 protected:
  StartSettler settler(const RunRequest& asked, const std::optional<FoundCheckpoint>& found = {}) {
    return {asked, found, alone_, [this](const Remark& remark) { told_.push_back(remark.text); }};
  }

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

  std::filesystem::path checkpoint() const { return checkpoint_.path(); }

  Communicator alone_{RankInfo{}, 60};
  std::vector<std::string> told_;

 private:
  ScratchFile model_{"model.safetensors"}, checkpoint_{"checkpoint.safetensors"},
      tokenizer_{"tokenizer.model"};
};

// ---- one rank -----------------------------------------------------------------------------------

TEST_F(StartSettlerTest, ANewRunHasTheSettingsThatItAsksFor) {
  RunRequest asked = request();
  ask(asked, "lr", "0.004");
  StartSettler start = settler(asked);
  EXPECT_FALSE(start.has_begun());
  EXPECT_EQ(start.run().config.train.lr, 0.004);
  EXPECT_EQ(start.run().settings, settle(asked, {}).settings);
  EXPECT_FALSE(start.facts().remembered);
  start.share(alone_);
  EXPECT_FALSE(start.facts().remembered) << "one rank has nobody to share with";
  EXPECT_THAT(told_, IsEmpty());
}

TEST_F(StartSettlerTest, ARunThatHasBegunHasTheSettingsOfItsCheckpoint) {
  RunRequest begun = request();
  ask(begun, "lr", "0.004");
  const FoundCheckpoint found = checkpoint_of(begun);
  const StartSettler start = settler(request(), found);
  EXPECT_TRUE(start.has_begun());
  EXPECT_EQ(start.run().config.train.lr, 0.004);
  EXPECT_EQ(start.facts().begun->update, 500);
  EXPECT_EQ(start.facts().remembered, found.progress.start.settings);
}

TEST_F(StartSettlerTest, SettingsThatCannotBeAreRefusedAtOnce) {
  RunRequest other = request();
  ask(other, "d-model", "64");
  EXPECT_THAT([&] { settler(other, checkpoint_of(request())); },
              testing::ThrowsMessage<UsageError>(HasSubstr("--d-model")));
}

TEST_F(StartSettlerTest, AFactSettlesTheRunAnew) {
  StartSettler start = settler(request());
  const SettledRun before = start.run();
  start.learn(&StartFacts::text,
              TextFacts{.size = {.pairs = 29'000, .target_characters = 2'000'000},
                        .preset = ChosenPreset{Preset::Tiny, "29,000 pairs"}});
  EXPECT_EQ(start.run().config.train.preset, Preset::Tiny);
  EXPECT_EQ(before.config.train.preset, Preset::Base) << "a value of its own";
  EXPECT_EQ(start.facts().text->size.pairs, 29'000);
}

TEST_F(StartSettlerTest, EachRemarkIsToldOnce) {
  RunRequest longer = request();
  ask(longer, "max-updates", "900");
  StartSettler start = settler(longer, checkpoint_of(request()));
  EXPECT_THAT(told_, IsEmpty()) << "the machine is not known";
  start.learn(&StartFacts::machine,
              MachineFacts{.precision = "fp32", .threads = "8", .processor = "here"});
  EXPECT_THAT(told_, ElementsAre(HasSubstr("changed: --max-updates"), HasSubstr("threads 2 -> 8")));
  start.learn(&StartFacts::max_tokens, std::int64_t{4000});
  EXPECT_EQ(told_.size(), 2U);
}

// ---- models -------------------------------------------------------------------------------------

TEST_F(StartSettlerTest, WithoutAModelOrTokenizerNothingIsOpened) {
  StartSettler start = settler(request());
  start.find_models({});
  EXPECT_FALSE(start.facts().model);
  EXPECT_FALSE(start.facts().tokenizer_files);
}

TEST_F(StartSettlerTest, ANewRunOpensTheModelOfInitFrom) {
  RunRequest asked = request();
  ask(asked, "init-from", write_model().string());
  StartSettler start = settler(asked);
  start.find_models({});
  EXPECT_EQ(start.facts().model->name, "the model of --init-from");
  EXPECT_EQ(start.facts().model->tokenizers.source->size(), tokenizer().size());
  EXPECT_EQ(start.run().config.model.d_model, 4);
}

TEST_F(StartSettlerTest, ARunThatHasBegunOpensItsCheckpointInstead) {
  RunRequest asked = request();
  ask(asked, "init-from", write_model().string());
  StartSettler first = settler(asked);
  first.find_models({});
  FoundCheckpoint found = checkpoint_of(asked, checkpoint());
  found.progress.start.settings = first.run().settings;
  std::filesystem::rename(asked.config.train.init_from, found.path);
  StartSettler start = settler(asked, found);
  start.find_models(found);
  EXPECT_EQ(start.facts().model->name, "this run's checkpoint");
  EXPECT_EQ(start.facts().model->path, found.path);
  EXPECT_EQ(start.run().config.model.d_model, 4);
}

TEST_F(StartSettlerTest, OneTokenizerFileServesBothSidesUnlessTheTargetHasItsOwn) {
  RunRequest asked = request();
  ask(asked, "tokenizer", write_tokenizer());
  StartSettler joint = settler(asked);
  joint.find_models({});
  EXPECT_TRUE(joint.facts().tokenizer_files->joint());
  ask(asked, "target-tokenizer", write_tokenizer());
  StartSettler two = settler(asked);
  two.find_models({});
  EXPECT_NE(two.facts().tokenizer_files->target, two.facts().tokenizer_files->source);
}

TEST_F(StartSettlerTest, AModelOrTokenizerThatCannotBeReadIsAnError) {
  for (const char* flag : {"init-from", "tokenizer"}) {
    RunRequest asked = request();
    ask(asked, flag, "is not there");
    StartSettler start = settler(asked);
    EXPECT_THROW(start.find_models({}), Error) << flag;
  }
}

// ---- several ranks ------------------------------------------------------------------------------

/// Runs work(ranks, settler) on two ranks that ask for two kinds of threads.
std::vector<std::string> on_two_ranks(
    const std::optional<FoundCheckpoint>& of_rank_0,
    const std::function<void(Communicator&, StartSettler&)>& work) {
  const int port = free_port();
  return run_ranks(2, [&](int rank) {
    Communicator ranks(info_on_loopback(rank, 2, port), 5);
    RunRequest asked = request();
    ask(asked, "threads", std::to_string(rank + 1));
    StartSettler start(asked, ranks.leads() ? of_rank_0 : std::nullopt, ranks,
                       [](const Remark&) {});
    work(ranks, start);
  });
}

TEST(StartSettlerOfRanks, AllKnowThatTheRunHasBegunAndTakeItsSettings) {
  RunRequest begun = request();
  ask(begun, "lr", "0.004");
  EXPECT_THAT(on_two_ranks(checkpoint_of(begun),
                           [](Communicator& ranks, StartSettler& start) {
                             EXPECT_TRUE(start.has_begun());
                             EXPECT_EQ(start.run().config.train.lr, 0.004);
                             EXPECT_EQ(start.run().config.train.threads, ranks.rank() + 1);
                             EXPECT_EQ(start.facts().begun.has_value(), ranks.leads());
                           }),
              Each(""));
}

TEST(StartSettlerOfRanks, SharedSettingsAreThoseOfRank0ButForFieldsOfTheHost) {
  EXPECT_THAT(on_two_ranks({},
                           [](Communicator& ranks, StartSettler& start) {
                             EXPECT_FALSE(start.has_begun());
                             if (ranks.leads())
                               start.learn(
                                   &StartFacts::text,
                                   TextFacts{.size = {.pairs = 29'000},
                                             .preset = ChosenPreset{Preset::Tiny, "29,000 pairs"}});
                             start.share(ranks);
                             EXPECT_EQ(start.run().config.train.preset, Preset::Tiny);
                             EXPECT_EQ(start.run().config.train.threads, ranks.rank() + 1);
                             EXPECT_EQ(start.facts().remembered.has_value(), !ranks.leads());
                           }),
              Each(""));
}

}  // namespace
}  // namespace dragoman
