#include "inference/forced_scores.h"

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <iterator>
#include <numeric>
#include <optional>
#include <string_view>
#include <utility>

#include "base/error.h"
#include "base/threads.h"
#include "base/utf8.h"
#include "tokenizer/sentence_splitter.h"

namespace dragoman {

void check_lengths(std::span<const SentencePair> pairs, std::int64_t most) {
  for (const SentencePair& pair : pairs)
    if (longer_side(pair) > most)
      throw Error("a line or its translation has ", longer_side(pair),
                  " pieces, but the model has ", most, " positions");
}

namespace {

/// The pairs that no engine has taken, the longest first, so that engines end together and the rows
/// of a step have similar lengths.
class PairQueue {
 public:
  explicit PairQueue(std::span<const SentencePair> pairs) : order_(pairs.size()) {
    std::iota(order_.begin(), order_.end(), std::size_t{0});
    std::ranges::stable_sort(order_, [pairs](std::size_t a, std::size_t b) {
      return longer_side(pairs[a]) > longer_side(pairs[b]);
    });
  }

  std::optional<std::size_t> take() {
    const std::size_t next = next_++;
    return next < order_.size() ? std::optional(order_[next]) : std::nullopt;
  }

 private:
  std::vector<std::size_t> order_;
  std::atomic<std::size_t> next_ = 0;
};

/// The work of one engine. No two engines write the scores of the same pair.
class ForcedDecoding {
 public:
  ForcedDecoding(HostEngine& engine, std::span<const SentencePair> pairs, PairQueue& queue,
                 std::int64_t max_tokens, std::vector<std::vector<float>>& scores)
      : engine_(engine), pairs_(pairs), queue_(queue), max_tokens_(max_tokens), scores_(scores) {}
  ForcedDecoding(const ForcedDecoding&) = delete;
  ForcedDecoding& operator=(const ForcedDecoding&) = delete;
  ~ForcedDecoding() {
    for (const Row& row : rows_) engine_.release({&row.slot, 1});
  }

  void run(const std::stop_token& stop) {
    taken_ = queue_.take();
    for (fill(); !rows_.empty() && !stop.stop_requested(); fill()) step();
    for (const Row& row : rows_) scores_[row.pair].clear();
  }

 private:
  struct Row {
    std::size_t pair;
    std::int32_t slot;
    std::int32_t parent;  // its row in the last step; -1 at the start
  };

  /// Whether the pair that was taken fits beside those of the engine. A single pair always fits.
  bool has_room(std::size_t rows) const {
    if (!taken_ || rows >= static_cast<std::size_t>(engine_.preferred_rows())) return false;
    return rows == 0 || max_tokens_ == 0 || tokens_ + longer_side(pairs_[*taken_]) <= max_tokens_;
  }

  void fill() {
    const auto most = static_cast<std::size_t>(engine_.preferred_rows());
    // The encoder works better on several sentences than on one.
    const bool is_nearly_full = 8 * (most - rows_.size()) < most ||
                                (max_tokens_ > 0 && 8 * (max_tokens_ - tokens_) < max_tokens_);
    if (!rows_.empty() && is_nearly_full) return;
    std::vector<std::vector<TokenId>> sources;
    std::vector<std::size_t> admitted;
    while (has_room(rows_.size() + admitted.size())) {
      tokens_ += longer_side(pairs_[*taken_]);
      sources.push_back(pairs_[*taken_].source);
      admitted.push_back(*taken_);
      taken_ = queue_.take();
    }
    if (admitted.empty()) return;
    const std::vector<std::int32_t> slots = engine_.admit(sources);
    for (std::size_t i = 0; i < slots.size(); ++i)
      rows_.push_back({.pair = admitted[i], .slot = slots[i], .parent = -1});
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
    engine_.step({.rows = origins,
                  .previous = previous,
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
      if (scores_[row.pair].size() < pairs_[row.pair].target.size()) {
        open.push_back(row);
      } else {
        finished.push_back(row.slot);
        tokens_ -= longer_side(pairs_[row.pair]);
      }
    }
    rows_ = std::move(open);
    if (!finished.empty()) engine_.release(finished);
  }

  HostEngine& engine_;
  const std::span<const SentencePair> pairs_;
  PairQueue& queue_;
  const std::int64_t max_tokens_;  // 0: no limit
  std::vector<std::vector<float>>& scores_;
  std::vector<Row> rows_;
  std::int64_t tokens_ = 0;           // of the rows, on the longer sides
  std::optional<std::size_t> taken_;  // the next pair to be admitted
};

}  // namespace

std::vector<std::vector<float>> forced_scores(std::span<HostEngine* const> engines,
                                              std::span<const SentencePair> pairs,
                                              const ForcedBatches& batches,
                                              const std::stop_token& stop) {
  check_lengths(pairs, engines.front()->max_positions());
  const auto count = static_cast<std::int64_t>(engines.size());
  const std::int64_t most_tokens = tokens_of_worker(batches.max_tokens, count);
  std::vector<std::vector<float>> scores(pairs.size());
  PairQueue queue(pairs);
  parallel_for(count, static_cast<int>(count), [&](std::int64_t i) {
    ForcedDecoding(*engines[static_cast<std::size_t>(i)], pairs, queue, most_tokens, scores)
        .run(stop);
  });
  return scores;
}

std::vector<std::vector<SentencePair>> pairs_of_lines(const TokenizerPair& tokenizers,
                                                      std::span<const std::string> sources,
                                                      std::span<const std::string> targets,
                                                      const Pairing& pairing) {
  using TextPair = std::pair<std::string_view, std::string_view>;
  std::vector<std::vector<SentencePair>> lines(sources.size());
  parallel_for(std::ssize(lines), pairing.threads, [&](std::int64_t i) {
    const auto line = static_cast<std::size_t>(i);
    const std::string_view source = strip(sources[line]), target = strip(targets[line]);
    const std::vector<TextPair> texts = pairing.by_sentence
                                            ? pairs_of_sentences(source, target)
                                            : std::vector<TextPair>{{source, target}};
    for (const auto& [text, translation] : texts)
      lines[line].push_back(
          {tokenizers.source_tokens(text), tokenizers.target_tokens(translation)});
  });
  return lines;
}

std::vector<std::vector<float>> scores_of_lines(std::vector<std::vector<SentencePair>> lines,
                                                const PairScorer& scorer,
                                                const std::stop_token& stop) {
  std::vector<SentencePair> pairs;
  for (auto& line : lines)
    pairs.insert(pairs.end(), std::move_iterator(line.begin()), std::move_iterator(line.end()));
  const std::vector<std::vector<float>> of_pairs = scorer(pairs, stop);
  std::vector<std::vector<float>> scores;
  auto next = of_pairs.begin();
  for (const auto& line : lines) {
    std::vector<float>& of_line = scores.emplace_back();
    for (std::size_t i = 0; i < line.size(); ++i, ++next)
      of_line.insert(of_line.end(), next->begin(), next->end());
  }
  return scores;
}

}  // namespace dragoman
