#include "inference/torch/torch_engine.h"

#include <gtest/gtest.h>

#include <cmath>

#include "base/random.h"
#include "tests/allocations.h"
#include "tests/inference/random_rows.h"
#include "tests/test_device.h"

namespace dragoman {
namespace {

TEST(TorchEngine, StepByStepIsTheWholeSequenceWhateverHappensToRows) {
  for (const ModelConfig& config : configs()) {
    Transformer model = make_model(config, test_device());
    TorchEngine engine(model, {});
    expect_random_rows_score_as_whole_sequences(engine, model);
  }
}

TEST(TorchEngine, AReleasedSlotIsGivenToAnotherSentence) {
  TorchEngine engine(make_model(configs()[0], test_device()), {});
  const auto stays = engine.admit(sentences(1, 8));
  for (int i = 0; i < 20; ++i) {
    const auto slots = engine.admit(sentences(2, 8));
    for (const std::int32_t slot : slots) {
      EXPECT_LT(slot, 3);
      EXPECT_NE(slot, stays[0]);
    }
    EXPECT_NE(slots[0], slots[1]);
    engine.release(slots);
  }
}

TEST(TorchEngine, AReleaseTakesNoMemory) {
  TorchEngine engine(make_model(configs()[0], test_device()), {});
  const auto slots = engine.admit(sentences(20, 8));
  const std::int64_t before = allocations();
  engine.release(slots);
  EXPECT_EQ(allocations(), before);
}

TEST(TorchEngine, CandidatesAreTheBestOfTheDistribution) {
  TorchEngine engine(make_model(configs()[0], test_device()), {5, 7});
  const auto slots = engine.admit(sentences(2, 8));
  const std::vector<RowOrigin> rows = {{-1, slots[0]}, {-1, slots[1]}};
  auto all = step(engine, rows, {kEos, kEos}, kVocabulary, {{1, kEos, kExclude}});
  const auto best = step(engine, rows, {kEos, kEos}, 4, {{1, kEos, kExclude}});
  double total = 0;
  for (std::size_t r = 0; r < 2; ++r) {
    const auto row = all.begin() + static_cast<std::ptrdiff_t>(r) * kVocabulary;
    for (std::int64_t token = 0; token < kVocabulary; ++token) {
      EXPECT_EQ(row[token].token, token);
      const bool excluded = token == 5 || token == 7 || (r == 1 && token == kEos);
      EXPECT_EQ(std::isinf(row[token].log_probability), excluded);
      total += std::exp(row[token].log_probability);
    }
    std::stable_sort(row, row + kVocabulary, [](const Candidate& a, const Candidate& b) {
      return a.log_probability > b.log_probability;
    });
    for (std::size_t i = 0; i < 4; ++i) {
      EXPECT_EQ(best[r * 4 + i].token, row[i].token);
      EXPECT_FLOAT_EQ(best[r * 4 + i].log_probability, row[i].log_probability);
    }
  }
  EXPECT_LT(total, 2 - 1e-4) << "probabilities are normalised before tokens are excluded";
}

Results search(Transformer& model, const DecodeConfig& config,
               const std::vector<SourceSentence>& waiting) {
  TorchEngine engine(model, {0, 1});
  return search(engine, config, waiting);
}

TEST(TorchEngine, TranslationsAreTheSameForAnyBatchSizeAndOrder) {
  for (const ModelConfig& model_config : configs()) {
    Transformer model = make_model(model_config, test_device());
    auto waiting = waiting_sentences(20, 12);
    for (const std::int64_t beam : {1, 4}) {
      DecodeConfig config{.beam_size = beam};
      config.max_length = 25;
      config.batch_size = 1;
      const Results alone = search(model, config, waiting);
      for (const std::int64_t rows : {7, 500}) {
        config.batch_size = rows;
        RandomStream(5, rows).shuffle(waiting);
        const Results together = search(model, config, waiting);
        for (const auto& [line, expected] : alone) {
          EXPECT_EQ(together.at(line).first, expected.first);
          EXPECT_NEAR(together.at(line).second, expected.second, 1e-4);
        }
      }
    }
  }
}

TEST(TorchEngine, AModelCanBeTrainedOnAfterItHasTranslated) {
  Transformer model = make_model(configs()[0], test_device());
  search(model, {.beam_size = 2}, {{.line = 0, .part = 0, .tokens = {3, 4, kEos}}});
  const Tokens tokens = {3, 4, kEos};
  const std::vector<std::int32_t> starts = {0, 3};
  const auto side = packed_tokens(tokens, starts, 2, test_device());
  const auto hidden = model->decode(side, model->encode(side), side.layout);
  model->logits(hidden).log_softmax(1).sum().backward();
  for (const auto& parameter : model->parameters()) EXPECT_TRUE(parameter.grad().defined());
}

}  // namespace
}  // namespace dragoman
