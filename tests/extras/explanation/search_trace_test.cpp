#include "extras/explanation/search_trace.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "tests/inference/table_search.h"

namespace dragoman {
namespace {

SearchTrace traced(const Distribution& distribution, const DecodeConfig& config) {
  TableEngine engine(kVocabulary, distribution);
  const auto settings =
      std::make_shared<const SearchSettings>(SearchSettings{.config = config, .tokens = {kEos}});
  return trace_search(engine, {.line = 0, .part = 0, .tokens = kSource, .settings = settings});
}

TEST(SearchTrace, TheEndOfASourceDoesNotLengthenItsTranslation) {
  const auto settings = std::make_shared<const SearchSettings>(
      SearchSettings{.config = {.beam_size = 1, .max_length_ratio = 1}, .tokens = {kEos}});
  SourceSentence sentence{
      .line = 0, .part = 0, .tokens = Tokens(60, 4), .settings = settings, .has_end = false};
  TableEngine engine(kVocabulary, random_distribution(kVocabulary, 1, 3, -60));  // never ends
  EXPECT_EQ(trace_search(engine, sentence).translation.length, 60);
  sentence.tokens.push_back(kEos);
  sentence.has_end = true;
  EXPECT_EQ(trace_search(engine, sentence).translation.length, 60);
}

/// The tokens from the start to a node.
Tokens path(const SearchTrace& trace, std::int32_t node) {
  Tokens tokens;
  for (; trace.nodes[static_cast<std::size_t>(node)].parent >= 0;
       node = trace.nodes[static_cast<std::size_t>(node)].parent)
    tokens.push_back(trace.nodes[static_cast<std::size_t>(node)].token);
  std::ranges::reverse(tokens);
  return tokens;
}

TEST(SearchTrace, TheTraceEndsWithTheTranslationOfTheScheduler) {
  for (std::uint64_t seed = 0; seed < 40; ++seed)
    for (const Stop stop :
         {Stop::Full, Stop::Exact, Stop::Hf, Stop::Marian, Stop::Fairseq, Stop::Opennmt}) {
      DecodeConfig config;
      config.beam_size = static_cast<std::int64_t>(1 + seed % 4);
      config.stop = stop;
      if (seed / 4 % 2 == 1) config.max_length = 5;  // some rules force the end there
      const Distribution distribution = random_distribution(kVocabulary, seed);
      const SearchTrace trace = traced(distribution, config);
      const Hypothesis expected = search(distribution, config).front();
      EXPECT_EQ(trace.translation.tokens, expected.tokens);
      EXPECT_EQ(trace.translation.sum, expected.sum);
      Tokens tokens = expected.tokens;
      if (!expected.cut) tokens.push_back(kEos);
      EXPECT_EQ(path(trace, trace.best), tokens);
      EXPECT_EQ(trace.nodes[static_cast<std::size_t>(trace.best)].state, NodeState::Best);
    }
}

TEST(SearchTrace, SumsFallAndStepsRiseFromEachNodeToTheNext) {
  DecodeConfig config;
  config.beam_size = 3;
  const SearchTrace trace = traced(random_distribution(kVocabulary, 7), config);
  for (std::size_t n = 1; n < trace.nodes.size(); ++n) {
    const SearchNode& node = trace.nodes[n];
    ASSERT_GE(node.parent, 0);
    ASSERT_LT(static_cast<std::size_t>(node.parent), n);
    const SearchNode& parent = trace.nodes[static_cast<std::size_t>(node.parent)];
    EXPECT_LE(node.sum, parent.sum);
    EXPECT_EQ(node.step, parent.step + 1);
    EXPECT_EQ(parent.state, NodeState::Alive);
    if (node.token == kEos) {
      EXPECT_NE(node.state, NodeState::Alive);
    }
  }
}

TEST(SearchTrace, AStepKeepsNoMoreThanTheBeamAndDropsTheLessProbable) {
  DecodeConfig config;
  config.beam_size = 2;
  const SearchTrace trace = traced(random_distribution(kVocabulary, 3, 3, -2), config);
  for (std::int64_t step = 1; step <= trace.nodes.back().step; ++step) {
    std::int64_t open = 0, dropped = 0;
    double worst_open = 0, best_dropped = -1e9;
    for (const SearchNode& node : trace.nodes) {
      if (node.step != step) continue;
      if (node.state == NodeState::Alive) {
        ++open;
        worst_open = std::min(worst_open, node.sum);
      }
      if (node.state == NodeState::Dropped && node.token != kEos) {
        ++dropped;
        best_dropped = std::max(best_dropped, node.sum);
      }
    }
    EXPECT_LE(open, 2);
    if (open == 2 && dropped > 0) {
      EXPECT_LE(best_dropped, worst_open);
    }
  }
}

}  // namespace
}  // namespace dragoman
