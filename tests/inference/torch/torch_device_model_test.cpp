#include "inference/torch/torch_device_model.h"

#include <gtest/gtest.h>

#include <cmath>

#include "base/random.h"
#include "inference/device/device_scheduler.h"
#include "tests/cuda_stand_in/counts.h"
#include "tests/inference/module_tree_engine.h"
#include "tests/inference/random_rows.h"
#include "tests/test_device.h"

namespace dragoman {
namespace {

TEST(TorchDeviceModel, AGpuComputesInBfloat16UnlessAskedOtherwiseAndNeverInInt8) {
  EXPECT_EQ(type_on_gpu(ComputeType::Auto), torch::kBFloat16);
  EXPECT_EQ(type_on_gpu(ComputeType::BFloat16), torch::kBFloat16);
  EXPECT_EQ(type_on_gpu(ComputeType::Float16), torch::kFloat16);
  EXPECT_EQ(type_on_gpu(ComputeType::Float32), torch::kFloat32);
  EXPECT_THROW(type_on_gpu(ComputeType::Int8), UsageError);
}

TEST(TorchDeviceModel, AModelCanBeTrainedOnAfterItHasTranslated) {
  Transformer model = make_model(configs()[0], test_device());
  search(*device_engine({model}, {}), {.beam_size = 2},
         {{.line = 0, .part = 0, .tokens = {3, 4, kEos}}});
  const Tokens tokens = {3, 4, kEos};
  const std::vector<std::int32_t> starts = {0, 3};
  const auto side = packed_tokens(tokens, starts, 2, test_device());
  const auto hidden = model->decode(side, model->encode(side), side.layout);
  model->logits(hidden).log_softmax(1).sum().backward();
  for (const auto& parameter : model->parameters()) EXPECT_TRUE(parameter.grad().defined());
}

// ---- beside the search on the host, whose engine computes whole prefixes ------------------------

/// The sentences `later` come when the others are under way.
std::vector<SourceSentence> run(std::unique_ptr<SentenceScheduler> scheduler,
                                const DecodeConfig& config,
                                const std::vector<SourceSentence>& waiting,
                                const std::vector<SourceSentence>& later) {
  LoneWorker worker(std::move(scheduler), config, {kEos});
  worker.add(waiting);
  std::vector<SourceSentence> finished = worker.step();
  worker.add(later);
  while (!worker.idle())
    for (SourceSentence& sentence : worker.step()) finished.push_back(std::move(sentence));
  std::ranges::sort(finished, {}, &SourceSentence::line);
  return finished;
}

constexpr std::int64_t kRows = 12;  // several groups, which are filled again

void expect_same_translations(const ModelConfig& model_config, const DecodeConfig& config,
                              const std::vector<std::int64_t>& all_rows = {kRows},
                              bool with_attention = false) {
  auto waiting = waiting_sentences(14, 14), later = waiting_sentences(2, 14);
  // Longer than there is room for so far; the shortest model has 40 positions.
  for (SourceSentence& sentence : later) {
    sentence.line += 100;
    sentence.tokens.insert(sentence.tokens.begin(), 38 - sentence.tokens.size(), 5);
  }
  for (auto* sentences : {&waiting, &later})
    for (SourceSentence& sentence : *sentences) sentence.needs_attention = with_attention;
  ModuleTreeEngine engine(make_model(model_config, torch::kCPU), {0, 7});
  const auto host = run(std::make_unique<Scheduler>(engine, 100), config, waiting, later);
  TorchDeviceModel device_model(make_model(model_config, test_device()));
  for (const std::int64_t rows : all_rows) {
    SCOPED_TRACE(rows);
    const auto device = run(std::make_unique<DeviceScheduler>(
                                device_model, std::vector<TokenId>{0, 7},
                                DeviceScheduler::Options{.rows = rows, .steps_per_poll = 3}),
                            config, waiting, later);
    ASSERT_EQ(device.size(), host.size());
    for (std::size_t i = 0; i < host.size(); ++i) {
      ASSERT_EQ(device[i].hypotheses.size(), host[i].hypotheses.size());
      for (std::size_t h = 0; h < host[i].hypotheses.size(); ++h) {
        const Hypothesis &found = device[i].hypotheses[h], &expected = host[i].hypotheses[h];
        EXPECT_EQ(found.tokens, expected.tokens);
        EXPECT_NEAR(found.score, expected.score, 1e-4);
        ASSERT_EQ(found.attention.size(), expected.attention.size());
        for (std::size_t a = 0; a < expected.attention.size(); ++a)
          EXPECT_NEAR(found.attention[a], expected.attention[a], 1e-5);
      }
    }
  }
}

std::vector<DecodeConfig> searches() {
  return {{.beam_size = 1, .max_length = 25},
          {.beam_size = 4, .n_best = 4, .max_length = 35},
          {.beam_size = 3,
           .no_repeat_ngram_size = 2,
           .stop = Stop::Exact,
           .min_length = 4,
           .max_length = 25},
          {.n_best = 2, .max_length = 25, .sampling = true, .sampling_topk = 5}};
}

TEST(TorchDeviceModel, TranslationsAreThoseOfTheSearchOnTheHost) {
  for (const ModelConfig& model_config : configs())
    for (const DecodeConfig& config : searches()) expect_same_translations(model_config, config);
}

TEST(TorchDeviceModel, TranslationsInFewGroupsAndInMoreThanNeededAreTheSame) {
  for (const DecodeConfig& config : searches())
    expect_same_translations(configs()[0], config, {4, 100});
}

TEST(TorchDeviceModel, TranslationsByEachRuleForTheEndAndForTokensAreTheSame) {
  for (const Stop stop :
       {Stop::Full, Stop::Exact, Stop::Hf, Stop::Marian, Stop::Fairseq, Stop::Opennmt})
    expect_same_translations(configs()[0],
                             {.beam_size = 4, .n_best = 2, .stop = stop, .max_length = 25});
  for (const DecodeConfig& config :
       {DecodeConfig{.beam_size = 3, .repetition_penalty = 1.4, .max_length = 25},
        DecodeConfig{.beam_size = 3, .word_penalty = 0.4, .max_length = 25},
        DecodeConfig{.max_length = 25, .sampling = true, .sampling_topp = 0.7},
        DecodeConfig{.max_length = 25, .sampling = true, .temperature = 0.6}})
    expect_same_translations(configs()[0], config);
}

TEST(TorchDeviceModel, AttentionIsThatOfOneHeadOrTheMean) {
  for (const std::int64_t head : {0, 2})
    for (const std::int64_t layer : {-1, 1})
      expect_same_translations(configs()[1],
                               {.beam_size = 3,
                                .n_best = 2,
                                .coverage_penalty = 0.3,
                                .max_length = 20,
                                .attention_layer = layer,
                                .attention_head = head},
                               {kRows}, /*with_attention=*/true);
}

TEST(TorchDeviceModel, ASentenceWithoutNumbersLeavesNoneToTheNextOne) {
  Transformer model = make_model(configs()[1], test_device());  // source embeddings of its own
  const std::vector<std::vector<TokenId>> source = {{5, 6, kEos}}, damaged = {{9, 6, kEos}};
  const SearchSettings settings{{.beam_size = 2, .max_length = 12}, {kEos}};
  const std::vector<std::int64_t> groups = {0};
  const auto translate = [&](TorchDeviceModel& device_model, DeviceSearch& search,
                             const std::vector<std::vector<TokenId>>& sentence) {
    device_model.admit(sentence, groups);
    const DeviceSentence begun{.group = 0, .max_length = 12, .key = 1, .source_length = 3};
    search.begin({&begun, 1}, device_model.source_capacity());
    while (search.ends()[0] == DeviceSearch::kContinues)
      search.advance(device_model.step(search.next_step()));
    return search.ends()[0];
  };
  TorchDeviceModel device_model(model);
  DeviceSearch search(settings, device_model, {}, {.groups = 1, .rows_per_group = 2});
  device_model.shape(1, 2);
  translate(device_model, search, source);
  const auto expected = search.best(groups)[0].front().tokens;
  {
    const torch::NoGradGuard no_grad;
    model->named_parameters()["embedding.source.weight"][9].fill_(NAN);
  }
  EXPECT_EQ(translate(device_model, search, damaged), DeviceSearch::kNotANumber);
  EXPECT_GE(translate(device_model, search, source), 0);
  EXPECT_EQ(search.best(groups)[0].front().tokens, expected);
}

TEST(TorchDeviceModel, NoStepWaitsForItsDevice) {
  if (!StandInCounts::is_loaded()) GTEST_SKIP() << "only the stand-in for CUDA counts what waits";
  Transformer model = make_model(configs()[0], test_device());
  for (const DecodeConfig& config :
       {DecodeConfig{.beam_size = 4,
       .coverage_penalty = 0.2,
       .repetition_penalty = 1.2,
       .no_repeat_ngram_size = 3,
       .stop = Stop::Exact,
       .min_length = 2,
       .max_length = 20},
        DecodeConfig{.n_best = 3, .max_length = 20, .sampling = true, .sampling_topp = 0.9}}) {
    const SearchSettings settings{config, {.eos = kEos, .avoided = {{3, 4}}}};
    TorchDeviceModel device_model(model);
    const std::int64_t width = SentenceSearch::width(config);
    DeviceSearch search(settings, device_model, {},
                        {.groups = 4, .rows_per_group = width, .keeps_attention = true});
    device_model.shape(4, width);
    const std::vector<std::int64_t> groups = {0, 1, 2};
    device_model.admit(sentences(3, 8), groups);
    std::vector<DeviceSentence> begun;
    for (const std::int64_t group : groups)
      begun.push_back({.group = group,
                       .max_length = 20,
                       .key = 1,
                       .source_length = 9,
                       .prefix = {.tokens = {3, 4}, .ends_word = true}});
    search.begin(begun, device_model.source_capacity());
    const StandInCounts counts;
    for (int step = 0; step < 8; ++step) search.advance(device_model.step(search.next_step()));
    EXPECT_EQ(counts.launches_of("search_step_float32"), 8);
    EXPECT_EQ(counts.waits(), nlohmann::json::object());
  }
}

TEST(TorchDeviceModel, AStepOfSixLayersHasAtMostAHundredLaunches) {
  if (!StandInCounts::is_loaded()) GTEST_SKIP() << "only the stand-in for CUDA counts launches";
  ModelConfig layers = configs()[0];
  layers.decoder_layers = 6;
  Transformer model = make_model(layers, test_device());
  const SearchSettings settings{{.beam_size = 4, .max_length = 20}, {.eos = kEos}};
  const std::vector<TokenId> never = {0, 7};
  TorchDeviceModel device_model(model);
  DeviceSearch search(settings, device_model, never, {.groups = 1, .rows_per_group = 4});
  device_model.shape(1, 4);
  const std::vector<std::int64_t> groups = {0};
  device_model.admit(sentences(1, 8), groups);
  const DeviceSentence begun{.group = 0, .max_length = 20, .key = 1, .source_length = 9};
  search.begin({&begun, 1}, device_model.source_capacity());
  search.advance(device_model.step(search.next_step()));
  const StandInCounts counts;
  search.advance(device_model.step(search.next_step()));
  std::int64_t launches = 0;
  const nlohmann::json report = counts.report();
  for (const auto& operation : report["launches"])
    launches += operation["count"].get<std::int64_t>();
  EXPECT_GT(launches, 60);
  EXPECT_LE(launches, 100);
}

TEST(TorchDeviceModel, EightSentencesNeedNoMoreLaunchesThanInEightRows) {
  if (!StandInCounts::is_loaded()) GTEST_SKIP() << "only the stand-in for CUDA counts launches";
  Transformer model = make_model(configs()[0], test_device());
  const auto launches_of = [&model](std::int64_t beam, std::int64_t rows) {
    const auto engine = device_engine({model}, {});
    const StandInCounts counts;
    search(*engine, {.beam_size = beam, .max_length = 20, .batch_size = rows},
           waiting_sentences(8, 12));
    return counts.report()["launch_count"].get<std::int64_t>();
  };
  EXPECT_EQ(launches_of(1, 0), launches_of(1, 8)) << "eight groups of a row";
  EXPECT_LT(launches_of(4, 0), launches_of(4, 8)) << "eight groups of four rows, or two";
}

TEST(TorchDeviceModel, AnEngineHasRoomForAsManySentencesAsItsRowsHold) {
  const auto engine = device_engine({make_model(configs()[1], test_device())}, {});
  EXPECT_EQ(engine->own_scheduler(8)->capacity({.beam_size = 4}), 2);
  EXPECT_EQ(engine->own_scheduler(0)->capacity({.beam_size = 4}), 320);
  EXPECT_EQ(engine->max_positions(), 40);
  EXPECT_THROW(engine->check({0, 3}), UsageError);
}

}  // namespace
}  // namespace dragoman
