// An engine without a cache: the distribution after a prefix is a function of source and prefix. It
// checks how it is called. A random distribution is small enough that all sequences can be listed.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <span>
#include <vector>

#include "base/random.h"
#include "inference/scheduler.h"
#include "inference/search/engine.h"

namespace dragoman {

inline constexpr TokenId kEos = 2;

/// Log-probabilities [V] of the next token.
using Distribution = std::function<std::vector<float>(const std::vector<TokenId>& source,
                                                      const std::vector<TokenId>& prefix)>;

inline std::vector<float> log_softmax(std::vector<double> logits) {
  double total = 0;
  for (const double logit : logits) total += std::exp(logit);
  std::vector<float> result;
  for (const double logit : logits) result.push_back(static_cast<float>(logit - std::log(total)));
  return result;
}

/// Logits uniform in [0, sharpness), `eos_bonus` added to </s>.
inline Distribution random_distribution(std::int64_t vocabulary, std::uint64_t seed,
                                        double sharpness = 3, double eos_bonus = 0) {
  return [=](const std::vector<TokenId>& source, const std::vector<TokenId>& prefix) {
    std::uint64_t state = mix64(seed);
    for (const TokenId token : source) state = random_bits(state, token);
    for (const TokenId token : prefix) state = random_bits(state, token + 1000);
    std::vector<double> logits;
    for (std::int64_t token = 0; token < vocabulary; ++token)
      logits.push_back(sharpness * uniform_of(random_bits(state, token)));
    logits[kEos] += eos_bonus;
    return log_softmax(logits);
  };
}

class TableEngine : public HostEngine {
 public:
  TableEngine(std::int64_t vocabulary, Distribution distribution)
      : vocabulary_(vocabulary), distribution_(std::move(distribution)) {}

  std::int64_t vocabulary() const override { return vocabulary_; }
  std::int64_t max_positions() const override { return positions; }
  std::int64_t preferred_rows() const override { return 16; }
  void check(const AttentionHeads& heads) const override { heads.check(1, 1); }

  std::vector<std::int32_t> admit(std::span<const std::vector<TokenId>> sentences) override {
    std::vector<std::int32_t> slots;
    for (const auto& sentence : sentences) {
      EXPECT_FALSE(sentence.empty());
      EXPECT_LE(static_cast<std::int64_t>(sentence.size()), positions);
      slots.push_back(next_slot_);
      sources_[next_slot_++] = sentence;
      ++admitted;
    }
    return slots;
  }

  void release(std::span<const std::int32_t> slots) override {
    for (const std::int32_t slot : slots) EXPECT_EQ(sources_.erase(slot), 1u);
  }

  /// Forgets slots and rows, as after a fault of the engine.
  void forget_all() {
    sources_.clear();
    rows_.clear();
  }

  void step(const StepRequest& step) override {
    take_rows(step.rows);
    ASSERT_EQ(step.previous.size(), rows_.size());
    ASSERT_EQ(step.candidates.size(),
              rows_.size() * static_cast<std::size_t>(step.candidates_per_row));
    ++steps;
    if (step.attention != nullptr) step.attention->clear();
    std::vector<RowTokens> tokens;
    for (std::size_t r = 0; r < rows_.size(); ++r) {
      if (!rows_[r].fresh) rows_[r].prefix.push_back(step.previous[r]);
      tokens.push_back({.source = sources_.at(rows_[r].slot), .prefix = rows_[r].prefix});
    }
    const std::vector<RowResults> results = results_of(tokens, step.heads);
    for (std::size_t r = 0; r < rows_.size(); ++r) {
      const auto row = static_cast<std::int32_t>(r);
      const auto& scores = results[r].log_probabilities;
      std::vector<Candidate> all;
      for (std::size_t token = 0; token < scores.size(); ++token)
        all.push_back({static_cast<TokenId>(token), scores[token]});
      for (std::size_t i = 0; i < step.reported.size(); ++i)
        if (step.reported[i].row == row)
          step.reported_log_probabilities[i] =
              scores[static_cast<std::size_t>(step.reported[i].token)];
      for (const Adjustment& adjustment : step.adjustments) {
        if (adjustment.row != row) continue;
        float& value = all[static_cast<std::size_t>(adjustment.token)].log_probability;
        value = adjusted(value, adjustment.factor);
      }
      for (const TokenId token : never_emitted)
        all[static_cast<std::size_t>(token)].log_probability = -kExclude;
      if (step.candidates_per_row < vocabulary_)
        std::stable_sort(all.begin(), all.end(), [](const Candidate& a, const Candidate& b) {
          return a.log_probability > b.log_probability;
        });
      std::copy_n(
          all.begin(), step.candidates_per_row,
          step.candidates.begin() + static_cast<std::ptrdiff_t>(r) * step.candidates_per_row);
      if (step.attention != nullptr)
        step.attention->insert(step.attention->end(), results[r].attention.begin(),
                               results[r].attention.end());
    }
  }

