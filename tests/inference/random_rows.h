// Shared by the tests of engines: models of every kind; rows that come, go and multiply at random,
// while each prefix is compared with the score of its whole sequence; and whole searches.
#pragma once

#include <ATen/Parallel.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <utility>
#include <vector>

#include "base/random.h"
#include "inference/scheduler.h"
#include "inference/search/engine.h"
#include "inference/torch/scorer.h"
#include "model/file/model_file.h"
#include "model/transformer.h"
#include "tests/inference/lone_worker.h"
#include "tests/inference/search/table_engine.h"

namespace dragoman {

using Tokens = std::vector<TokenId>;

inline constexpr std::int64_t kVocabulary = 20;

/// Every kind of model that attends or places tokens in its own way.
inline std::vector<ModelConfig> configs() {
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
  ModelConfig marian = config;
  marian.positions = Positions::Marian;
  marian.norm = NormPosition::BeforeQueries;
  marian.embedding_norm = true;
  return {config, other, marian};
}

inline std::vector<TensorData> tensors_of(const Transformer& model) {
  std::vector<TensorData> tensors;
  for (const auto& item : model->named_parameters())
    tensors.push_back(
        {item.key(), Dtype::F32, item.value().sizes().vec(), item.value().const_data_ptr<float>()});
  return tensors;
}

/// Random weights, sharper than those training starts from, so that searches have something to
/// find.
inline Transformer make_model(const ModelConfig& config, torch::Device device) {
  at::set_num_threads(1);  // small products: threads would wait for each other
  Transformer model(config);
  model->initialize(5);
  const torch::NoGradGuard no_grad;
  for (auto& parameter : model->parameters()) parameter.mul_(1.2);
  model->to(device);
  return model;
}

inline std::vector<Tokens> sentences(std::size_t count, std::uint64_t longest) {
  RandomStream random(11);
  std::vector<Tokens> result(count);
  for (Tokens& tokens : result) {
    for (std::uint64_t i = 1 + random.below(longest); i > 0; --i)
      tokens.push_back(static_cast<TokenId>(3 + random.below(kVocabulary - 3)));
    tokens.push_back(kEos);
  }
  return result;
}

inline std::vector<Candidate> step(HostEngine& engine, std::span<const RowOrigin> rows,
                                   const Tokens& previous, std::int64_t best,
                                   const std::vector<Adjustment>& adjustments = {}) {
  std::vector<Candidate> candidates(previous.size() * static_cast<std::size_t>(best));
  engine.step({.rows = rows,
               .previous = previous,
               .adjustments = adjustments,
               .candidates_per_row = best,
               .candidates = candidates});
  return candidates;
}

/// A row and the tokens that it has seen.
struct Prefix {
  std::int32_t slot;
  std::size_t sentence;
  Tokens tokens;
  std::vector<float> scores;  // the engine's, of each token
};

inline void expect_scores_of_whole_sequences(Transformer& model, const std::vector<Tokens>& sources,
                                             const std::vector<Prefix>& prefixes) {
  std::vector<SentencePair> pairs;
  for (const Prefix& prefix : prefixes) pairs.push_back({sources[prefix.sentence], prefix.tokens});
  const auto expected = token_log_probabilities(model, pairs, 1'000);
  for (std::size_t i = 0; i < prefixes.size(); ++i) {
    ASSERT_EQ(expected[i].size(), prefixes[i].scores.size());
    for (std::size_t t = 0; t < expected[i].size(); ++t)
      EXPECT_NEAR(expected[i][t], prefixes[i].scores[t], 1e-4) << "row " << i << ", token " << t;
  }
}

/// Rows that come, go, multiply and change places at random, each at its own length.
inline void expect_random_rows_score_as_whole_sequences(HostEngine& engine, Transformer& model) {
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
    Tokens previous;
    for (const Prefix& row : rows)
      previous.push_back(row.tokens.empty() ? kEos : row.tokens.back());
    const auto candidates = step(engine, origins, previous, kVocabulary);
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

/// The tokens and score of each line's best translation.
using Results = std::map<std::int64_t, std::pair<Tokens, double>>;

inline Results search(Engine& engine, const DecodeConfig& config,
                      const std::vector<SourceSentence>& waiting) {
  LoneWorker worker(scheduler_of(engine, config.batch_size), config, {kEos});
  worker.add(waiting);
  Results results;
  while (!worker.idle())
    for (const SourceSentence& sentence : worker.step())
      results[sentence.line] = {sentence.hypotheses.at(0).tokens, sentence.hypotheses.at(0).score};
  return results;
}

inline std::vector<SourceSentence> waiting_sentences(std::size_t count, std::uint64_t longest) {
  std::vector<SourceSentence> waiting;
  for (Tokens& tokens : sentences(count, longest))
    waiting.push_back({.line = static_cast<std::int64_t>(waiting.size()),
                       .part = 0,
                       .tokens = std::move(tokens)});
  return waiting;
}

}  // namespace dragoman
