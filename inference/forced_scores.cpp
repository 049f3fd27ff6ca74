#include "inference/forced_scores.h"

#include <algorithm>
#include <cstdint>

#include "base/error.h"

namespace dragoman {

namespace {

void check_lengths(std::span<const SentencePair> pairs, std::int64_t most) {
  for (const SentencePair& pair : pairs) {
    const auto pieces = static_cast<std::int64_t>(std::max(pair.source.size(), pair.target.size()));
    if (pieces > most)
      throw Error("a line or its translation has ", pieces, " pieces, but the model has ", most,
                  " positions");
  }
}

class ForcedDecoding {
 public:
  ForcedDecoding(Engine& engine, std::span<const SentencePair> pairs)
      : engine_(engine), pairs_(pairs), scores_(pairs.size()) {}
  ForcedDecoding(const ForcedDecoding&) = delete;
  ForcedDecoding& operator=(const ForcedDecoding&) = delete;
  ~ForcedDecoding() {
    for (const Row& row : rows_) engine_.release({&row.slot, 1});
  }

  std::vector<std::vector<float>> run(const std::stop_token& stop) {
    for (fill(); !rows_.empty() && !stop.stop_requested(); fill()) step();
    for (const Row& row : rows_) scores_[row.pair].clear();
    return std::move(scores_);
  }

 private:
  struct Row {
    std::size_t pair;
    std::int32_t slot;
    std::int32_t parent;  // its row in the last step; -1 at the start
  };

  void fill() {
    const auto most = static_cast<std::size_t>(engine_.preferred_rows());
    // The encoder works better on several sentences than on one.
    if (next_ == pairs_.size() || (!rows_.empty() && 8 * (most - rows_.size()) < most)) return;
    const std::size_t first = next_;
    std::vector<std::vector<TokenId>> sources;
    for (; next_ < pairs_.size() && rows_.size() + sources.size() < most; ++next_)
      sources.push_back(pairs_[next_].source);
    const std::vector<std::int32_t> slots = engine_.admit(sources);
    for (std::size_t i = 0; i < slots.size(); ++i)
      rows_.push_back({.pair = first + i, .slot = slots[i], .parent = -1});
  }

  void step() {
    std::vector<RowOrigin> origins;
    std::vector<TokenId> previous;
    std::vector<RowToken> reported;
    for (const Row& row : rows_) {
      const std::vector<TokenId>& target = pairs_[row.pair].target;
      const std::size_t position = scores_[row.pair].size();
      reported.push_back({static_cast<std::int32_t>(origins.size()), target[position]});
      previous.push_back(target[position == 0 ? 0 : position - 1]);
      origins.push_back({.parent = row.parent, .slot = row.slot});
    }
    std::vector<float> log_probabilities(rows_.size());
    std::vector<Candidate> candidates(rows_.size());
    engine_.select(origins);
    engine_.step({.previous = previous,
                  .adjustments = {},
                  .candidates_per_row = 1,
                  .candidates = candidates,
                  .reported = reported,
                  .reported_log_probabilities = log_probabilities});
    keep(log_probabilities);
  }

  void keep(std::span<const float> log_probabilities) {
    std::vector<Row> open;
    std::vector<std::int32_t> finished;
    for (std::size_t r = 0; r < rows_.size(); ++r) {
      Row row = rows_[r];
      row.parent = static_cast<std::int32_t>(r);
      scores_[row.pair].push_back(log_probabilities[r]);
      if (scores_[row.pair].size() < pairs_[row.pair].target.size())
        open.push_back(row);
      else
        finished.push_back(row.slot);
    }
    rows_ = std::move(open);
    if (!finished.empty()) engine_.release(finished);
  }

  Engine& engine_;
  const std::span<const SentencePair> pairs_;
  std::vector<std::vector<float>> scores_;
  std::vector<Row> rows_;
  std::size_t next_ = 0;  // the first pair that is not admitted
};

}  // namespace

std::vector<std::vector<float>> forced_scores(Engine& engine, std::span<const SentencePair> pairs,
                                              const std::stop_token& stop) {
  check_lengths(pairs, engine.max_positions());
  return ForcedDecoding(engine, pairs).run(stop);
}

}  // namespace dragoman
