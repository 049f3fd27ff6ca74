// The search of a translation as a tree of hypotheses.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>
#include <vector>

#include "inference/scheduler.h"
#include "inference/search/engine.h"
#include "inference/search/search.h"

namespace dragoman {

enum class NodeState {
  Alive,     ///< was continued
  Dropped,   ///< not among the best of its step, or still open when the search ended
  Finished,  ///< ended with </s>
  Best,      ///< the translation
};
constexpr std::array<std::string_view, 4> names_of(NodeState) {
  return {"alive", "dropped", "finished", "best"};
}

/// A hypothesis after one more token. The first node is the start, before any token.
struct SearchNode {
  std::int32_t parent;  ///< index of the node that it continues; -1: the start
  std::int64_t step;    ///< number of its tokens
  TokenId token;
  double sum;    ///< of log-probabilities
  double score;  ///< normalized_score, without a coverage penalty
  NodeState state;
};

struct SearchTrace {
  std::vector<SearchNode> nodes;
  std::int32_t best;       ///< index of the node that is the translation
  Hypothesis translation;  ///< as SentenceSearch::best gives it
};

/// Searches for the translation of a sentence as the Scheduler does. The trace has all nodes that a
/// step kept, and the most probable of those that it dropped, at most the beam size. The engine
/// must hold no other sentence.
SearchTrace trace_search(HostEngine& engine, const SourceSentence& sentence);

}  // namespace dragoman
