// The search on a device beside the search on the host, on the distributions of a table: the same
// sentences end in the same order with the same hypotheses.
#include "inference/device/device_scheduler.h"

#include <ATen/ops/zeros.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <stdexcept>
#include <utility>
#include <vector>

#include "base/random.h"
#include "inference/ensemble.h"
#include "tests/inference/lone_worker.h"
#include "tests/inference/search/table_engine.h"

namespace dragoman {
namespace {

constexpr std::int64_t kVocabulary = 9;

/// A DeviceModel without a model: TableEngine's distributions as tensors.
class TableModel : public DeviceModel {
 public:
  TableModel(std::int64_t vocabulary, Distribution distribution)
      : vocabulary_(vocabulary), distribution_(std::move(distribution)) {}

  torch::Device device() const override { return torch::kCPU; }
  std::int64_t vocabulary() const override { return vocabulary_; }
  std::int64_t max_positions() const override { return positions; }
  std::int64_t preferred_rows() const override { return 16; }
  void check(const AttentionHeads& heads) const override { heads.check(1, 1); }

  void shape(std::int64_t groups, std::int64_t rows_per_group) override {
    shapes.push_back(groups);
    rows_per_group_ = rows_per_group;
    sources_.assign(static_cast<std::size_t>(groups), {});
    fed_.clear();
    rows_ = groups * rows_per_group;
    source_capacity_ = 0;
  }
  void admit(std::span<const std::vector<TokenId>> sentences,
             std::span<const std::int64_t> groups) override {
    for (std::size_t i = 0; i < sentences.size(); ++i) {
      sources_.at(static_cast<std::size_t>(groups[i])) = sentences[i];
      source_capacity_ = std::max(source_capacity_, static_cast<std::int64_t>(sentences[i].size()));
      ++admitted;
    }
  }
  std::int64_t source_capacity() const override { return source_capacity_; }

  DeviceStepResults step(const DeviceStep& step) override {
    ++steps;
    auto logits = torch::zeros({rows_, vocabulary_});
    auto attention = torch::zeros({rows_, source_capacity_});
    const auto ancestors = step.ancestors.accessor<std::int32_t, 3>();
    const auto previous = step.previous.accessor<std::int64_t, 1>(),
               positions_of = step.positions.accessor<std::int64_t, 1>();
    for (std::int64_t row = 0; row < rows_; ++row) {
      EXPECT_LT(positions_of[row], step.columns);
      fed_[{row, positions_of[row]}] = static_cast<TokenId>(previous[row]);
    }
    for (std::int64_t row = 0; row < rows_; ++row) {
      const std::int64_t group = row / rows_per_group_, place = row % rows_per_group_;
      std::vector<TokenId> prefix;
      for (std::int64_t t = 1; t <= positions_of[row]; ++t) {
        const std::int64_t ancestor = ancestors[group][place][t];
        EXPECT_LT(ancestor, rows_per_group_);
        prefix.push_back(fed_.at({group * rows_per_group_ + ancestor, t}));
      }
      const auto& source = sources_[static_cast<std::size_t>(row / rows_per_group_)];
      const std::vector<float> scores = distribution_(source, prefix);
      for (std::int64_t token = 0; token < vocabulary_; ++token)
        logits.accessor<float, 2>()[row][token] = scores[static_cast<std::size_t>(token)];
      if (!step.reports_attention || source.empty()) continue;
      std::vector<float> weights;
      TableEngine::append_attention(source, prefix, weights);
      for (std::size_t s = 0; s < weights.size(); ++s)
        attention.accessor<float, 2>()[row][static_cast<std::int64_t>(s)] = weights[s];
    }
    return {.logits = logits,
            .attention = step.reports_attention ? attention : torch::Tensor(),
            .are_normalized = true};
  }
  void add_places(TensorPlaces&) override {}

  std::int64_t positions = 1'000'000;
  std::int64_t steps = 0, admitted = 0;
  std::vector<std::int64_t> shapes;  // the groups of each call of shape()

