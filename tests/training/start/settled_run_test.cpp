#include "training/start/settled_run.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>

#include "base/error.h"
#include "tests/names.h"
#include "tests/tokenizer/sample_text.h"

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
    request = RunSettings::from_preset(Preset::Base);
    request.train.output = "run";
    request.data.train_source = {"a.en"};
    request.data.train_target = {"a.de"};
  }

  /// As a flag does.
  void ask(const std::string& name, const std::string& text) {
    if (text != kAuto) assign_text(field_named(request.fields(), name), text);
    request.asked[name] = text;
  }
  SettledRun settled() const { return settle(request, known); }
  std::string refusal() const {
    return message_of<UsageError>([this] { settle(request, known); });
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
  /// The text is known, and that tiny suits it.
  void read_text(const std::string& reason = "29,000 pairs") {
    known.text = TextSize{.pairs = 29'000, .target_characters = 2'000'000};
    known.preset = ChosenPreset{Preset::Tiny, reason};
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
    begun.start = settled().settings.record();
    known.remembered = begun.start;
    begun.start.machine = {.precision = "fp32", .threads = "2", .processor = "here"};
    known.begun = begun;
  }

  RunSettings request;
  StartFacts known;

 private:
  static inline TokenizerPair* tokenizers_ = nullptr;
};

// ---- what is settled ----------------------------------------------------------------------------

TEST_F(RunStart, WithoutFactsTheSettingsAreThoseAskedFor) {
  ask("lr", "0.004");
  ask("patience", kAuto);
  const SettledRun run = settled();
  EXPECT_EQ(run.settings.train.lr, 0.004);
  EXPECT_FALSE(run.settings.is_open("lr"));
  EXPECT_TRUE(run.settings.is_open("patience"));
  EXPECT_TRUE(run.settings.is_open("preset"));
  EXPECT_EQ(run.settings.record().values.at("lr"), "0.004");
  EXPECT_THAT(run.remarks, IsEmpty());
  EXPECT_EQ(request.train.lr, 0.004);
}

TEST_F(RunStart, TheTextDecidesThePresetAndThePresetsSettings) {
  ask("dropout", "0.25");
  read_text();
  const SettledRun run = settled();
  EXPECT_EQ(run.settings.train.preset, Preset::Tiny);
  EXPECT_EQ(run.settings.model.d_model, ModelConfig::from_preset(Preset::Tiny).d_model);
  EXPECT_EQ(run.settings.model.dropout, 0.25) << "asked for";
  EXPECT_EQ(run.settings.tokenizer.vocab_size, vocabulary_for(*known.text));
  EXPECT_EQ(reason(run, "preset"), "29,000 pairs");
  EXPECT_EQ(reason(run, "update-freq"), "--preset tiny");
  EXPECT_FALSE(run.settings.is_open("vocab-size"));
  EXPECT_TRUE(run.settings.is_open("max-updates"));
}

TEST_F(RunStart, NoAttentionWeightsAreDroppedOnAnyDeviceUnlessTheRunHasAValue) {
  for (const Preset preset : {Preset::Tiny, Preset::Small, Preset::Base, Preset::Big})
    for (const bool on_gpu : {false, true}) {
      const DataConfig data = request.data;
      request = RunSettings::from_preset(preset);
      request.data = data;
      known.on_gpu = on_gpu;
      known.text = TextSize{.pairs = 29'000, .target_characters = 2'000'000};
      EXPECT_EQ(settled().settings.model.attention_dropout, 0) << name_of(preset);
      EXPECT_GT(settled().settings.model.dropout, 0) << name_of(preset);
    }
  ask("attention-dropout", "0.2");
  EXPECT_EQ(settled().settings.model.attention_dropout, 0.2) << "asked for";
}

TEST_F(RunStart, OnAGpuThatNeedsNoPaddingBatchesHaveMixedLengths) {
  EXPECT_EQ(settled().settings.train.batch_lengths, BatchLengths::Similar) << "on the CPU";
  known.on_gpu = true;
  SettledRun run = settled();
  EXPECT_EQ(run.settings.train.batch_lengths, BatchLengths::Mixed);
  EXPECT_EQ(reason(run, "batch-lengths"), "on a GPU");
  ask("precision", "fp32");
  EXPECT_EQ(settled().settings.train.batch_lengths, BatchLengths::Similar) << "attention pads";
  ask("batch-lengths", "mixed");
  EXPECT_EQ(settled().settings.train.batch_lengths, BatchLengths::Mixed) << "asked for";
}

TEST_F(RunStart, OnAGpuALargeTextIsReadInLargeBatches) {
  known.text = TextSize{.pairs = 4'500'000, .target_characters = 550'000'000};
  known.preset = ChosenPreset{Preset::Base, "4,500,000 pairs"};
  EXPECT_EQ(settled().settings.train.max_tokens, 4096) << "on the CPU";
  known.on_gpu = true;
  const SettledRun run = settled();
  EXPECT_EQ(run.settings.train.max_tokens, 25'000);
  EXPECT_EQ(run.settings.train.update_freq, 1) << "an update of base is as large as on the CPU";
  EXPECT_EQ(reason(run, "max-tokens"), "4,500,000 pairs, on a GPU");
  EXPECT_EQ(run.settings.record().values.at("max-tokens"), "25000");
  known.ranks = 8;
  EXPECT_EQ(settled().settings.train.max_tokens, 4096) << "a pass has fewer than 1,000 updates";
  known.ranks = 1;
  ask("update-freq", "2");
  EXPECT_EQ(settled().settings.train.max_tokens, 4096);
  ask("max-tokens", "9000");
  EXPECT_EQ(settled().settings.train.max_tokens, 9000);
}

TEST_F(RunStart, OnAGpuASmallTextIsReadInTheBatchesOfTheCpu) {
  known.on_gpu = true;
  read_text();
  EXPECT_EQ(settled().settings.train.max_tokens, 2048);
}

TEST_F(RunStart, ARunThatDroppedAttentionWeightsKeepsItsRate) {
  begin();
  for (auto* record : {&*known.remembered, &known.begun->start})
    record->values["attention-dropout"] = "0.1";
  EXPECT_EQ(settled().settings.model.attention_dropout, 0.1);
  known.on_gpu = true;
  EXPECT_EQ(settled().settings.model.attention_dropout, 0.1);
}

TEST_F(RunStart, ARunBegunOnTheCpuKeepsItsBatchesOnAGpu) {
  ask("train-src", "a.en");
  ask("train-tgt", "a.de");
  known.text = TextSize{.pairs = 4'500'000, .target_characters = 550'000'000};
  known.preset = ChosenPreset{Preset::Base, "4,500,000 pairs"};
  const SettledRun before = settled();
  begin();
  known.on_gpu = true;
  const SettledRun after = settled();
  EXPECT_EQ(after.settings.train.max_tokens, before.settings.train.max_tokens);
  EXPECT_EQ(after.settings.train.update_freq, before.settings.train.update_freq);
  EXPECT_EQ(after.settings.train.batch_lengths, BatchLengths::Similar);
}

TEST_F(RunStart, NormalisationAfterTheSubLayersLearnsAtALowerRate) {
  read_text();
  const double before = settled().settings.train.lr;
  ask("norm", "after");
  const SettledRun run = settled();
  EXPECT_EQ(run.settings.train.lr, before / 2);
  EXPECT_EQ(reason(run, "lr"), "--norm after");
  ask("lr", "0.003");
  EXPECT_EQ(settled().settings.train.lr, 0.003);
}

TEST_F(RunStart, APresetThatWasAskedForLeavesTheTextTheVocabularyAlone) {
  ask("preset", "base");
  read_text();
  const SettledRun run = settled();
  EXPECT_EQ(run.settings.train.preset, Preset::Base);
  EXPECT_EQ(run.settings.tokenizer.vocab_size, vocabulary_for(*known.text));
  EXPECT_EQ(run.settings.model.dropout, request.model.dropout);
}

TEST_F(RunStart, AMachineTooSlowForThePresetOfTheTextIsNamed) {
  read_text("too slow here");
  known.text = TextSize{.pairs = 5'000'000, .target_characters = 600'000'000};
  const SettledRun run = settled();
  ASSERT_EQ(run.remarks.size(), 1U);
  EXPECT_THAT(run.remarks[0].text, Names("preset tiny ... too slow here ... --preset"));
}

TEST_F(RunStart, TheTokenizersDecideTheModelsVocabulary) {
  known.tokenizers = tokenizers();
  SettledRun run = settled();
  EXPECT_EQ(run.settings.model.source_vocabulary, 300);
  EXPECT_EQ(run.settings.model.eos_id, tokenizers().target->eos_id());
  EXPECT_TRUE(run.settings.is_open("vocab-size"));
  EXPECT_EQ(run.settings.model.tying, Tying::ThreeWay);

  request.tokenizer.source_model = "spm.model";
  run = settled();
  EXPECT_EQ(run.settings.tokenizer.vocab_size, 300);
  EXPECT_EQ(reason(run, "vocab-size"), "of the tokenizer that was given");
  EXPECT_EQ(run.settings.tokenizer.target_normalization, Normalization::NmtNfkc)
      << "not the default";
}

TEST_F(RunStart, UsualNoiseLeavesTheSharesThatWereAskedFor) {
  EXPECT_EQ(settled().settings.data.augment_upper_case, 0);
  ask("noise", "usual");
  ask("augment-typos", "0");
  const SettledRun run = settled();
  EXPECT_EQ(run.settings.data.augment_upper_case, 0.07);
  EXPECT_EQ(run.settings.data.augment_copied_text, 0.01);
  EXPECT_EQ(run.settings.data.augment_typos, 0);
  EXPECT_EQ(reason(run, "augment-upper-case"), "--noise usual");
}

TEST_F(RunStart, TwoVocabulariesAreNotTiedThreeWays) {
  known.tokenizers = tokenizers();
  known.tokenizers->target = trained(310).source;
  const SettledRun run = settled();
  EXPECT_EQ(run.settings.model.tying, Tying::TwoWay);
  EXPECT_EQ(run.settings.model.target_vocabulary, 310);
  EXPECT_EQ(reason(run, "tying"), "two vocabularies");
  ASSERT_EQ(run.remarks.size(), 1U);
  EXPECT_THAT(run.remarks[0].text, HasSubstr("two vocabularies"));
  ask("tying", "three-way");
  EXPECT_THAT(refusal(), Names("--tying three-way ... --joint-vocab"));
}

TEST_F(RunStart, ReferencesThatAreTooShortForBleuAreJudgedByChrf) {
  known.has_short_references = true;
  const SettledRun run = settled();
  EXPECT_EQ(run.settings.train.best_metric, BestMetric::Chrf);
  ASSERT_EQ(run.remarks.size(), 1U);
  EXPECT_THAT(run.remarks[0].text, HasSubstr("--best-metric chrf: no validation reference"));
  ask("best-metric", "loss");
  EXPECT_THAT(settled().remarks, IsEmpty());
  ask("best-metric", "bleu");
  const SettledRun warned = settled();
  EXPECT_EQ(warned.settings.train.best_metric, BestMetric::Bleu);
  ASSERT_EQ(warned.remarks.size(), 1U);
  EXPECT_EQ(warned.remarks[0].kind, Remark::Kind::Warning);
}

TEST_F(RunStart, TheCorpusDecidesTheLengthAndTheSettingsThatFollowFromIt) {
  ask("patience", "3");
  known.corpus = corpus();
  SettledRun run = settled();
  EXPECT_GT(run.settings.train.max_updates, 0);
  EXPECT_EQ(reason(run, "max-updates"), "29,000 pairs");
  EXPECT_EQ(reason(run, "valid-every"), "29,000 pairs");
  EXPECT_EQ(run.settings.train.patience, 3);

  ask("max-epochs", "2");
  run = settled();
  EXPECT_EQ(run.settings.train.max_updates, 0);
  EXPECT_THAT(length_settings({.updates = 200}),
              Contains(Pair("warmup-updates", text_of(run.settings.train.warmup_updates))));
}

TEST_F(RunStart, AShortRunHasPatienceOnlyIfAStageEndsByIt) {
  ask("max-updates", "100");
  known.corpus = corpus();
  EXPECT_EQ(settled().settings.train.patience, 0);
  ask("mix", "patience: 1,1");
  EXPECT_GT(settled().settings.train.patience, 0);
}

TEST_F(RunStart, OnTheCpuAutomaticTokensAreThoseOfThePreset) {
  read_text();
  const std::int64_t without = settled().settings.train.max_tokens;
  ask("max-tokens", kAuto);
  EXPECT_EQ(settled().settings.train.max_tokens, without);
  EXPECT_EQ(without, 2048);
}

TEST_F(RunStart, OnAGpuAutomaticTokensAreMeasured) {
  read_text();
  known.on_gpu = true;
  ask("max-tokens", kAuto);
  EXPECT_TRUE(settled().settings.is_open("max-tokens"));
  known.max_tokens = 7168;
  EXPECT_EQ(settled().settings.train.max_tokens, 7168);
  EXPECT_FALSE(settled().settings.is_open("max-tokens"));
  ask("max-tokens", "1000");
  EXPECT_EQ(settled().settings.train.max_tokens, 1000);
}

TEST_F(RunStart, TheRateEndsWithTheRun) {
  ask("lr-scheduler", "cosine");
  EXPECT_EQ(settled().settings.train.lr_end, 0) << "the corpus is to choose the length";
  known.corpus = corpus();
  const SettledRun run = settled();
  EXPECT_EQ(run.settings.train.lr_end, run.settings.train.max_updates);
  EXPECT_EQ(reason(run, "lr-end"), "--max-updates");
  known.corpus.reset();
  ask("max-updates", "30");
  EXPECT_EQ(settled().settings.train.lr_end, 30) << "though the warm-up is not chosen yet";
}

TEST_F(RunStart, AnInitialModelGivesArchitectureAndTokenizers) {
  request.train.init_from = "first";
  ask("dropout", "0.3");
  known.model = initial_model();
  known.tokenizer_files = tokenizers();
  request.tokenizer.source_model = "same.model";
  const SettledRun run = settled();
  EXPECT_EQ(run.settings.model.d_model, initial_model().config.d_model);
  EXPECT_EQ(run.settings.model.dropout, 0.3);
  EXPECT_EQ(run.settings.tokenizer.source_bytes, tokenizers().source->model_bytes());
  EXPECT_FALSE(run.settings.tokenizer.trains());
  EXPECT_EQ(reason(run, "d-model"), "the model of --init-from");
  EXPECT_THAT(run.remarks, IsEmpty());
  ask("preset", "big");
  ASSERT_EQ(settled().remarks.size(), 1U);
  EXPECT_THAT(settled().remarks[0].text, Names("--preset big ... --init-from ... d_model"));
}

TEST_F(RunStart, TyingAndSpecialPiecesStayAsTheInitialModelHasThem) {
  request.train.init_from = "first";
  known.model = initial_model();
  known.model->config.tying = Tying::ThreeWay;
  known.model->config.bos_id = known.model->config.eos_id;  // it has no <s>
  known.tokenizers = tokenizers();
  known.tokenizers->target = std::make_shared<const Tokenizer>(
      known.tokenizers->source->model_bytes(), "one vocabulary, two tokenizers");
  const SettledRun run = settled();
  EXPECT_EQ(run.settings.model.tying, Tying::ThreeWay);
  EXPECT_EQ(reason(run, "tying"), "the model of --init-from");
  EXPECT_EQ(run.settings.model.bos_id, run.settings.model.eos_id);
  EXPECT_EQ(run.settings.model.source_vocabulary, 300);
}

TEST_F(RunStart, SourcesEndAsThoseOfTheInitialModel) {
  for (const bool source_eos : {true, false}) {
    request.train.init_from = "first";
    known.model = initial_model();
    known.model->config.source_eos = known.model->tokenizers.source_eos = source_eos;
    known.tokenizers.reset();
    const SettledRun first = settled();
    EXPECT_EQ(first.settings.tokenizer.source_eos, source_eos) << "for the encoding of the text";
    known.tokenizers = tokenizers();
    known.tokenizers->source_eos = first.settings.tokenizer.source_eos;
    EXPECT_EQ(settled().settings.model.source_eos, source_eos);
  }
}

TEST_F(RunStart, ARunFromAModelMayBeShorterThanTheUsualWarmUp) {
  request.train.init_from = "first";
  known.model = initial_model();
  ask("lr-scheduler", "cosine");
  ask("max-updates", "30");
  EXPECT_EQ(settled().settings.train.lr_end, 30);
  known.corpus = corpus();
  EXPECT_LT(settled().settings.train.warmup_updates, 30);
}

TEST_F(RunStart, ANewFlagIsRefusedByItsOwnNameIfItDoesNotGoWithOneOfTheBegunRun) {
  ask("mix", "patience: 1,1");
  begin();
  request.asked.clear();
  request.data.mix.clear();
  ask("corpus-weights", "2");
  EXPECT_THAT(refusal(), AllOf(Names("--corpus-weights ... 2 ... -o"), Not(HasSubstr("--mix"))));
}

TEST_F(RunStart, AResumedRunHasItsOwnSettingsIfNothingElseIsAsked) {
  ask("lr", "0.004");
  known.corpus = corpus();
  begin();
  request.train.lr = 7e-4;
  request.asked.clear();
  known.corpus.reset();
  ask("max-updates", "123456");
  SettledRun run = settled();
  EXPECT_EQ(run.settings.train.lr, 0.004);
  EXPECT_EQ(run.settings.train.max_updates, 123456);
  EXPECT_EQ(run.settings.asked.at("lr"), "0.004") << "when it was started";
  EXPECT_EQ(reason(run, "valid-every"), "29,000 pairs");
  for (const Field& field : run.settings.fields())
    EXPECT_TRUE(is_of_the_call(field.info.name) ||
                !run.settings.is_open(std::string(field.info.name)));

  known.machine =
      MachineFacts{.ranks = 1, .precision = "fp32", .threads = "8", .processor = "here"};
  run = settled();
  ASSERT_EQ(run.remarks.size(), 2U);
  EXPECT_EQ(run.remarks[0].kind, Remark::Kind::Info);
  EXPECT_THAT(run.remarks[0].text, Names("--max-updates"));
  EXPECT_EQ(run.remarks[1].kind, Remark::Kind::Warning);
  EXPECT_THAT(run.remarks[1].text, Names("threads ... 2 ... 8 ... bit-identically"));
}

TEST_F(RunStart, ALengthThatWasChosenGivesWayToOneThatIsAskedForLater) {
  known.corpus = corpus();
  begin();
  const std::int64_t chosen = settled().settings.train.max_updates;
  ASSERT_GT(chosen, 0);
  for (const auto& [name, text] : {std::pair("max-epochs", "90"), std::pair("max-time", "2h")}) {
    request.asked.clear();
    ask(name, text);
    EXPECT_EQ(settled().settings.train.max_updates, 0) << name;
  }
}

TEST_F(RunStart, ALengthThatWasAskedForStaysBesideAnotherLimit) {
  ask("max-updates", "700");
  known.corpus = corpus();
  begin();
  request.asked.clear();
  ask("max-epochs", "90");
  EXPECT_EQ(settled().settings.train.max_updates, 700);
}

TEST_F(RunStart, AResumedRunKnowsItsTextByItsPlaceInTheCommand) {
  begin();
  known.begun->start.file_hashes = {{"a.en", "0123"}, {"a.de", "4567"}};
  request.data.train_source = {"moved.en"};
  request.asked["train-src"] = "moved.en";
  EXPECT_THAT(settled().expected_hashes,
              ElementsAre(Pair("a.de", "4567"), Pair("moved.en", "0123")));
}

// ---- what is refused ----------------------------------------------------------------------------

TEST_F(RunStart, FlagsThatMakeNoSenseAreRefused) {
  request.train.lr = 0;
  EXPECT_THAT(refusal(), Names("--lr ... above 0"));
}

TEST_F(RunStart, AFlagWithoutTheOneThatItNeedsIsRefused) {
  const RunSettings plain = request;
  struct Case {
    std::string flag, text, other, other_text;
  };
  const Case cases[] = {{"guided-alignment-weight", "3", "guided-alignment", "links"},
                        {"guided-alignment-layer", "1", "guided-alignment", "links"},
                        {"guided-alignment-head", "2", "guided-alignment", "links"},
                        {"cooldown", "0.3", "lr-scheduler", "wsd"},
                        {"lr-end", "90000", "lr-scheduler", "linear"},
                        {"min-lr", "1e-5", "lr-scheduler", "cosine"},
                        {"train-terms-share", "0.5", "train-terms", "terms.tsv"},
                        {"columns", "2,1", "train", "more.tsv"},
                        {"corpus-temperature", "5", "train", "more.tsv"},
                        {"subword-sampling-side", "source", "subword-sampling", "0.1"},
                        {"max-positions", "500", "positions", "learned"}};
  for (const auto& [flag, text, other, other_text] : cases) {
    request = plain;
    ask("lr-scheduler", "noam");
    ask("subword-sampling", "0");
    ask("max-updates", "90000");
    ask(flag, text);
    EXPECT_THAT(refusal(), Names("--" + flag + " ... --" + other)) << flag;
    ask(other, other_text);
    EXPECT_EQ(refusal(), "") << flag;
  }
  request = plain;
  ask("keep-tolerance", "2");
  EXPECT_THAT(refusal(), Names("--keep-tolerance ... --keep-valid-src"));
}

TEST_F(RunStart, AFlagOfTheValidationIsRefusedWithoutAValidationText) {
  const RunSettings plain = request;
  for (const auto& [flag, text] : {std::pair("patience", "5"),
                                   {"samples", "2"},
                                   {"best-metric", "chrf"},
                                   {"valid-beam-size", "4"},
                                   {"valid-overlap", "ignored"}}) {
    request = plain;
    ask(flag, text);
    EXPECT_EQ(refusal(), "") << flag << ": pairs are held out";
    ask("valid-fraction", "0");
    EXPECT_THAT(refusal(), Names(std::string("--") + flag + ": ... --valid-src")) << flag;
    ask("valid-src", "v.en");
    ask("valid-tgt", "v.de");
    EXPECT_EQ(refusal(), "") << flag;
  }
  request = plain;
  ask("valid-fraction", "0");
  ask("patience", "0");
  ask("samples", "0");
  EXPECT_EQ(refusal(), "") << "as it is";
}

TEST_F(RunStart, AFractionToHoldOutIsRefusedBesideAValidationText) {
  ask("valid-src", "v.en");
  ask("valid-tgt", "v.de");
  ask("valid-fraction", "0");
  EXPECT_EQ(refusal(), "") << "as it is";
  ask("valid-fraction", "0.5");
  EXPECT_THAT(refusal(), Names("--valid-fraction ... --valid-src"));
}

TEST_F(RunStart, AFlagWaitsForThePresetThatMayGiveWhatItNeeds) {
  ask("cooldown", "0.3");
  ask("subword-sampling-side", "source");
  EXPECT_EQ(refusal(), "");
  read_text();
  EXPECT_THAT(refusal(), Names("--subword-sampling-side ... --subword-sampling")) << "tiny";
  known.preset->preset = Preset::Small;
  EXPECT_EQ(refusal(), "");
  ask("preset", "base");
  EXPECT_THAT(refusal(), Names("--cooldown ... --lr-scheduler wsd"));
}

TEST_F(RunStart, AFlagFindsTheScheduleOfFineTuning) {
  request.train.init_from = "first";
  ask("cooldown", "0.3");
  EXPECT_EQ(refusal(), "");
  ask("lr-end", "90000");
  EXPECT_THAT(refusal(), Names("--lr-end ... --lr-scheduler cosine or linear ... wsd"));
}

TEST_F(RunStart, AResumedRunKeepsAFlagWithoutEffect) {
  begin();
  for (StartRecord* record : {&*known.remembered, &known.begun->start})
    record->asked["cooldown"] = record->values["cooldown"] = "0.3";
  EXPECT_EQ(refusal(), "");
}

TEST_F(RunStart, ARateWithoutAnEndIsRefused) {
  ask("lr-scheduler", "linear");
  ask("max-epochs", "3");
  EXPECT_THAT(refusal(), Names("--lr-scheduler linear ... --lr-end ... --max-updates"));
}

TEST_F(RunStart, AWarmUpThatIsLongerThanTheRateIsRefused) {
  ask("lr-scheduler", "linear");
  ask("max-updates", "30");
  ask("warmup-updates", "40");
  EXPECT_THAT(refusal(), AllOf(Names("--max-updates 30 ... 40 updates ... --warmup-updates"),
                               Not(HasSubstr("--lr-end"))))
      << "before the text is read, and without a word of the end that nobody has given";
  ask("lr-end", "35");
  EXPECT_THAT(refusal(), Names("--lr-end ... --warmup-updates"));
}

TEST_F(RunStart, AnotherArchitectureThanThatOfTheInitialModelIsRefused) {
  request.train.init_from = "first";
  known.model = initial_model();
  ask("d-model", "64");
  EXPECT_THAT(refusal(), Names("--d-model 64 ... --init-from ... first/model.safetensors"));
}

TEST_F(RunStart, FlagsOfATokenizerThatIsGivenAreRefused) {
  known.tokenizer_files = tokenizers();
  request.tokenizer.source_model = "spm.model";
  ask("vocab-size", "300");
  EXPECT_EQ(refusal(), "") << "as it is";
  ask("vocab-size", "500");
  EXPECT_THAT(refusal(), Names("--vocab-size 500 ... --tokenizer ... 300"));
  ask("vocab-size", "300");
  ask("source-normalization", "nmt_nfkc");
  EXPECT_EQ(refusal(), "") << "as it is";
  ask("target-normalization", "none");
  EXPECT_THAT(refusal(), Names("--target-normalization none ... --tokenizer ... nmt_nfkc"));
  ask("target-normalization", "nmt_nfkc");
  ask("vocab-size", "500");
  request.train.init_from = "first";
  known.model = initial_model();
  EXPECT_THAT(refusal(), Names("--vocab-size 500 ... --init-from ... 300"));
  ask("vocab-size", "300");
  ask("character-coverage", "0.99");
  EXPECT_THAT(refusal(), Names("--character-coverage 0.99 ... --init-from"));
}

TEST_F(RunStart, AnotherTokenizerThanTheCheckpointsIsRefused) {
  begin();
  known.model = initial_model();
  known.model->name = "this run's checkpoint";
  known.tokenizer_files = trained(310);
  ask("tokenizer", "spm.model");
  EXPECT_THAT(message_of<Error>([this] { settled(); }),
              Names("spm.model ... 310 ... checkpoint ... first/model.safetensors ... 300"));
}

TEST_F(RunStart, ARateThatHasBegunIsNotBent) {
  ask("lr-scheduler", "cosine");
  ask("max-updates", "10000");
  begin();
  ask("max-updates", "20000");
  EXPECT_THAT(refusal(), Names("--max-updates ... 10000 ... --min-lr ... --lr-end"));
  ask("lr-end", "10000");
  EXPECT_EQ(refusal(), "");
}

TEST_F(RunStart, AnEndThatTheRunHasPassedIsRefused) {
  ask("max-updates", "1000");
  begin();
  ask("max-updates", "499");
  EXPECT_THAT(refusal(), Names("--max-updates ... 499 ... 500"));
  ask("max-updates", "500");
  EXPECT_EQ(refusal(), "");
  known.begun->update = 1001;  // its cool-down came after the limit
  ask("max-updates", "1000");
  EXPECT_EQ(refusal(), "");
}

TEST_F(RunStart, AFlagThatWouldMakeAnotherRunIsRefused) {
  ask("lr", "0.004");
  begin();
  ask("lr", "0.005");
  EXPECT_THAT(refusal(), Names("--lr ... with 0.004, not with 0.005"));
}

TEST_F(RunStart, MoreOrFewerTextsThanTheRunHadAreRefused) {
  begin();
  request.data.train_source = {"a.en", "b.en"};
  request.data.train_target = {"a.de", "b.de"};
  request.asked["train-src"] = "a.en,b.en";
  request.asked["train-tgt"] = "a.de,b.de";
  EXPECT_THAT(refusal(), Names("--train-src ... with a.en, not with a.en b.en"));
}

TEST_F(RunStart, OneFileThatStandsForTwoIsRefused) {
  begin();
  known.begun->start.file_hashes = {{"a.en", "0123"}, {"a.de", "4567"}};
  request.data.train_target = {"a.en"};
  request.asked["train-tgt"] = "a.en";
  EXPECT_THAT(refusal(), Names("--train-tgt ... a.en ... a.de"));
}

TEST_F(RunStart, ATextToKeepWithoutAScoreFromTheStartIsRefused) {
  request.train.init_from = "first";
  request.data.keep_valid_source = {"k.en"};
  request.data.keep_valid_target = {"k.de"};
  begin();
  EXPECT_THAT(refusal(), Names("--keep-valid-src"));
  known.begun->keep_value = 30;
  EXPECT_EQ(refusal(), "");
}

}  // namespace

}  // namespace dragoman
