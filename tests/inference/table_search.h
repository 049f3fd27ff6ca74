// Searches for the translation of one sentence with probabilities from a table.
#pragma once

#include <utility>
#include <vector>

#include "tests/inference/lone_worker.h"
#include "tests/inference/search/table_engine.h"

namespace dragoman {

using Tokens = std::vector<TokenId>;

inline constexpr std::int64_t kVocabulary = 5;
inline const Tokens kSource = {3, 4, kEos};

struct Found {
  std::vector<Hypothesis> hypotheses;
  std::int64_t steps;
};

inline Found search_and_count(const Distribution& distribution, const DecodeConfig& config,
                              std::int64_t vocabulary = kVocabulary,
                              const TargetTokens& tokens = {kEos},
                              const Requirements& required = {}) {
  config.check();
  TableEngine engine(vocabulary, distribution);
  LoneWorker worker(engine, config, tokens);
  worker.add({{.line = 0,
               .part = 0,
               .tokens = kSource,
               .needs_attention = !required.phrases.empty(),
               .required = required}});
  std::vector<SourceSentence> finished;
  while (finished.empty()) finished = worker.step();
  return {std::move(finished[0].hypotheses), engine.steps};
}

inline std::vector<Hypothesis> search(const Distribution& distribution, const DecodeConfig& config,
                                      std::int64_t vocabulary = kVocabulary) {
  return search_and_count(distribution, config, vocabulary).hypotheses;
}

}  // namespace dragoman