 private:
  std::int64_t vocabulary_;
  Distribution distribution_;
  std::int64_t rows_ = 0, rows_per_group_ = 1, source_capacity_ = 0;
  std::vector<std::vector<TokenId>> sources_;
  std::map<std::pair<std::int64_t, std::int64_t>, TokenId> fed_;  // by row and position
};

struct Search {
  DecodeConfig config;
  TargetTokens tokens = {kEos};
  std::vector<TokenId> never_emitted = {};
  Distribution distribution = random_distribution(kVocabulary, 17, 4, 0.5);
};

std::vector<SourceSentence> on_host(const Search& search,
                                    const std::vector<SourceSentence>& sentences,
                                    std::size_t added_at_once = 1000) {
  TableEngine engine(kVocabulary, search.distribution);
  engine.never_emitted = search.never_emitted;
  LoneWorker worker(engine, search.config, search.tokens);
  return worker.finish(sentences, added_at_once);
}

std::vector<SourceSentence> on_device(const Search& search,
                                      const std::vector<SourceSentence>& sentences,
                                      std::size_t added_at_once = 1000,
                                      std::int64_t steps_per_poll = 1) {
  TableModel model(kVocabulary, search.distribution);
  LoneWorker worker(std::make_unique<DeviceScheduler>(
                        model, search.never_emitted,
                        DeviceScheduler::Options{search.config.batch_size, steps_per_poll}),
                    search.config, search.tokens);
  return worker.finish(sentences, added_at_once);
}

void expect_same(const Hypothesis& device, const Hypothesis& host) {
  EXPECT_EQ(device.tokens, host.tokens);
  EXPECT_EQ(device.length, host.length);
  EXPECT_EQ(device.cut, host.cut);
  EXPECT_DOUBLE_EQ(device.sum, host.sum);
  EXPECT_NEAR(device.score, host.score, 1e-6);
  EXPECT_NEAR(device.coverage_penalty, host.coverage_penalty, 1e-6);
  EXPECT_EQ(device.log_probabilities, host.log_probabilities);
  EXPECT_EQ(device.attention, host.attention);
}

void expect_same(const std::vector<SourceSentence>& device, const std::vector<SourceSentence>& host,
                 bool same_order = true) {
  ASSERT_EQ(device.size(), host.size());
  for (std::size_t i = 0; i < host.size(); ++i) {
    auto found = device.begin() + static_cast<std::ptrdiff_t>(i);
    if (!same_order) found = std::ranges::find(device, host[i].line, &SourceSentence::line);
    ASSERT_NE(found, device.end());
    ASSERT_EQ(found->line, host[i].line) << "another order";
    SCOPED_TRACE(join_text("line ", host[i].line));
    ASSERT_EQ(found->hypotheses.size(), host[i].hypotheses.size());
    for (std::size_t h = 0; h < host[i].hypotheses.size(); ++h)
      expect_same(found->hypotheses[h], host[i].hypotheses[h]);
  }
}

/// Few rows, so that groups are filled again while others are under way. If sentences come in
/// parts, a search of few groups ends before one of more begins, so the order differs from the
/// host's.
void expect_same_search(Search search) {
  search.config.check();
  const auto sentences = random_sentences(12, kVocabulary);
  for (const auto& [rows, added_at_once] : {std::pair(1, 1000), {12, 3}, {12, 1000}, {60, 1000}}) {
    SCOPED_TRACE(join_text(rows, " rows, ", added_at_once, " sentences at once"));
    search.config.batch_size = rows;
    const auto at_once = static_cast<std::size_t>(added_at_once);
    expect_same(on_device(search, sentences, at_once), on_host(search, sentences, at_once),
                /*same_order=*/at_once >= sentences.size());
  }
}

TEST(DeviceScheduler, TranslationsAreThoseOfGreedySearch) {
  expect_same_search({.config = {.beam_size = 1, .max_length = 20}});
}

TEST(DeviceScheduler, TranslationsAreThoseOfBeamSearch) {
  for (const std::int64_t beam : {2, 4, 7})
    expect_same_search({.config = {.beam_size = beam, .max_length = 20}});
}

TEST(DeviceScheduler, TheNBestAreThoseOfBeamSearch) {
  expect_same_search({.config = {.beam_size = 3, .n_best = 3, .max_length = 15}});
  expect_same_search({.config = {.beam_size = 5, .n_best = 2, .max_length = 15}});
}

TEST(DeviceScheduler, EachStopRuleEndsTheSearchAsOnTheHost) {
  for (const Stop stop :
       {Stop::Full, Stop::Exact, Stop::Hf, Stop::Marian, Stop::Fairseq, Stop::Opennmt})
    for (const std::int64_t beam : {1, 4}) {
      SCOPED_TRACE(join_text(name_of(stop), ", beam ", beam));
      expect_same_search({.config = {.beam_size = beam, .stop = stop, .max_length = 9}});
      expect_same_search({.config = {.beam_size = beam,
                                     .n_best = beam,
                                     .length_penalty = 0.6,
                                     .length_penalty_kind = LengthPenalty::Gnmt,
                                     .stop = stop,
                                     .min_length = 3,
                                     .max_length = 12}});
      expect_same_search(
          {.config = {.beam_size = beam, .word_penalty = 0.2, .stop = stop, .max_length = 12}});
    }
}

TEST(DeviceScheduler, TheSameSamplesAreDrawn) {
  expect_same_search({.config = {.max_length = 20, .sampling = true}});
  expect_same_search({.config = {.n_best = 3, .max_length = 20, .sampling = true, .seed = 5}});
  expect_same_search({.config = {.n_best = 2,
                                 .max_length = 20,
                                 .sampling = true,
                                 .sampling_topk = 3,
                                 .temperature = 0.7}});
  expect_same_search(
      {.config = {.max_length = 20, .sampling = true, .sampling_topp = 0.8, .temperature = 1.5}});
}

TEST(DeviceScheduler, TheRulesForTokensHold) {
  const TargetTokens avoiding{.eos = kEos, .suppressed = {5}, .avoided = {{3, 4}, {6}, {7, 7, 8}}};
  for (const std::int64_t beam : {1, 4}) {
    SCOPED_TRACE(beam);
    for (const std::int64_t n : {1, 2, 3})
      expect_same_search(
          {.config = {.beam_size = beam, .no_repeat_ngram_size = n, .max_length = 20}});
    expect_same_search(
        {.config = {.beam_size = beam, .repetition_penalty = 1.7, .max_length = 20}});
    expect_same_search({.config = {.beam_size = beam, .min_length = 6, .max_length = 20},
                        .tokens = avoiding,
                        .never_emitted = {0, 8}});
  }
  expect_same_search({.config = {.no_repeat_ngram_size = 2, .max_length = 20, .sampling = true},
                      .tokens = avoiding});
}

TEST(DeviceScheduler, RowsThatCannotContinueEnd) {
  // No token may come twice, so after eight tokens nothing is possible.
  const Search search{
      .config = {.beam_size = 3, .no_repeat_ngram_size = 1, .min_length = 30, .max_length = 40}};
  expect_same_search(search);
  for (const SourceSentence& sentence : on_device(search, random_sentences(3, kVocabulary)))
    EXPECT_TRUE(sentence.hypotheses.front().cut);
}

TEST(DeviceScheduler, ATranslationBeginsWithTheRequiredPrefix) {
  const std::vector<TokenEdges> edges = {{}, {}, {}, {true, false}, {}, {true, false}, {}, {}, {}};
  for (const bool sampling : {false, true}) {
    Search search{.config = {.beam_size = 4,
                             .n_best = 2,
                             .max_length = 12,
                             .sampling = sampling,
                             .batch_size = 16},
                  .tokens = {.eos = kEos, .edges = edges},
                  .never_emitted = {7}};
    auto sentences = random_sentences(20, kVocabulary);
    for (std::size_t i = 0; i < sentences.size(); ++i) {
      sentences[i].required.prefix.tokens.assign(i % 4, static_cast<TokenId>(3 + i % 5));
      sentences[i].required.prefix.ends_word = i % 3 == 0;
    }
    expect_same(on_device(search, sentences, 4), on_host(search, sentences, 4),
                /*same_order=*/false);
  }
}

TEST(DeviceScheduler, ARequiredPrefixMayBeImpossibleOrAsLongAsTheTranslation) {
  for (const Stop stop :
       {Stop::Full, Stop::Exact, Stop::Hf, Stop::Marian, Stop::Fairseq, Stop::Opennmt}) {
    Search search{.config = {.beam_size = 3, .stop = stop, .max_length = 4, .batch_size = 12}};
    search.distribution = [table = search.distribution](const std::vector<TokenId>& source,
                                                        const std::vector<TokenId>& prefix) {
      auto scores = table(source, prefix);
      if (prefix == std::vector<TokenId>{4}) scores[5] = -INFINITY;
      return scores;
    };
    auto sentences = random_sentences(6, kVocabulary);
    sentences[0].required.prefix.tokens = {4, 5, 6};     // impossible at its second token
    sentences[1].required.prefix.tokens = {3, 4, 3, 4};  // as long as a translation may be
    sentences[2].required.prefix.tokens = {3, 4, 3, 4, 3, 4};
    sentences[3].required.prefix.tokens = {6, 7, 8};
    expect_same(on_device(search, sentences), on_host(search, sentences));
  }
}

TEST(DeviceScheduler, AVocabularyMayBeSmallerThanTheBeam) {
  expect_same_search({.config = {.beam_size = 12, .n_best = 12, .max_length = 6}});
  expect_same_search({.config = {.max_length = 9, .sampling = true, .sampling_topk = 50}});
}

TEST(DeviceScheduler, HypothesesGrowLongerThanTheRoomAtTheStart) {
  expect_same_search(
      {.config = {.beam_size = 2, .no_repeat_ngram_size = 4, .min_length = 70, .max_length = 80}});
}

TEST(DeviceScheduler, AttentionIsAddedUpForTheCoveragePenalty) {
  Search search{.config = {.beam_size = 4,
                           .n_best = 3,
                           .coverage_penalty = 0.4,
                           .max_length = 12,
                           .batch_size = 12}};
  const auto sentences = random_sentences(20, kVocabulary);
  const auto device = on_device(search, sentences);
  expect_same(device, on_host(search, sentences));
  EXPECT_FALSE(device.front().hypotheses.front().attention.empty());
}

TEST(DeviceScheduler, TheSmallerOfEquallyProbableTokensIsTaken) {
  const auto coarse = [](const std::vector<TokenId>& source, const std::vector<TokenId>& prefix) {
    std::vector<double> logits(kVocabulary, 0);
    if (prefix.size() >= source.size()) logits[kEos] = 1;
    return log_softmax(logits);
  };
  for (const std::int64_t beam : {1, 3})
    expect_same_search(
        {.config = {.beam_size = beam, .n_best = beam, .max_length = 8}, .distribution = coarse});
}

TEST(DeviceScheduler, AHostThatAsksRarelyGetsTheSameResults) {
  Search search{.config = {.beam_size = 3, .max_length = 20, .batch_size = 12}};
  const auto sentences = random_sentences(20, kVocabulary);
  const auto host = on_host(search, sentences);
  for (const std::int64_t steps : {2, 5, 25}) {
    SCOPED_TRACE(steps);
    expect_same(on_device(search, sentences, 1000, steps), host, /*same_order=*/false);
  }
}

TEST(DeviceScheduler, SearchesThatEndBetweenTwoPollsComeInTheOrderOfTheirEnds) {
  Search search{.config = {.beam_size = 3, .max_length = 20, .batch_size = 120}};
  const auto sentences = random_sentences(40, kVocabulary);
  expect_same(on_device(search, sentences, 1000, 7), on_host(search, sentences));
}

TEST(DeviceScheduler, SentencesOfOtherSettingsWaitForTheirTurn) {
  const auto of = [](std::int64_t beam) {
    return std::make_shared<const SearchSettings>(
        SearchSettings{{.beam_size = beam, .max_length = 12, .batch_size = 12}, {kEos}});
  };
  auto sentences = random_sentences(24, kVocabulary);
  for (std::size_t i = 0; i < sentences.size(); ++i) sentences[i].settings = of(1 + i / 5 % 3);
  const Search search{.config = {.batch_size = 12}};
  expect_same(on_device(search, sentences), on_host(search, sentences), /*same_order=*/false);
}

/// Sentences with one to three random phrases, which differ in all that the search asks of them.
std::vector<SourceSentence> sentences_with_phrases(PhrasePolicy policy, std::uint64_t seed) {
  auto sentences = random_sentences(24, kVocabulary);
  RandomStream random(seed);
  const auto any = [&random](std::uint64_t most) { return random.below(most + 1); };
  for (SourceSentence& sentence : sentences) {
    const auto pieces = static_cast<std::size_t>(sentence.pieces());
    std::vector<RequiredPhrase> phrases(1 + any(2));
    for (RequiredPhrase& phrase : phrases) {
      phrase.spellings.resize(1 + any(1));
      for (PhraseSpelling& spelling : phrase.spellings) {
        for (std::uint64_t left = 1 + any(2); left > 0; --left)
          spelling.tokens.push_back(static_cast<TokenId>(3 + any(kVocabulary - 4)));
        spelling.start = static_cast<PhraseStart>(any(5) < 4 ? 0 : 1 + any(1));
      }
      phrase.ends_word = any(1) == 0;
      phrase.begin = any(pieces);
      phrase.end = any(pieces);
      phrase.source_pieces = pieces;
      phrase.instead = static_cast<TokenId>(any(kVocabulary - 1)) - 1;
      phrase.instead_attention = 0.2 * static_cast<double>(any(3));
    }
    sentence.needs_attention = true;
    sentence.required = {.phrases = RequiredPhrases(std::move(phrases)), .phrase_policy = policy};
    if (any(4) == 0) sentence.required.prefix = {.tokens = {4, 3}, .ends_word = any(1) == 0};
  }
  return sentences;
}

TEST(DeviceScheduler, RequiredPhrasesAreInTheSameTranslationsAsOnTheHost) {
  const std::vector<TokenEdges> edges = {{}, {}, {}, {.lengthens_word = true}, {.opens = true},
                                         {}, {}, {}, {.lengthens_word = true}};
  for (const PhrasePolicy policy : {PhrasePolicy::Always, PhrasePolicy::Fluent})
    for (const DecodeConfig& config :
         {DecodeConfig{.beam_size = 1, .max_length = 12, .batch_size = 30},
          DecodeConfig{.beam_size = 3, .n_best = 3, .max_length = 9, .batch_size = 30},
          DecodeConfig{.beam_size = 5,
          .coverage_penalty = 0.2,
          .repetition_penalty = 1.2,
          .stop = Stop::Exact,
          .max_length = 20,
          .batch_size = 100}})
      for (const std::uint64_t seed : {1, 2, 3}) {
        SCOPED_TRACE(join_text(config.beam_size, " rows, seed ", seed));
        const Search search{.config = config, .tokens = {.eos = kEos, .edges = edges}};
        const auto sentences = sentences_with_phrases(policy, seed);
        expect_same(on_device(search, sentences), on_host(search, sentences),
                    /*same_order=*/false);
      }
}

TEST(DeviceScheduler, SentencesWithPhrasesTakeTurnsWithOthers) {
  auto sentences = random_sentences(24, kVocabulary);
  for (std::size_t i = 0; i < sentences.size(); i += 5) {
    sentences[i].needs_attention = true;
    sentences[i].required.phrases = RequiredPhrases({{.spellings = {{{3, 5}}}}});
  }
  const Search search{.config = {.beam_size = 2, .max_length = 12, .batch_size = 12}};
  expect_same(on_device(search, sentences), on_host(search, sentences), /*same_order=*/false);
}

TEST(DeviceScheduler, AnEnsembleHasTheMeanOfItsModels) {
  const Distribution first = random_distribution(kVocabulary, 17, 4, 0.5),
                     second = random_distribution(kVocabulary, 5, 4, 0.5);
  const Search search{.config = {.beam_size = 3, .n_best = 2, .max_length = 15}};
  std::vector<std::unique_ptr<HostEngine>> engines;
  for (const Distribution& distribution : {first, second})
    engines.push_back(std::make_unique<TableEngine>(kVocabulary, distribution));
  Ensemble ensemble(std::move(engines));
  std::vector<std::unique_ptr<DeviceModel>> models;
  for (const Distribution& distribution : {first, second})
    models.push_back(std::make_unique<TableModel>(kVocabulary, distribution));
  DeviceEnsemble both(std::move(models));
  LoneWorker host(ensemble, search.config, search.tokens),
      device(std::make_unique<DeviceScheduler>(both, std::vector<TokenId>(),
                                               DeviceScheduler::Options{.rows = 60}),
             search.config, search.tokens);
  auto sentences = random_sentences(12, kVocabulary);
  for (SourceSentence& sentence : sentences) sentence.needs_attention = true;
  const auto expected = host.finish(sentences, 12), found = device.finish(sentences, 12);
  ASSERT_EQ(found.size(), expected.size());
  for (const SourceSentence& sentence : expected) {
    const auto same = std::ranges::find(found, sentence.line, &SourceSentence::line);
    ASSERT_NE(same, found.end());
    ASSERT_EQ(same->hypotheses.size(), 2u);
    for (std::size_t h = 0; h < 2; ++h) {
      EXPECT_EQ(same->hypotheses[h].tokens, sentence.hypotheses[h].tokens);
      EXPECT_NEAR(same->hypotheses[h].score, sentence.hypotheses[h].score, 1e-5);
      EXPECT_THAT(same->hypotheses[h].attention,
                  testing::Pointwise(testing::FloatNear(1e-5F), sentence.hypotheses[h].attention));
    }
  }
}

TEST(DeviceScheduler, ASearchHasAsManyGroupsAsSentencesWait) {
  const Search search{.config = {.beam_size = 2, .max_length = 12}};
  TableModel model(kVocabulary, search.distribution);
  LoneWorker worker(std::make_unique<DeviceScheduler>(model, std::vector<TokenId>(),
                                                      DeviceScheduler::Options{.rows = 24}),
                    search.config, search.tokens);
  for (const std::size_t sentences : {1, 1, 5, 40})
    EXPECT_EQ(worker.finish(random_sentences(sentences, kVocabulary), sentences).size(), sentences);
  EXPECT_THAT(model.shapes, testing::ElementsAre(1, 8, 12));
}

TEST(DeviceScheduler, ASearchOfFewGroupsEndsIfManySentencesCome) {
  const Search search{.config = {.beam_size = 2, .min_length = 5, .max_length = 12}};
  TableModel model(kVocabulary, search.distribution);
  LoneWorker worker(std::make_unique<DeviceScheduler>(model, std::vector<TokenId>(),
                                                      DeviceScheduler::Options{.rows = 24}),
                    search.config, search.tokens);
  auto sentences = random_sentences(11, kVocabulary);
  worker.add({sentences.begin(), sentences.begin() + 1});
  EXPECT_TRUE(worker.step().empty());
  worker.add({sentences.begin() + 1, sentences.end()});
  std::size_t finished = 0;
  while (!worker.idle()) {
    const auto ended = worker.step();
    if (finished == 0 && !ended.empty()) {
      EXPECT_EQ(model.admitted, 1);
    }
    finished += ended.size();
  }
  EXPECT_EQ(finished, 11u);
  EXPECT_THAT(model.shapes, testing::ElementsAre(1, 12));
}

/// A model on a device that has memory for `most` rows.
class LargeModel : public TableModel {
 public:
  LargeModel(Distribution distribution, std::int64_t most)
      : TableModel(kVocabulary, std::move(distribution)), most_(most) {}
  void shape(std::int64_t groups, std::int64_t rows_per_group) override {
    if (groups * rows_per_group > most_) throw std::runtime_error("CUDA out of memory.");
    TableModel::shape(groups, rows_per_group);
  }

