#include "inference/torch/torch_engine.h"

#include <ATen/Parallel.h>
#include <gtest/gtest.h>
#include <torch/cuda.h>

#include <cmath>
#include <map>

#include "base/random.h"
#include "inference/scheduler.h"
#include "inference/torch/scorer.h"

namespace dragoman {
namespace {

using Tokens = std::vector<TokenId>;

constexpr TokenId kEos = 2;
constexpr std::int64_t kVocabulary = 20;

/// Every kind of model that attends or places tokens in its own way.
std::vector<ModelConfig> configs() {
  ModelConfig config;
  config.d_model = 16;
  config.heads = 2;
  config.d_ff = 32;
  config.encoder_layers = 2;
  config.decoder_layers = 3;
  config.source_vocabulary = config.target_vocabulary = kVocabulary;
  ModelConfig other = config;
  other.norm = NormPosition::Before;
  other.positions = Positions::Learned;
  other.max_positions = 40;
  other.tying = Tying::None;
  other.output_bias = true;
  other.activation = Activation::GatedGelu;
  return {config, other};
}

std::vector<torch::Device> devices() {
  std::vector<torch::Device> devices = {torch::kCPU};
  if (torch::cuda::is_available()) devices.emplace_back(torch::kCUDA);
  return devices;
}

/// Random weights, sharper than those training starts from, so that searches have something to
/// find.
Transformer make_model(const ModelConfig& config, torch::Device device) {
  at::set_num_threads(1);  // small products: threads would wait for each other
  Transformer model(config);
  model->initialize(5);
  const torch::NoGradGuard no_grad;
  for (auto& parameter : model->parameters()) parameter.mul_(1.2);
  model->to(device);
  return model;
}

std::vector<Tokens> sentences(std::size_t count, std::uint64_t longest) {
  RandomStream random(11);
  std::vector<Tokens> result(count);
  for (Tokens& tokens : result) {
    for (std::uint64_t i = 1 + random.below(longest); i > 0; --i)
      tokens.push_back(static_cast<TokenId>(3 + random.below(kVocabulary - 3)));
    tokens.push_back(kEos);
  }
  return result;
}

std::vector<Candidate> step(Engine& engine, const Tokens& previous, std::int64_t best,
                            std::vector<Exclusion> excluded = {}) {
  std::vector<Candidate> candidates(previous.size() * static_cast<std::size_t>(best));
  engine.step(previous, excluded, best, candidates);
  return candidates;
}

/// A row and what it has seen.
struct Prefix {
  std::int32_t slot;
  std::size_t sentence;
  Tokens tokens;
  std::vector<float> scores;  // the engine's, of each token
};

void expect_scores_of_whole_sequences(Transformer& model, const std::vector<Tokens>& sources,
                                      const std::vector<Prefix>& prefixes) {
  std::vector<TokenPair> pairs;
  for (const Prefix& prefix : prefixes) pairs.push_back({sources[prefix.sentence], prefix.tokens});
  const auto expected = token_log_probabilities(model, pairs, 1'000);
  for (std::size_t i = 0; i < prefixes.size(); ++i) {
    ASSERT_EQ(expected[i].size(), prefixes[i].scores.size());
    for (std::size_t t = 0; t < expected[i].size(); ++t)
      EXPECT_NEAR(expected[i][t], prefixes[i].scores[t], 1e-4) << "row " << i << ", token " << t;
  }
}

// Rows that come, go, multiply and change places at random, each at its own length.
TEST(TorchEngine, StepByStepIsTheWholeSequenceWhateverHappensToRows) {
  for (const torch::Device device : devices()) {
    for (const ModelConfig& config : configs()) {
      Transformer model = make_model(config, device);
      TorchEngine engine(model, {});
      const std::vector<Tokens> sources = sentences(12, 15);
      RandomStream random(3);
      std::vector<Prefix> rows;
      std::size_t next_sentence = 0, longest = 0;
      for (int turn = 0; turn < 45; ++turn) {
        std::vector<Prefix> next;
        std::vector<RowOrigin> origins;
        std::vector<std::int32_t> released;
        for (std::size_t begin = 0, end; begin < rows.size(); begin = end) {
          for (end = begin; end < rows.size() && rows[end].slot == rows[begin].slot;) ++end;
          if (random.chance(0.05) || rows[begin].tokens.size() > 30) {
            released.push_back(rows[begin].slot);
            continue;
          }
          for (std::uint64_t copies = 1 + random.below(4); copies > 0; --copies) {
            const std::size_t parent = begin + random.below(end - begin);
            origins.push_back({static_cast<std::int32_t>(parent), rows[parent].slot});
            next.push_back(rows[parent]);
          }
        }
        engine.release(released);
        if (turn % 6 == 0 && next_sentence < sources.size()) {
          const std::span group(&sources[next_sentence], 2);
          for (const std::int32_t slot : engine.admit(group)) {
            origins.push_back({-1, slot});
            next.push_back({slot, next_sentence++, {}, {}});
          }
        }
        rows = std::move(next);
        if (rows.empty()) continue;
        engine.select(origins);
        Tokens previous;
        for (const Prefix& row : rows)
          previous.push_back(row.tokens.empty() ? kEos : row.tokens.back());
        const auto candidates = step(engine, previous, kVocabulary);
        for (std::size_t r = 0; r < rows.size(); ++r) {
          const auto token = static_cast<TokenId>(random.below(kVocabulary));
          rows[r].tokens.push_back(token);
          rows[r].scores.push_back(
              candidates[r * kVocabulary + static_cast<std::size_t>(token)].log_probability);
          longest = std::max(longest, rows[r].tokens.size());
        }
        expect_scores_of_whole_sequences(model, sources, rows);
      }
      EXPECT_GT(longest, 20u);
    }
  }
}

TEST(TorchEngine, CandidatesAreTheBestOfTheDistribution) {
  for (const torch::Device device : devices()) {
    TorchEngine engine(make_model(configs()[0], device), {5, 7});
    const auto slots = engine.admit(sentences(2, 8));
    const std::vector<RowOrigin> rows = {{-1, slots[0]}, {-1, slots[1]}};
    engine.select(rows);
    auto all = step(engine, {kEos, kEos}, kVocabulary, {{1, kEos}});
    engine.select(rows);
    const auto best = step(engine, {kEos, kEos}, 4, {{1, kEos}});
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
}

using Results = std::map<std::int64_t, std::pair<Tokens, double>>;

Results search(Transformer& model, const DecodeConfig& config,
               const std::vector<SourceSentence>& waiting) {
  TorchEngine engine(model, {0, 1});
  Scheduler scheduler(engine, config, kEos);
  scheduler.add(waiting);
  Results results;
  while (!scheduler.idle())
    for (const FinishedSentence& sentence : scheduler.step())
      results[sentence.line] = {sentence.hypotheses.at(0).tokens, sentence.hypotheses.at(0).score};
  return results;
}

TEST(TorchEngine, TranslationsAreTheSameForAnyBatchSizeAndOrder) {
  for (const torch::Device device : devices()) {
    for (const ModelConfig& model_config : configs()) {
      Transformer model = make_model(model_config, device);
      std::vector<SourceSentence> waiting;
      for (Tokens& tokens : sentences(20, 12))
        waiting.push_back({.line = static_cast<std::int64_t>(waiting.size()),
                           .part = 0,
                           .tokens = std::move(tokens)});
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
}

TEST(TorchEngine, AModelCanBeTrainedOnAfterItHasTranslated) {
  Transformer model = make_model(configs()[0], torch::kCPU);
  search(model, {.beam_size = 2}, {{.line = 0, .part = 0, .tokens = {3, 4, kEos}}});
  const Tokens tokens = {3, 4, kEos};
  const std::vector<std::int32_t> starts = {0, 3};
  const auto side = packed_tokens(tokens, starts, 2, torch::kCPU);
  const auto hidden = model->decode(side, model->encode(side), side.layout);
  model->logits(hidden).log_softmax(1).sum().backward();
  for (const auto& parameter : model->parameters()) EXPECT_TRUE(parameter.grad().defined());
}

}  // namespace
}  // namespace dragoman
