#include "evaluation/significance.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <functional>
#include <numeric>
#include <span>

#include "base/threads.h"

namespace dragoman {

namespace {

constexpr unsigned __int128 kMultiplier =
    (static_cast<unsigned __int128>(0x2360ED051FC65DA4) << 64) | 0x4385DF649FCCF645;

/// numpy's SeedSequence(seed).generate_state(4, uint64).
std::array<std::uint64_t, 4> seed_state(std::uint32_t seed) {
  std::uint32_t constant = 0x43B0D7E5;
  const auto hash = [&constant](std::uint32_t value) {
    value ^= constant;
    constant *= 0x931E8875;
    value *= constant;
    return value ^ (value >> 16);
  };
  const auto mix = [](std::uint32_t x, std::uint32_t y) {
    const std::uint32_t result = 0xCA01F9DD * x - 0x4973F715 * y;
    return result ^ (result >> 16);
  };
  std::array<std::uint32_t, 4> pool = {hash(seed), hash(0), hash(0), hash(0)};
  for (std::size_t from = 0; from < pool.size(); ++from)
    for (std::size_t to = 0; to < pool.size(); ++to)
      if (from != to) pool[to] = mix(pool[to], hash(pool[from]));

  std::array<std::uint64_t, 4> state{};
  constant = 0x8B51F9DD;
  for (std::size_t i = 0; i < 2 * state.size(); ++i) {
    std::uint32_t value = pool[i % pool.size()] ^ constant;
    constant *= 0x58F38DED;
    value *= constant;
    value ^= value >> 16;
    state[i / 2] |= static_cast<std::uint64_t>(value) << (32 * (i % 2));
  }
  return state;
}

unsigned __int128 joined(std::uint64_t high, std::uint64_t low) {
  return (static_cast<unsigned __int128>(high) << 64) | low;
}

}  // namespace

NumpyRandom::NumpyRandom(std::uint32_t seed) {
  const auto words = seed_state(seed);
  increment_ = (joined(words[2], words[3]) << 1) | 1;
  state_ = (increment_ + joined(words[0], words[1])) * kMultiplier + increment_;
}

std::uint64_t NumpyRandom::next64() {
  state_ = state_ * kMultiplier + increment_;
  const auto folded = static_cast<std::uint64_t>(state_ >> 64) ^ static_cast<std::uint64_t>(state_);
  return std::rotr(folded, static_cast<int>(state_ >> 122));
}

std::uint32_t NumpyRandom::next32() {
  has_upper_half_ = !has_upper_half_;
  if (!has_upper_half_) return upper_half_;
  const std::uint64_t both = next64();
  upper_half_ = static_cast<std::uint32_t>(both >> 32);
  return static_cast<std::uint32_t>(both);
}

std::uint32_t NumpyRandom::below(std::uint32_t count) {
  if (count == 1) return 0;  // draws no number
  std::uint64_t product = static_cast<std::uint64_t>(next32()) * count;
  if (static_cast<std::uint32_t>(product) < count) {
    const std::uint32_t threshold = (0xFFFFFFFF - (count - 1)) % count;
    while (static_cast<std::uint32_t>(product) < threshold)
      product = static_cast<std::uint64_t>(next32()) * count;
  }
  return static_cast<std::uint32_t>(product >> 32);
}

namespace {

constexpr std::int64_t kBlockSamples = 64;  // drawn at a time, and then scored on all cores

/// [metric][system][sample]
using Samples = std::vector<std::vector<std::vector<double>>>;

Samples room_for(const std::vector<SystemCounts>& counts, std::int64_t samples) {
  Samples room;
  for (const SystemCounts& metric : counts)
    room.emplace_back(metric.systems.size(),
                      std::vector<double>(static_cast<std::size_t>(samples)));
  return room;
}

struct Sampling {
  std::int64_t samples;  ///< resampled corpora
  std::size_t width;     ///< numbers that are drawn for each
  std::stop_token stop;  ///< if requested, samples that have not begun are left out
};

/// Draws the numbers in the order of the samples, and works on the samples side by side.
void for_each_sample(const Sampling& sampling, const std::function<std::uint32_t()>& draw,
                     const std::function<void(std::size_t, std::span<const std::uint32_t>)>& work) {
  const std::size_t width = sampling.width;
  std::vector<std::uint32_t> drawn(static_cast<std::size_t>(kBlockSamples) * width);
  for (std::int64_t begin = 0; begin < sampling.samples; begin += kBlockSamples) {
    if (sampling.stop.stop_requested()) return;
    const std::int64_t count = std::min(kBlockSamples, sampling.samples - begin);
    std::generate_n(drawn.begin(), static_cast<std::size_t>(count) * width, draw);
    parallel_for(count, available_cores(), [&](std::int64_t i) {
      if (sampling.stop.stop_requested()) return;
      work(static_cast<std::size_t>(begin + i),
           std::span(drawn).subspan(static_cast<std::size_t>(i) * width, width));
    });
  }
}

std::size_t lines_of(const std::vector<SystemCounts>& counts) {
  return counts.front().systems.front().lines();
}

/// The scores of corpora whose lines are drawn with replacement.
Samples resampled(const std::vector<SystemCounts>& counts, std::int64_t samples,
                  const std::stop_token& stop) {
  Samples scores = room_for(counts, samples);
  std::vector<std::vector<std::vector<float>>> rows;  // [metric][system][line, width]
  for (const SystemCounts& metric : counts) {
    auto& systems = rows.emplace_back();
    for (const LineStatistics& system : metric.systems)
      systems.emplace_back(system.values.begin(), system.values.end());
  }
  NumpyRandom random(kSignificanceSeed);
  const std::size_t lines = lines_of(counts);
  const auto draw = [&] { return random.below(static_cast<std::uint32_t>(lines)); };
  for_each_sample({samples, lines, stop}, draw, [&](std::size_t sample, auto chosen) {
    std::vector<float> sum;
    for (std::size_t m = 0; m < counts.size(); ++m)
      for (std::size_t s = 0; s < rows[m].size(); ++s) {
        const std::size_t width = counts[m].systems[s].width;
        sum.assign(width, 0);
        for (const std::uint32_t line : chosen)
          for (std::size_t k = 0; k < width; ++k) sum[k] += rows[m][s][line * width + k];
        scores[m][s][sample] = counts[m].metric.resampled_score(sum);
      }
  });
  return scores;
}

/// A sum in numpy's order of additions.
template <class Real>
Real pairwise_sum(std::span<const Real> values) {
  const std::size_t count = values.size();
  if (count < 8) return std::accumulate(values.begin(), values.end(), Real(0));
  if (count > 128) {
    const std::size_t half = count / 2 - count / 2 % 8;
    return pairwise_sum(values.first(half)) + pairwise_sum(values.subspan(half));
  }
  Real r[8];
  std::copy_n(values.begin(), 8, r);
  std::size_t i = 8;
  for (; i < count - count % 8; i += 8)
    for (std::size_t j = 0; j < 8; ++j) r[j] += values[i + j];
  Real sum = ((r[0] + r[1]) + (r[2] + r[3])) + ((r[4] + r[5]) + (r[6] + r[7]));
  for (; i < count; ++i) sum += values[i];
  return sum;
}

template <class Real>
Real mean_of(const std::vector<Real>& values) {
  return pairwise_sum<Real>(values) / static_cast<Real>(values.size());
}

template <class Real>
void estimate(const std::vector<double>& samples, SystemScore& score) {
  std::vector<Real> sorted(samples.begin(), samples.end());
  std::ranges::sort(sorted);
  const std::size_t lower = sorted.size() / 40, upper = sorted.size() - lower - 1;
  score.mean = mean_of(sorted);
  score.interval = static_cast<Real>(0.5) * (sorted[upper] - sorted[lower]);
}

void estimate_all(const std::vector<SystemCounts>& counts, const Samples& samples,
                  ScoreTable& table) {
  for (std::size_t m = 0; m < counts.size(); ++m) {
    const auto fill = counts[m].metric.scores_are_float ? estimate<float> : estimate<double>;
    for (std::size_t s = 0; s < table[m].size(); ++s) fill(samples[m][s], table[m][s]);
  }
}

/// A system's score less the baseline's.
double difference(const std::vector<SystemScore>& scores, std::size_t system) {
  return std::abs(scores.front().score - scores[system].score);
}

/// The fraction of the statistics that exceed the measured difference; one is added to both counts.
template <class Real>
double p_value(const std::vector<Real>& statistics, double difference) {
  const auto above = std::ranges::count_if(
      statistics, [&](Real value) { return value > static_cast<Real>(difference); });
  return static_cast<double>(above + 1) / static_cast<double>(statistics.size() + 1);
}

template <class Real>
double bootstrap_p_value(const std::vector<double>& baseline, const std::vector<double>& system,
                         double difference) {
  std::vector<Real> statistics(system.size());
  for (std::size_t i = 0; i < system.size(); ++i)
    statistics[i] = std::abs(static_cast<Real>(system[i]) - static_cast<Real>(baseline[i]));
  const Real mean = mean_of(statistics);
  for (Real& value : statistics) value -= mean;
  return p_value(statistics, difference);
}

using PValue = double (*)(const std::vector<double>&, const std::vector<double>&, double);

PValue bootstrap_p_value_of(const Metric& metric) {
  return metric.scores_are_float ? bootstrap_p_value<float> : bootstrap_p_value<double>;
}

PairDifference resampled_difference(const std::vector<double>& first,
                                    const std::vector<double>& second) {
  std::vector<double> differences(first.size());
  for (std::size_t i = 0; i < first.size(); ++i) differences[i] = second[i] - first[i];
  std::ranges::sort(differences);
  const std::size_t outside = differences.size() / 40;
  return {.low = differences[outside], .high = differences[differences.size() - outside - 1]};
}

}  // namespace

ScoreTable plain_scores(const std::vector<SystemCounts>& counts) {
  ScoreTable table;
  for (const SystemCounts& metric : counts) {
    auto& scores = table.emplace_back();
    for (const LineStatistics& system : metric.systems)
      scores.push_back({.score = metric.metric.score(system.sum())});
  }
  return table;
}

ScoreTable bootstrap_scores(const std::vector<SystemCounts>& counts, std::int64_t samples,
                            const std::stop_token& stop) {
  ScoreTable table = plain_scores(counts);
  const Samples scores = resampled(counts, samples, stop);
  if (!stop.stop_requested()) estimate_all(counts, scores, table);
  return table;
}

ScoreTable paired_bootstrap(const std::vector<SystemCounts>& counts, std::int64_t samples,
                            const std::stop_token& stop) {
  ScoreTable table = plain_scores(counts);
  const Samples scores = resampled(counts, samples, stop);
  if (stop.stop_requested()) return table;
  estimate_all(counts, scores, table);
  for (std::size_t m = 0; m < counts.size(); ++m) {
    const PValue test = bootstrap_p_value_of(counts[m].metric);
    for (std::size_t s = 1; s < table[m].size(); ++s)
      table[m][s].p_value = test(scores[m].front(), scores[m][s], difference(table[m], s));
  }
  return table;
}

std::vector<std::vector<PairDifference>> paired_bootstrap_of_all(
    const std::vector<SystemCounts>& counts, std::int64_t samples, const std::stop_token& stop) {
  const ScoreTable table = plain_scores(counts);
  const Samples scores = resampled(counts, samples, stop);
  std::vector<std::vector<PairDifference>> pairs(counts.size());
  if (stop.stop_requested()) return pairs;
  for (std::size_t m = 0; m < counts.size(); ++m) {
    const PValue test = bootstrap_p_value_of(counts[m].metric);
    for (std::size_t a = 0; a < table[m].size(); ++a)
      for (std::size_t b = a + 1; b < table[m].size(); ++b) {
        PairDifference& pair =
            pairs[m].emplace_back(resampled_difference(scores[m][a], scores[m][b]));
        pair.first = a;
        pair.second = b;
        pair.p_value =
            test(scores[m][a], scores[m][b], std::abs(table[m][a].score - table[m][b].score));
      }
  }
  return pairs;
}

ScoreTable paired_randomization(const std::vector<SystemCounts>& counts, std::int64_t trials,
                                const std::stop_token& stop) {
  ScoreTable table = plain_scores(counts);
  Samples differences = room_for(counts, trials);
  const std::size_t lines = lines_of(counts);
  NumpyRandom random(kSignificanceSeed);
  std::uint32_t bits = 0;
  int left = 0;
  const auto draw = [&] {
    if (left-- == 0) {
      bits = random.next32();
      left = 31;
    } else {
      bits >>= 1;
    }
    return bits & 1;
  };
  for_each_sample({trials, lines, stop}, draw, [&](std::size_t trial, auto exchanged) {
    std::vector<double> first, second;
    for (std::size_t m = 0; m < counts.size(); ++m) {
      const auto& systems = counts[m].systems;
      const std::size_t width = systems.front().width;
      for (std::size_t s = 1; s < systems.size(); ++s) {
        first.assign(width, 0);
        second.assign(width, 0);
        for (std::size_t line = 0; line < lines; ++line) {
          const double* one = &systems.front().values[line * width];
          const double* other = &systems[s].values[line * width];
          if (exchanged[line] == 0) std::swap(one, other);
          for (std::size_t k = 0; k < width; ++k) {
            first[k] += one[k];
            second[k] += other[k];
          }
        }
        const auto& score = counts[m].metric.score;
        differences[m][s][trial] = std::abs(score(first) - score(second));
      }
    }
  });
  if (stop.stop_requested()) return table;
  for (std::size_t m = 0; m < counts.size(); ++m)
    for (std::size_t s = 1; s < table[m].size(); ++s)
      table[m][s].p_value = p_value(differences[m][s], difference(table[m], s));
  return table;
}

}  // namespace dragoman
