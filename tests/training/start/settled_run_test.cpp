#include "training/start/settled_run.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "base/error.h"
#include "tests/data/text_files.h"
#include "tests/tokenizer/sample_text.h"
#include "training/start/run_settings.h"

namespace dragoman {

namespace {

using testing::AllOf;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::Pair;

TokenizerPair trained(std::int64_t vocab_size) {
  TokenizerConfig config;
  config.vocab_size = vocab_size;
  TokenizerPair tokenizers;
  tokenizers.source = std::make_shared<const Tokenizer>(train_on(sample_text(200), config));
  tokenizers.target = tokenizers.source;
  return tokenizers;
}

/// The start of a run by facts that a test gives.
class RunStart : public testing::Test {
 protected:
  static void SetUpTestSuite() { tokenizers_ = new TokenizerPair(trained(300)); }
  static void TearDownTestSuite() { delete tokenizers_; }
  static const TokenizerPair& tokenizers() { return *tokenizers_; }

  RunStart() {
    request.config = RunConfig::from_preset(Preset::Base);
    request.config.train.output = "run";
    request.config.data.train_source = {"a.en"};
    request.config.data.train_target = {"a.de"};
  }

  /// As a flag does.
  void ask(const std::string& name, const std::string& text) {
    if (text != kAuto) assign_text(field_named(request.config.fields(), name), text);
    request.settings.asked[name] = text;
  }
  SettledRun settled() const { return settle(request, facts); }
  std::string refusal() const {
    return message_of<UsageError>([this] { settle(request, facts); });
  }
  static std::string reason(const SettledRun& run, const std::string& name) {
    const auto found = run.settings.reasons.find(name);
    return found == run.settings.reasons.end() ? "" : found->second;
  }
  static GivenModel initial_model() {
    ModelConfig config = ModelConfig::from_preset(Preset::Tiny);
    config.source_vocabulary = config.target_vocabulary = tokenizers().source->size();
    return {.name = "the model of --init-from",
            .path = "first/model.safetensors",
            .config = config,
            .tokenizers = tokenizers()};
  }
  static TextFacts text(std::optional<ChosenPreset> preset = {}) {
    return {.size = {.pairs = 29'000, .target_characters = 2'000'000}, .preset = std::move(preset)};
  }
  static EpochFacts corpus() {
    return {.size = {.pairs = 29'000, .target_tokens = 430'000},
            .target_tokens_per_epoch = 430'000,
            .updates_per_epoch = 100};
  }
  /// The run that is asked for has begun, and continues from update 500.
  void begin() {
    ProgressRecord begun;
    begun.update = 500;
    begun.start.settings = settled().settings;
    facts.begun = begun;
    facts.begun->start.machine = {.precision = "fp32", .threads = "2", .processor = "here"};
    facts.remembered = facts.begun->start.settings;
  }

  RunRequest request;
  StartFacts facts;

 private:
  static inline TokenizerPair* tokenizers_ = nullptr;
};

// ---- what is settled ----------------------------------------------------------------------------

TEST_F(RunStart, WithoutFactsTheSettingsAreThoseAskedFor) {
  ask("lr", "0.004");
  ask("patience", kAuto);
  const SettledRun run = settled();
  EXPECT_EQ(run.config.train.lr, 0.004);
  EXPECT_FALSE(run.open.contains("lr"));
  EXPECT_TRUE(run.open.contains("patience"));
  EXPECT_TRUE(run.open.contains("preset"));
  EXPECT_EQ(run.settings.values.at("lr"), "0.004");
  EXPECT_THAT(run.remarks, IsEmpty());
  EXPECT_EQ(request.config.train.lr, 0.004);
}

TEST_F(RunStart, TheTextDecidesThePresetAndThePresetsSettings) {
  ask("dropout", "0.25");
  facts.text = text(ChosenPreset{Preset::Tiny, "29,000 pairs"});
  const SettledRun run = settled();
  EXPECT_EQ(run.config.train.preset, Preset::Tiny);
  EXPECT_EQ(run.config.model.d_model, ModelConfig::from_preset(Preset::Tiny).d_model);
  EXPECT_EQ(run.config.model.dropout, 0.25) << "asked for";
  EXPECT_EQ(run.config.tokenizer.vocab_size, vocabulary_for(facts.text->size));
  EXPECT_EQ(reason(run, "preset"), "29,000 pairs");
  EXPECT_EQ(reason(run, "update-freq"), "--preset tiny");
  EXPECT_FALSE(run.open.contains("vocab-size"));
  EXPECT_TRUE(run.open.contains("max-updates"));
}

TEST_F(RunStart, NormalisationAfterTheSubLayersLearnsAtALowerRate) {
  facts.text = text(ChosenPreset{Preset::Tiny, "29,000 pairs"});
  const double before = settled().config.train.lr;
  ask("norm", "after");
  const SettledRun run = settled();
  EXPECT_EQ(run.config.train.lr, before / 2);
  EXPECT_EQ(reason(run, "lr"), "--norm after");
  ask("lr", "0.003");
  EXPECT_EQ(settled().config.train.lr, 0.003);
}

TEST_F(RunStart, APresetThatWasAskedForLeavesTheTextTheVocabularyAlone) {
  ask("preset", "base");
  facts.text = text(ChosenPreset{Preset::Tiny, "29,000 pairs"});
  const SettledRun run = settled();
  EXPECT_EQ(run.config.train.preset, Preset::Base);
  EXPECT_EQ(run.config.tokenizer.vocab_size, vocabulary_for(facts.text->size));
  EXPECT_EQ(run.config.model.dropout, request.config.model.dropout);
}

TEST_F(RunStart, AMachineTooSlowForThePresetOfTheTextIsNamed) {
  facts.text = text(ChosenPreset{Preset::Tiny, "too slow here"});
  facts.text->size = {.pairs = 5'000'000, .target_characters = 600'000'000};
  const SettledRun run = settled();
  ASSERT_EQ(run.remarks.size(), 1U);
  EXPECT_THAT(run.remarks[0].text, HasSubstr("preset tiny: too slow here; --preset "));
}

TEST_F(RunStart, TheTokenizersDecideTheModelsVocabulary) {
  facts.tokenizers = tokenizers();
  SettledRun run = settled();
  EXPECT_EQ(run.config.model.source_vocabulary, 300);
  EXPECT_EQ(run.config.model.eos_id, tokenizers().target->eos_id());
  EXPECT_TRUE(run.open.contains("vocab-size"));
  EXPECT_EQ(run.config.model.tying, Tying::ThreeWay);

  request.config.tokenizer.source_model = "spm.model";
  run = settled();
  EXPECT_EQ(run.config.tokenizer.vocab_size, 300);
  EXPECT_EQ(reason(run, "vocab-size"), "of the tokenizer that was given");
  EXPECT_EQ(run.config.tokenizer.target_normalization, Normalization::NmtNfkc) << "not the default";
}

TEST_F(RunStart, TwoVocabulariesAreNotTiedThreeWays) {
  facts.tokenizers = tokenizers();
  facts.tokenizers->target = trained(310).source;
  const SettledRun run = settled();
  EXPECT_EQ(run.config.model.tying, Tying::TwoWay);
  EXPECT_EQ(run.config.model.target_vocabulary, 310);
  EXPECT_EQ(reason(run, "tying"), "two vocabularies");
  ASSERT_EQ(run.remarks.size(), 1U);
  EXPECT_THAT(run.remarks[0].text, HasSubstr("two vocabularies"));
  ask("tying", "three-way");
  EXPECT_THAT(refusal(), HasSubstr("--tying three-way needs one vocabulary"));
}

TEST_F(RunStart, TheCorpusDecidesTheLengthAndTheSettingsThatFollowFromIt) {
  ask("patience", "3");
  facts.corpus = corpus();
  SettledRun run = settled();
  EXPECT_GT(run.config.train.max_updates, 0);
  EXPECT_EQ(reason(run, "max-updates"), "29,000 pairs");
  EXPECT_EQ(reason(run, "valid-every"), "29,000 pairs");
  EXPECT_EQ(run.config.train.patience, 3);

  ask("max-epochs", "2");
  run = settled();
  EXPECT_EQ(run.config.train.max_updates, 0);
  EXPECT_THAT(length_settings({.updates = 200}),
              Contains(Setting{"warmup-updates", text_of(run.config.train.warmup_updates)}));
}

TEST_F(RunStart, MeasuredTokensAreForAutoAlone) {
  EXPECT_FALSE(settled().wants_max_tokens());
  ask("max-tokens", kAuto);
  EXPECT_TRUE(settled().wants_max_tokens());
  facts.max_tokens = 2048;
  EXPECT_EQ(settled().config.train.max_tokens, 2048);
  EXPECT_FALSE(settled().wants_max_tokens());
}

TEST_F(RunStart, TheRateEndsWithTheRun) {
  ask("lr-scheduler", "cosine");
  EXPECT_EQ(settled().config.train.lr_end, 0) << "the corpus is to choose the length";
  facts.corpus = corpus();
  const SettledRun run = settled();
  EXPECT_EQ(run.config.train.lr_end, run.config.train.max_updates);
  EXPECT_EQ(reason(run, "lr-end"), "--max-updates");
  facts.corpus.reset();
  ask("max-updates", "30");
  EXPECT_EQ(settled().config.train.lr_end, 30) << "though the warm-up is not chosen yet";
}

TEST_F(RunStart, AnInitialModelGivesArchitectureAndTokenizers) {
  request.config.train.init_from = "first";
  ask("dropout", "0.3");
  facts.model = initial_model();
  facts.tokenizer_files = tokenizers();
  request.config.tokenizer.source_model = "same.model";
  const SettledRun run = settled();
  EXPECT_EQ(run.config.model.d_model, initial_model().config.d_model);
  EXPECT_EQ(run.config.model.dropout, 0.3);
  EXPECT_EQ(run.config.tokenizer.source_bytes, tokenizers().source->model_bytes());
  EXPECT_FALSE(run.config.tokenizer.trains());
  EXPECT_EQ(reason(run, "d-model"), "the model of --init-from");
  EXPECT_THAT(run.remarks, IsEmpty());
  ask("preset", "big");
  ASSERT_EQ(settled().remarks.size(), 1U);
  EXPECT_THAT(
      settled().remarks[0].text,
      HasSubstr("--preset big: decides how the run trains; the model of --init-from keeps"));
}

TEST_F(RunStart, TyingAndSpecialPiecesStayAsTheInitialModelHasThem) {
  request.config.train.init_from = "first";
  facts.model = initial_model();
  facts.model->config.tying = Tying::ThreeWay;
  facts.model->config.bos_id = facts.model->config.eos_id;  // it has no <s>
  facts.tokenizers = tokenizers();
  facts.tokenizers->target = std::make_shared<const Tokenizer>(
      facts.tokenizers->source->model_bytes(), "one vocabulary, two tokenizers");
  const SettledRun run = settled();
  EXPECT_EQ(run.config.model.tying, Tying::ThreeWay);
  EXPECT_EQ(reason(run, "tying"), "the model of --init-from");
  EXPECT_EQ(run.config.model.bos_id, run.config.model.eos_id);
  EXPECT_EQ(run.config.model.source_vocabulary, 300);
}

TEST_F(RunStart, SourcesEndAsThoseOfTheInitialModel) {
  for (const bool source_eos : {true, false}) {
    request.config.train.init_from = "first";
    facts.model = initial_model();
    facts.model->config.source_eos = facts.model->tokenizers.source_eos = source_eos;
    facts.tokenizers.reset();
    const SettledRun first = settled();
    EXPECT_EQ(first.config.tokenizer.source_eos, source_eos) << "for the encoding of the text";
    facts.tokenizers = tokenizers();
    facts.tokenizers->source_eos = first.config.tokenizer.source_eos;
    EXPECT_EQ(settled().config.model.source_eos, source_eos);
  }
}

TEST_F(RunStart, ARunFromAModelMayBeShorterThanTheUsualWarmUp) {
  request.config.train.init_from = "first";
  facts.model = initial_model();
  ask("lr-scheduler", "cosine");
  ask("max-updates", "30");
  EXPECT_EQ(settled().config.train.lr_end, 30);
  facts.corpus = corpus();
  EXPECT_LT(settled().config.train.warmup_updates, 30);
}

TEST_F(RunStart, ARunThatGoesOnHasItsOwnSettingsWhereNothingIsAsked) {
  ask("lr", "0.004");
  facts.corpus = corpus();
  begin();
  request.config.train.lr = 7e-4;
  request.settings.asked.clear();
  facts.corpus.reset();
  ask("max-updates", "123456");
  SettledRun run = settled();
  EXPECT_EQ(run.config.train.lr, 0.004);
  EXPECT_EQ(run.config.train.max_updates, 123456);
  EXPECT_EQ(run.settings.asked.at("lr"), "0.004") << "when it was started";
  EXPECT_EQ(reason(run, "valid-every"), "29,000 pairs");
  EXPECT_TRUE(run.open.empty());

  facts.machine =
      MachineFacts{.ranks = 1, .precision = "fp32", .threads = "8", .processor = "here"};
  run = settled();
  ASSERT_EQ(run.remarks.size(), 2U);
  EXPECT_EQ(run.remarks[0].kind, Remark::Kind::Info);
  EXPECT_THAT(run.remarks[0].text, HasSubstr("changed: --max-updates"));
  EXPECT_EQ(run.remarks[1].kind, Remark::Kind::Warning);
  EXPECT_EQ(run.remarks[1].text, "threads 2 -> 8: the run continues, but not bit-identically");
}

TEST_F(RunStart, ALengthThatWasChosenGivesWayToOneThatIsAskedForLater) {
  facts.corpus = corpus();
  begin();
  const std::int64_t chosen = settled().config.train.max_updates;
  ASSERT_GT(chosen, 0);
  for (const auto& [name, text] : {std::pair("max-epochs", "90"), std::pair("max-time", "2h")}) {
    request.settings.asked.clear();
    ask(name, text);
    EXPECT_EQ(settled().config.train.max_updates, 0) << name;
  }
}

TEST_F(RunStart, ALengthThatWasAskedForStaysBesideAnotherLimit) {
  ask("max-updates", "700");
  facts.corpus = corpus();
  begin();
  request.settings.asked.clear();
  ask("max-epochs", "90");
  EXPECT_EQ(settled().config.train.max_updates, 700);
}

TEST_F(RunStart, ARunThatGoesOnKnowsItsTextByItsPlaceInTheCommand) {
  begin();
  facts.begun->start.file_hashes = {{"a.en", "0123"}, {"a.de", "4567"}};
  request.config.data.train_source = {"moved.en"};
  request.settings.asked["train-src"] = "moved.en";
  EXPECT_THAT(settled().expected_hashes,
              ElementsAre(Pair("a.de", "4567"), Pair("moved.en", "0123")));
}

// ---- what is refused ----------------------------------------------------------------------------

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