  /// Most attention is on the position that the prefix's length names, and a little on all.
  static void append_attention(const std::vector<TokenId>& source,
                               const std::vector<TokenId>& prefix, std::vector<float>& attention) {
    const auto length = static_cast<float>(source.size());
    for (std::size_t position = 0; position < source.size(); ++position)
      attention.push_back(0.1F / length +
                          (position == prefix.size() % source.size() ? 0.9F : 0.0F));
  }

  std::size_t slots_in_use() const { return sources_.size(); }

  std::int64_t positions = 1'000'000;
  std::vector<TokenId> never_emitted = {};
  std::int64_t steps = 0, most_rows = 0, admitted = 0;

 protected:
  struct RowTokens {
    std::vector<TokenId> source, prefix;
  };
  struct RowResults {
    std::vector<float> log_probabilities, attention;  // [V], [S]
  };
  virtual std::vector<RowResults> results_of(const std::vector<RowTokens>& rows,
                                             const AttentionHeads&) {
    std::vector<RowResults> results;
    for (const auto& [source, prefix] : rows) {
      results.push_back({.log_probabilities = distribution_(source, prefix), .attention = {}});
      append_attention(source, prefix, results.back().attention);
    }
    return results;
  }

 private:
  struct Row {
    std::int32_t slot;
    std::vector<TokenId> prefix;
    bool fresh;
  };

  void take_rows(std::span<const RowOrigin> origins) {
    std::vector<Row> rows;
    std::set<std::int32_t> seen;
    for (const RowOrigin& origin : origins) {
      EXPECT_TRUE(sources_.contains(origin.slot));
      if (rows.empty() || rows.back().slot != origin.slot) {
        EXPECT_TRUE(seen.insert(origin.slot).second) << "a slot's rows stand apart";
      }
      if (origin.parent < 0) {
        rows.push_back({.slot = origin.slot, .prefix = {}, .fresh = true});
        continue;
      }
      rows.push_back(rows_.at(static_cast<std::size_t>(origin.parent)));
      rows.back().fresh = false;
      EXPECT_EQ(rows.back().slot, origin.slot);
    }
    rows_ = std::move(rows);
    most_rows = std::max(most_rows, static_cast<std::int64_t>(rows_.size()));
  }

  std::int64_t vocabulary_;
  Distribution distribution_;
  std::int32_t next_slot_ = 0;
  std::map<std::int32_t, std::vector<TokenId>> sources_;
  std::vector<Row> rows_;
};

/// Sentences of one to nine tokens and </s>.
inline std::vector<SourceSentence> random_sentences(std::size_t count, std::int64_t vocabulary) {
  RandomStream random(11);
  std::vector<SourceSentence> sentences;
  for (std::size_t i = 0; i < count; ++i) {
    SourceSentence sentence{.line = static_cast<std::int64_t>(i), .part = 0};
    const std::uint64_t length = 1 + random.below(9);
    for (std::uint64_t t = 0; t < length; ++t)
      sentence.tokens.push_back(
          static_cast<TokenId>(3 + random.below(static_cast<std::uint64_t>(vocabulary - 3))));
    sentence.tokens.push_back(kEos);
    sentences.push_back(std::move(sentence));
  }
  return sentences;
}

}  // namespace dragoman
