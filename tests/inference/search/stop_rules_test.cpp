// The beam searches of other systems, written as in these systems, beside ours.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "inference/search/search.h"
#include "tests/inference/table_search.h"

namespace dragoman {
namespace {

constexpr double kFar = -1e9;

struct Sequence {
  Tokens tokens;
  double sum = 0, score = kFar;
  bool is_finished = false;
};

template <class Key>
void sort_down(std::vector<Sequence>& sequences, Key key) {
  std::stable_sort(sequences.begin(), sequences.end(),
                   [&](const Sequence& a, const Sequence& b) { return key(a) > key(b); });
}

/// transformers 5, generation/utils.py, _beam_search for one sentence and a MarianMTModel: two
/// candidates for each beam, and scores of -1e9 for hypotheses that do not count. `longest` counts
/// the token that the decoder begins with.
class TransformersSearch {
 public:
  TransformersSearch(const Distribution& distribution, const DecodeConfig& config)
      : distribution_(distribution), config_(config), longest_(config.max_length + 1) {}

  std::vector<Sequence> run() {
    const auto beams = static_cast<std::size_t>(config_.beam_size);
    running_.assign(beams, {.tokens = {}, .sum = kFar});
    running_[0].sum = 0;
    finished_.assign(beams, {});
    bool continues = true;
    for (std::int64_t length = 1; continues; ++length) {
      std::vector<Sequence> candidates = extend(length);
      sort_down(candidates, [](const Sequence& s) { return s.sum; });
      candidates.resize(2 * beams);
      add_finished(candidates, length);
      running_ = candidates;
      for (Sequence& sequence : running_) sequence.sum += sequence.is_finished ? kFar : 0;
      sort_down(running_, [](const Sequence& s) { return s.sum; });
      running_.resize(beams);
      const bool all_finished =
          std::ranges::all_of(finished_, [](const Sequence& s) { return s.is_finished; });
      const double worst = all_finished ? finished_.back().score : kFar;
      // Its length without the first token is now `length`.
      const double best = running_[0].sum / std::pow(length, config_.length_penalty);
      continues = best > worst && !std::ranges::all_of(candidates, &Sequence::is_finished);
    }
    return finished_;
  }

 private:
  std::vector<Sequence> extend(std::int64_t length) const {
    std::vector<Sequence> candidates;
    for (const Sequence& sequence : running_) {
      std::vector<float> scores = distribution_(kSource, sequence.tokens);
      if (length == longest_ - 1)  // ForcedEOSTokenLogitsProcessor
        for (std::size_t token = 0; token < scores.size(); ++token)
          scores[token] = token == kEos ? 0 : -INFINITY;
      for (std::size_t token = 0; token < scores.size(); ++token) {
        Sequence next{.tokens = sequence.tokens, .sum = sequence.sum + scores[token]};
        next.is_finished = token == kEos || length + 1 >= longest_;
        if (token != kEos) next.tokens.push_back(static_cast<TokenId>(token));
        candidates.push_back(next);
      }
    }
    return candidates;
  }

  void add_finished(const std::vector<Sequence>& candidates, std::int64_t length) {
    const std::size_t beams = finished_.size();
    for (std::size_t i = 0; i < candidates.size(); ++i) {
      Sequence candidate = candidates[i];
      candidate.is_finished = candidate.is_finished && i < beams;
      candidate.score = candidate.sum / std::pow(length, config_.length_penalty) +
                        (candidate.is_finished ? 0 : kFar);
      finished_.push_back(candidate);
    }
    sort_down(finished_, [](const Sequence& s) { return s.score; });
    finished_.resize(beams);
  }

