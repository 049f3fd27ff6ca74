#include "extras/explanation/search_trace.h"

#include <algorithm>
#include <span>
#include <utility>

namespace dragoman {

namespace {

class TracedSearch {
 public:
  TracedSearch(HostEngine& engine, const SourceSentence& sentence)
      : engine_(engine),
        settings_(*sentence.settings),
        step_(engine),
        rows_{.search = {settings_.config, settings_.tokens,
                         max_length_of(sentence, engine.max_positions()), random_key_of(sentence)},
              .slot = engine.admit({&sentence.tokens, 1}).front(),
              .source_length = sentence.tokens.size(),
              .needs_attention = settings_.config.coverage_penalty > 0} {
    nodes_.push_back({.parent = -1,
                      .step = 0,
                      .token = settings_.tokens.eos,
                      .sum = 0,
                      .score = 0,
                      .state = NodeState::Alive});
    open_ = {0};
  }
  TracedSearch(const TracedSearch&) = delete;
  TracedSearch& operator=(const TracedSearch&) = delete;
  ~TracedSearch() { engine_.release({&rows_.slot, 1}); }

  SearchTrace run() {
    while (!search().finished()) step();
    Hypothesis translation = search().best().front();
    const std::int32_t best = find(translation);
    std::vector<bool> continued(nodes_.size());
    for (const SearchNode& node : nodes_)
      if (node.parent >= 0) continued[static_cast<std::size_t>(node.parent)] = true;
    for (std::size_t n = 0; n < nodes_.size(); ++n)
      if (nodes_[n].state == NodeState::Alive && !continued[n])
        nodes_[n].state = NodeState::Dropped;
    nodes_[static_cast<std::size_t>(best)].state = NodeState::Best;
    return {.nodes = std::move(nodes_), .best = best, .translation = std::move(translation)};
  }

 private:
  SentenceSearch& search() { return rows_.search; }

  void step() {
    std::vector<double> sums;
    for (const SentenceSearch::Row& row : search().rows()) sums.push_back(row.sum);
    step_.begin();
    step_.add(rows_);
    step_.take();
    const StepResults results = step_.results_of(rows_);
    search().advance(results);
    add_nodes(results.candidates, sums);
  }

  /// Adds the extensions of the open hypotheses, which have these sums.
  void add_nodes(std::span<const Candidate> candidates, std::span<const double> sums) {
    const std::int64_t step = ++length_;
    std::vector<Extension> dropped = extensions_of(candidates, sums);
    std::vector<std::int32_t> open;
    for (const Extension& kept : search().kept()) {
      const bool ends = kept.token == settings_.tokens.eos;
      if (!ends) open.push_back(static_cast<std::int32_t>(nodes_.size()));
      add(kept, step, ends ? NodeState::Finished : NodeState::Alive);
      std::erase_if(dropped, [&kept](const Extension& other) {
        return other.row == kept.row && other.token == kept.token;
      });
    }
    keep_best(dropped, settings_.config.beam_size);
    for (const Extension& extension : dropped) add(extension, step, NodeState::Dropped);
    open_ = std::move(open);
  }

  static std::vector<Extension> extensions_of(std::span<const Candidate> candidates,
                                              std::span<const double> sums) {
    const std::size_t per_row = candidates.size() / sums.size();
    std::vector<Extension> extensions;
    for (std::size_t i = 0; i < candidates.size(); ++i)
      if (is_possible(candidates[i]))
        extensions.push_back({.row = static_cast<std::int32_t>(i / per_row),
                              .token = candidates[i].token,
                              .sum = sums[i / per_row] + candidates[i].log_probability});
    return extensions;
  }

  void add(const Extension& extension, std::int64_t step, NodeState state) {
    nodes_.push_back({.parent = open_[static_cast<std::size_t>(extension.row)],
                      .step = step,
                      .token = extension.token,
                      .sum = extension.sum,
                      .score = normalized_score(extension.sum, step, settings_.config),
                      .state = state});
  }

  /// The node that the hypothesis ended with.
  std::int32_t find(const Hypothesis& hypothesis) const {
    std::vector<TokenId> tokens = hypothesis.tokens;
    if (!hypothesis.cut) tokens.push_back(settings_.tokens.eos);
    std::int32_t at = 0;
    for (const TokenId token : tokens) {
      const auto next = std::ranges::find_if(nodes_, [&](const SearchNode& node) {
        return node.parent == at && node.token == token && node.state != NodeState::Dropped;
      });
      if (next == nodes_.end()) break;
      at = static_cast<std::int32_t>(next - nodes_.begin());
    }
    return at;
  }

  HostEngine& engine_;
  const SearchSettings& settings_;
  SearchStep step_;
  EngineSearch rows_;
  std::int64_t length_ = 0;
  std::vector<SearchNode> nodes_;
  std::vector<std::int32_t> open_;  // the nodes of the open rows
};

}  // namespace

SearchTrace trace_search(HostEngine& engine, const SourceSentence& sentence) {
  return TracedSearch(engine, sentence).run();
}

}  // namespace dragoman