 private:
  std::int64_t most_;
};

TEST(DeviceEngine, TheEngineSearchesInFewerRowsIfTheMemoryOfAModelRunsOut) {
  const Search search{.config = {.beam_size = 3, .max_length = 15}};
  const auto translations = [&search](std::int64_t most, std::vector<std::int64_t>& fewer) {
    std::vector<std::unique_ptr<DeviceModel>> models;
    for (const std::int64_t rows : {std::int64_t{1000}, most})
      models.push_back(std::make_unique<LargeModel>(search.distribution, rows));
    DeviceEngine engine(std::make_unique<DeviceEnsemble>(std::move(models)), {},
                        [&fewer](std::int64_t rows) { fewer.push_back(rows); });
    LoneWorker worker(engine.own_scheduler(48), search.config, search.tokens);
    return worker.finish(random_sentences(20, kVocabulary), 20);
  };
  std::vector<std::int64_t> none, fewer;
  const auto expected = translations(1000, none);
  expect_same(translations(12, fewer), expected, /*same_order=*/false);
  EXPECT_THAT(none, testing::ElementsAre());
  EXPECT_THAT(fewer, testing::ElementsAre(24, 12));
}

TEST(DeviceScheduler, NotANumberFailsItsSentenceAlone) {
  const auto sound = random_distribution(kVocabulary, 17, 4, 0.5);
  const auto sentences = random_sentences(10, kVocabulary);
  const std::vector<TokenId> broken = sentences[4].tokens;
  Search search{.config = {.beam_size = 3, .max_length = 20, .batch_size = 30}};
  search.distribution = [&](const std::vector<TokenId>& source,
                            const std::vector<TokenId>& prefix) {
    auto scores = sound(source, prefix);
    if (source == broken && prefix.size() == 2) scores.assign(scores.size(), NAN);
    return scores;
  };
  TableModel model(kVocabulary, search.distribution);
  DeviceScheduler scheduler(model, {}, {.rows = 30});
  auto all = sentences;
  for (SourceSentence& sentence : all)
    sentence.settings =
        std::make_shared<const SearchSettings>(SearchSettings{search.config, search.tokens});
  scheduler.admit(all);
  std::size_t failed = 0, found = 0;
  while (!scheduler.idle())
    for (const SourceSentence& sentence : scheduler.step()) {
      if (sentence.error) {
        ++failed;
        EXPECT_EQ(sentence.line, 4);
      } else {
        ++found;
        EXPECT_FALSE(sentence.hypotheses.empty());
      }
    }
  EXPECT_EQ(failed, 1u);
  EXPECT_EQ(found, 9u);
}

TEST(DeviceScheduler, GroupsOfCancelledSentencesAreFilledAgain) {
  std::stop_source stop;
  auto sentences = random_sentences(8, kVocabulary);
  const Search search{.config = {.beam_size = 2, .min_length = 10, .max_length = 20}};
  const auto settings =
      std::make_shared<const SearchSettings>(SearchSettings{search.config, search.tokens});
  for (SourceSentence& sentence : sentences) sentence.settings = settings;
  const auto expected = on_host(search, {sentences.begin() + 4, sentences.begin() + 6});
  for (const std::size_t line : {0, 2}) sentences[line].stop = stop.get_token();

  TableModel model(kVocabulary, search.distribution);
  DeviceScheduler scheduler(model, {}, {.rows = 8});
  scheduler.admit({sentences.begin(), 4});
  EXPECT_TRUE(scheduler.step().empty());
  std::deque<SourceSentence> waiting(sentences.begin() + 4, sentences.end());
  EXPECT_EQ(scheduler.count_admissible(waiting), 0);
  stop.request_stop();
  scheduler.drop_cancelled();
  EXPECT_EQ(scheduler.count_admissible(waiting), 2);
  scheduler.admit({sentences.begin() + 4, 2});
  std::vector<SourceSentence> later;
  std::size_t finished = 0;
  while (!scheduler.idle())
    for (SourceSentence& sentence : scheduler.step()) {
      ++finished;
      if (sentence.line >= 4) later.push_back(std::move(sentence));
    }
  EXPECT_EQ(finished, 4u);
  expect_same(later, expected, /*same_order=*/false);
}

TEST(DeviceScheduler, SentencesWithAndWithoutPhrasesAreAdmittedApart) {
  auto sentences = random_sentences(6, kVocabulary);
  const auto settings = std::make_shared<const SearchSettings>(
      SearchSettings{{.beam_size = 2, .max_length = 12}, {kEos}});
  for (SourceSentence& sentence : sentences) sentence.settings = settings;
  for (const std::size_t line : {0, 1, 4})
    sentences[line].required.phrases = RequiredPhrases({{.spellings = {{{3, 5}}}}});
  TableEngine engine(kVocabulary, random_distribution(kVocabulary, 17, 4, 0.5));
  TableModel model(kVocabulary, random_distribution(kVocabulary, 17, 4, 0.5));
  DeviceScheduler scheduler(model, {}, {.rows = 1000});
  const std::deque<SourceSentence> waiting(sentences.begin(), sentences.end());
  EXPECT_EQ(scheduler.count_admissible(waiting), 2);
  scheduler.admit({sentences.begin(), 2});
  EXPECT_EQ(scheduler.count_admissible({waiting.begin() + 2, waiting.end()}), 0)
      << "they wait for the device, which would else stay idle";
  while (!scheduler.idle()) scheduler.step();
  EXPECT_EQ(scheduler.count_admissible({waiting.begin() + 2, waiting.end()}), 2);
}

}  // namespace
}  // namespace dragoman