  const Distribution& distribution_;
  const DecodeConfig& config_;
  std::int64_t longest_;
  std::vector<Sequence> running_, finished_;
};

/// Marian, translator/beam_search.cpp and history.h, for one sentence: hypotheses that end leave
/// the beam, and their places stay empty.
std::vector<Sequence> marian_search(const Distribution& distribution, const DecodeConfig& config) {
  std::vector<Sequence> beam = {{}}, history;
  auto size = static_cast<std::size_t>(config.beam_size);
  for (std::int64_t length = 1; size > 0; ++length) {
    std::vector<Sequence> expanded;
    for (const Sequence& sequence : beam) {
      const std::vector<float> scores = distribution(kSource, sequence.tokens);
      for (std::size_t token = 0; token < scores.size(); ++token) {
        Sequence next{.tokens = sequence.tokens, .sum = sequence.sum + scores[token]};
        next.is_finished = token == kEos;
        if (!next.is_finished) next.tokens.push_back(static_cast<TokenId>(token));
        expanded.push_back(next);
      }
    }
    sort_down(expanded, [](const Sequence& s) { return s.sum; });
    expanded.resize(std::min(size, expanded.size()));
    beam.clear();
    const bool is_last = length == config.max_length;
    for (Sequence& sequence : expanded) {
      const auto words = static_cast<double>(length);
      sequence.score =
          (sequence.sum - config.word_penalty * words) / std::pow(words, config.length_penalty);
      if (sequence.is_finished || is_last) history.push_back(sequence);
      if (!sequence.is_finished) beam.push_back(sequence);
    }
    size = is_last ? 0 : beam.size();
  }
  sort_down(history, [](const Sequence& s) { return s.score; });
  return history;
}

/// fairseq 0.12, sequence_generator.py and search.py, for one sentence. Its `longest` does not
/// count </s>, which is the only choice after that many tokens.
std::vector<Sequence> fairseq_search(const Distribution& distribution, const DecodeConfig& config) {
  const auto beams = static_cast<std::size_t>(config.beam_size);
  const std::int64_t longest = config.max_length - 1;
  std::vector<Sequence> beam = {{}}, finalized;
  for (std::int64_t step = 0; step <= longest && finalized.size() < beams; ++step) {
    std::vector<Sequence> candidates;
    for (const Sequence& sequence : beam) {
      const std::vector<float> scores = distribution(kSource, sequence.tokens);
      for (std::size_t token = 0; token < scores.size(); ++token) {
        if (step == longest && token != kEos) continue;
        Sequence next{.tokens = sequence.tokens, .sum = sequence.sum + scores[token]};
        next.score = next.sum / std::pow(step + 1, config.length_penalty);
        next.is_finished = token == kEos;
        if (!next.is_finished) next.tokens.push_back(static_cast<TokenId>(token));
        candidates.push_back(next);
      }
    }
    sort_down(candidates, [](const Sequence& s) { return s.sum; });
    candidates.resize(std::min(2 * beams, candidates.size()));
    beam.clear();
    for (std::size_t i = 0; i < candidates.size(); ++i) {
      if (candidates[i].is_finished && i < beams && finalized.size() < beams)
        finalized.push_back(candidates[i]);
      if (!candidates[i].is_finished && beam.size() < beams) beam.push_back(candidates[i]);
    }
  }
  sort_down(finalized, [](const Sequence& s) { return s.score; });
  return finalized;
}

/// OpenNMT-py 3, translate/beam_search.py, for one sentence. A finished hypothesis takes a place of
/// the beam in its step, and has no continuation.
std::vector<Sequence> opennmt_search(const Distribution& distribution, const DecodeConfig& config) {
  const auto beams = static_cast<std::size_t>(config.beam_size);
  std::vector<Sequence> beam = {{}}, hypotheses;
  for (std::int64_t length = 1;; ++length) {
    std::vector<Sequence> candidates;
    for (const Sequence& sequence : beam) {
      if (sequence.is_finished) continue;
      const std::vector<float> scores = distribution(kSource, sequence.tokens);
      for (std::size_t token = 0; token < scores.size(); ++token) {
        Sequence next{.tokens = sequence.tokens, .sum = sequence.sum + scores[token]};
        next.score = next.sum / std::pow(length, config.length_penalty);
        next.is_finished = token == kEos;
        if (!next.is_finished) next.tokens.push_back(static_cast<TokenId>(token));
        candidates.push_back(next);
      }
    }
    sort_down(candidates, [](const Sequence& s) { return s.score; });
    candidates.resize(std::min(beams, candidates.size()));
    beam = candidates;
    const bool is_last = length == config.max_length;
    for (const Sequence& sequence : beam)
      if (sequence.is_finished || is_last) hypotheses.push_back(sequence);
    const bool are_enough = hypotheses.size() >= static_cast<std::size_t>(config.n_best);
    if (is_last || (beam[0].is_finished && are_enough)) break;
  }
  sort_down(hypotheses, [](const Sequence& s) { return s.score; });
  return hypotheses;
}

void expect_same(const std::vector<Hypothesis>& found, const std::vector<Sequence>& expected) {
  ASSERT_FALSE(found.empty());
  for (std::size_t i = 0; i < found.size(); ++i) {
    if (!expected.at(i).is_finished && expected[i].score <= kFar / 2) return;
    EXPECT_EQ(found[i].tokens, expected[i].tokens) << i;
    EXPECT_NEAR(found[i].sum, expected[i].sum, 1e-4);
    EXPECT_NEAR(found[i].score, expected[i].score, 1e-4);
  }
}

/// Short translations, long ones, and some that reach the longest length.
template <class Check>
void for_many_searches(Check&& check) {
  for (std::uint64_t seed = 0; seed < 120; ++seed)
    for (const std::int64_t beam : {1, 2, 4, 6})
      for (const double alpha : {0.0, 0.6, 1.0, 2.0}) {
        const double eos_bonus = seed % 3 == 0 ? 0 : seed % 3 == 1 ? -1 : -4;
        DecodeConfig config{.beam_size = beam, .n_best = std::min<std::int64_t>(beam, 3)};
        config.length_penalty = alpha;
        config.max_length = 8;
        check(random_distribution(kVocabulary, seed, 4, eos_bonus), config);
      }
}

TEST(StopRules, HfIsTheBeamSearchOfTransformers) {
  int cut = 0, whole = 0;
  for_many_searches([&](const Distribution& distribution, DecodeConfig config) {
    config.stop = Stop::Hf;
    const auto found = search(distribution, config);
    expect_same(found, TransformersSearch(distribution, config).run());
    ++(found.at(0).cut ? cut : whole);
  });
  EXPECT_GT(cut, 100);
  EXPECT_GT(whole, 100);
}

TEST(StopRules, MarianLetsTheBeamBecomeNarrower) {
  int different = 0;
  for_many_searches([&](const Distribution& distribution, DecodeConfig config) {
    for (const double word_penalty : {0.0, 0.4, -0.4}) {
      config.stop = Stop::Marian;
      config.word_penalty = word_penalty;
      const auto found = search(distribution, config);
      expect_same(found, marian_search(distribution, config));
      config.stop = Stop::Full;
      different += search(distribution, config).at(0).tokens != found[0].tokens;
    }
  });
  EXPECT_GT(different, 20);
}

TEST(StopRules, FairseqEndsTheLongestTranslations) {
  int different = 0;
  for_many_searches([&](const Distribution& distribution, DecodeConfig config) {
    config.stop = Stop::Fairseq;
    config.n_best = 1;  // others differ: fairseq takes no more than its list holds
    const auto found = search(distribution, config);
    const auto expected = fairseq_search(distribution, config);
    expect_same(found, expected);
    EXPECT_FALSE(found[0].cut);
    config.stop = Stop::Full;
    different += search(distribution, config).at(0).tokens != found[0].tokens;
  });
  EXPECT_GT(different, 20);
}

TEST(StopRules, OpennmtEndsWhenTheBestOfAStepIsFinished) {
  int different = 0;
  for_many_searches([&](const Distribution& distribution, DecodeConfig config) {
    config.stop = Stop::Opennmt;
    const auto found = search(distribution, config);
    expect_same(found, opennmt_search(distribution, config));
    config.stop = Stop::Full;
    different += search(distribution, config).at(0).tokens != found[0].tokens;
  });
  EXPECT_GT(different, 20);
}

}  // namespace
}  // namespace dragoman
