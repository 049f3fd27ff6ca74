// One group of the search on a device: what it has found, and how its hypotheses are extended and
// end. Source for CUDA's compiler and the program's.
#pragma once

#include "kernels/cuda/search_step.h"

#ifndef __CUDACC__
#include <cmath>
#endif

namespace dragoman::search_step {

#ifdef __CUDACC__
DRAGOMAN_ON_DEVICE inline double minus_infinity() { return -__longlong_as_double(0x7FF0LL << 48); }
DRAGOMAN_ON_DEVICE inline double log_of(double x) { return log(x); }
#else
inline double minus_infinity() { return -INFINITY; }
inline double log_of(double x) { return std::log(x); }
#endif

DRAGOMAN_ON_DEVICE inline bool is_possible(float log_probability) {
  return static_cast<double>(log_probability) > minus_infinity();
}

/// The parts of the arguments that belong to a group.
struct Group {
  DRAGOMAN_ON_DEVICE Group(const DeviceSearchStep& step, long long group)
      : all(step),
        number(group),
        state(step.groups[group]),
        first_row(group * step.width),
        rows(step.rows + first_row),
        new_rows(step.new_rows + first_row),
        ends(step.ends + group * step.most_ended),
        nodes(step.nodes + first_row * step.columns),
        prefix(step.prefixes + group * step.prefix_columns) {}

  DRAGOMAN_ON_DEVICE bool is_in_prefix() const { return state.length < state.prefix_length; }
  /// SentenceSearch::must_end()
  DRAGOMAN_ON_DEVICE bool must_end(DeviceStop stop) const {
    return all.stop == stop && state.length + 1 == state.max_length && !is_in_prefix() &&
           !all.sampling && state.phrases == 0;
  }
  DRAGOMAN_ON_DEVICE float log_probability(int row, int token) const {
    const long long at = first_row + row;
    return all.logits[at * all.vocabulary + token] - all.log_sums[at];
  }
  /// [S] of a row, of a tensor [G, B, S].
  DRAGOMAN_ON_DEVICE long long of_source(int row) const {
    return (first_row + row) * all.source_columns;
  }
  DRAGOMAN_ON_DEVICE float attention(int row, int position) const {
    return position < all.attention_columns
               ? all.attention[(first_row + row) * all.attention_columns + position]
               : 0.0F;
  }

  const DeviceSearchStep& all;
  long long number;
  SearchGroup& state;
  long long first_row;
  SearchRow *rows, *new_rows;
  SearchEnd* ends;
  HypothesisNode* nodes;
  const int* prefix;
};

DRAGOMAN_ON_DEVICE inline double normalized(const DeviceSearchStep& a, double sum, int length) {
  const int counted = length < 1 ? 1 : length;
  return (sum - a.word_penalty * static_cast<double>(counted)) / a.divisors[counted];
}

constexpr double kLeastCoverage = 1e-6;  // of inference/search/search.h

/// coverage_penalty() of a row's attention, that of this step's token included if `with_this`.
DRAGOMAN_ON_DEVICE inline double penalty_of(const Group& g, int row, bool with_this) {
  const DeviceSearchStep& a = g.all;
  if (a.coverage_penalty == 0 || a.attention == nullptr) return 0;
  double sum = 0;
  for (int s = 0; s < g.state.source_length; ++s) {
    const float coverage =
        a.coverage[g.of_source(row) + s] + (with_this ? g.attention(row, s) : 0.0F);
    const double c = static_cast<double>(coverage);
    sum += log_of(c < kLeastCoverage ? kLeastCoverage : c > 1 ? 1.0 : c);
  }
  return a.coverage_penalty * sum;
}

/// Adds a hypothesis to those that have ended. Of equal ones the one that came first stays first.
DRAGOMAN_ON_DEVICE inline void add_end(Group& g, SearchEnd end, const SearchProgress& progress) {
  if (progress.phrases_begun == g.state.phrases) ++g.state.complete;
  end.score = normalized(g.all, end.sum, end.length) + end.penalty;
  end.merit = normalized(g.all, end.sum + progress.bonus, end.length) + end.penalty;
  int& count = g.state.ended;
  if (count == g.all.most_ended) {
    if (g.ends[count - 1].merit >= end.merit) return;
    --count;
  }
  int at = count++;
  for (; at > 0 && g.ends[at - 1].merit < end.merit; --at) g.ends[at] = g.ends[at - 1];
  g.ends[at] = end;
}

/// Ends an open row that gets no more token.
DRAGOMAN_ON_DEVICE inline void cut(Group& g, int row, int length) {
  add_end(g, {0, 0, g.rows[row].sum, penalty_of(g, row, false), length, g.state.length, row, true},
          g.rows[row].progress);
}

DRAGOMAN_ON_DEVICE inline void cut_all(Group& g, int length) {
  for (int row = 0; row < g.all.width; ++row)
    if (g.rows[row].is_open) cut(g, row, length);
}

/// Ends the hypothesis that an extension makes of its row, or makes row `new_row` of it.
/// `state.length` is still the length before this token.
DRAGOMAN_ON_DEVICE inline void extend(Group& g, const SearchExtension& x, int new_row) {
  const int length = g.state.length + 1;
  if (x.token == g.all.eos) {
    add_end(g, {0, 0, x.sum, penalty_of(g, x.row, true), length, length - 1, x.row, false},
            x.progress);
    return;
  }
  g.nodes[static_cast<long long>(g.state.length) * g.all.width + new_row] = {
      x.row, x.token, static_cast<float>(x.sum - g.rows[x.row].sum)};
  const bool is_last = length == g.state.max_length;
  g.new_rows[new_row] = {x.sum, x.row, x.token, 0, !is_last, x.progress};
  if (is_last)
    add_end(g, {0, 0, x.sum, penalty_of(g, x.row, true), length, length, new_row, true},
            x.progress);
}

/// What the rules for the end need to know of the extensions.
struct Extensions {
  int count = 0;
  bool first_ends = false;  ///< whether the best one is </s>
};

}  // namespace dragoman::search_step
