// A step of the search for one group: what SentenceSearch (inference/search/search.h) does for a
// sentence, on numbers in a device's memory. CUDA's compiler makes a kernel of it
// (search_step.cu), and the program's compiler a function for tensors on the CPU.
//
// One thread ranks the candidates and says what becomes of each row. Then all threads of the block
// copy what belongs to the rows' tokens.
#pragma once

#include "kernels/cuda/search_group.cuh"
#include "kernels/cuda/search_phrases.cuh"

namespace dragoman::search_step {

/// SentenceSearch::extend_by_reported(): each row has one extension, `token`.
DRAGOMAN_ON_DEVICE inline Extensions extend_by(Group& g, int token) {
  Extensions extensions;
  for (int row = 0; row < g.all.width; ++row) {
    if (!g.rows[row].is_open) continue;
    const float value = g.log_probability(row, token);
    if (!is_possible(value)) continue;
    const int new_row = g.all.sampling ? row : extensions.count;
    if (extensions.count++ == 0) extensions.first_ends = token == g.all.eos;
    extend(g,
           {g.rows[row].sum + static_cast<double>(value), g.rows[row].progress, row, token, false},
           new_row);
  }
  if (extensions.count == 0 && g.state.ended == 0) cut_all(g, g.state.length);
  return extensions;
}

/// SentenceSearch::extend_by_sampling(): the candidate of a row is the token that was drawn.
DRAGOMAN_ON_DEVICE inline Extensions extend_by_draws(Group& g) {
  Extensions extensions;
  for (int row = 0; row < g.all.width; ++row) {
    if (!g.rows[row].is_open) continue;
    const float value = g.all.log_probabilities[g.first_row + row];
    if (!is_possible(value)) {
      cut(g, row, g.state.length);
      continue;
    }
    ++extensions.count;
    const int token = static_cast<int>(g.all.tokens[g.first_row + row]);
    extend(g,
           {g.rows[row].sum + static_cast<double>(value), g.rows[row].progress, row, token, false},
           row);
  }
  return extensions;
}

/// The candidate that comes next: its row, or -1 if no more are possible. Rows have theirs in
/// order, so the best of all is the best of those that come next in each row. Among equal sums the
/// smaller row comes first.
DRAGOMAN_ON_DEVICE inline int row_of_next(const Group& g, double& sum) {
  int best = -1;
  sum = minus_infinity();
  for (int row = 0; row < g.all.width; ++row) {
    const SearchRow& of_row = g.rows[row];
    if (!of_row.is_open || of_row.candidates == g.all.candidates) continue;
    const long long at = (g.first_row + row) * g.all.candidates + of_row.candidates;
    const double extended = of_row.sum + static_cast<double>(g.all.log_probabilities[at]);
    if (extended > sum) {
      best = row;
      sum = extended;
    }
  }
  return best;
}

/// SentenceSearch::extend_beam(), with keep_beam() or keep_best().
DRAGOMAN_ON_DEVICE inline Extensions extend_beam(Group& g) {
  const DeviceSearchStep& a = g.all;
  Extensions extensions;
  if (g.must_end(DeviceStop::Hf)) {
    cut_all(g, g.state.max_length);
    return extensions;
  }
  const bool ends_take_places = a.stop == DeviceStop::Marian || a.stop == DeviceStop::Opennmt;
  const int places = a.stop == DeviceStop::Marian ? g.state.beam_left : a.width;
  const int ended_before = g.state.ended;
  int open = 0;
  double sum = 0;
  for (int rank = 0; (ends_take_places ? rank : open) < places; ++rank) {
    const int row = row_of_next(g, sum);
    if (row < 0) {
      if (rank == 0 && ended_before == 0) cut_all(g, g.state.length);
      break;
    }
    const long long at = (g.first_row + row) * a.candidates + g.rows[row].candidates++;
    const int token = static_cast<int>(a.tokens[at]);
    const bool ends = token == a.eos;
    if (ends && rank >= a.width) continue;
    if (extensions.count++ == 0) extensions.first_ends = ends;
    extend(g, {sum, g.rows[row].progress, row, token, false}, open);
    if (!ends) ++open;
  }
  return extensions;
}

/// SentenceSearch::no_open_row_matters()
DRAGOMAN_ON_DEVICE inline bool no_open_row_matters(const Group& g, const Extensions& extensions) {
  const DeviceSearchStep& a = g.all;
  double best = minus_infinity();
  bool any = false;
  for (int row = 0; row < a.width; ++row)
    if (g.rows[row].is_open) {
      any = true;
      if (g.rows[row].sum > best) best = g.rows[row].sum;
    }
  if (!any) return true;
  if (a.sampling) return false;
  if (g.state.phrases > 0) return g.state.complete >= a.beam_size;
  const int ended = g.state.ended, length = g.state.length, most = g.state.max_length;
  switch (a.stop) {
    case DeviceStop::Full:
    case DeviceStop::Fairseq:
      return ended >= a.width;
    case DeviceStop::Exact: {
      const double next = normalized(a, 0, length + 1), last = normalized(a, 0, most);
      return ended >= a.n_best &&
             g.ends[a.n_best - 1].score >= best / a.divisors[most] + (next > last ? next : last);
    }
    case DeviceStop::Hf:
      return ended >= a.width && g.ends[a.width - 1].score >= normalized(a, best, length);
    case DeviceStop::Marian:
      return false;
    case DeviceStop::Opennmt:
      return ended >= a.n_best && extensions.first_ends;
  }
  return true;
}

/// Whether a log-probability that this step asks for is not a number.
DRAGOMAN_ON_DEVICE inline bool has_nan(const Group& g) {
  if (g.must_end(DeviceStop::Hf)) return false;
  for (int row = 0; row < g.all.width; ++row) {
    const float log_sum = g.all.log_sums[g.first_row + row];
    if (g.rows[row].is_open && log_sum != log_sum) return true;
  }
  return false;
}

/// Makes the new rows of a group that is active.
DRAGOMAN_ON_DEVICE inline void advance(Group& g, int step) {
  const DeviceSearchStep& a = g.all;
  for (int row = 0; row < a.width; ++row) {
    g.new_rows[row] = {0, row, 0, 0, false, {}};
    g.rows[row].candidates = 0;
  }
  const bool is_nan = has_nan(g);
  const bool in_prefix = g.is_in_prefix();
  Extensions extensions;
  if (!is_nan) {
    if (in_prefix || g.must_end(DeviceStop::Fairseq))
      extensions = extend_by(g, in_prefix ? g.prefix[g.state.length] : a.eos);
    else if (a.sampling)
      extensions = extend_by_draws(g);
    else
      extensions = g.state.phrases > 0 ? extend_beam_with_phrases(g) : extend_beam(g);
  }
  ++g.state.length;
  int open = 0;
  for (int row = 0; row < a.width; ++row) {
    g.rows[row] = g.new_rows[row];
    if (g.rows[row].is_open) ++open;
  }
  if (g.state.length > g.state.prefix_length) g.state.beam_left = open;
  if (!is_nan && !no_open_row_matters(g, extensions)) return;
  g.state.end = is_nan ? kSearchIsNotANumber : step;
  g.state.is_active = false;
}

/// Called by one thread of a group's block. Returns whether the group was active: only then the
/// other two functions have to be called.
DRAGOMAN_ON_DEVICE inline bool decide(const DeviceSearchStep& a, long long number) {
  Group g(a, number);
  const bool was_active = g.state.is_active;
  const int step = ++a.steps[number];
  if (was_active) advance(g, step);
  const SearchGroup& state = g.state;
  const bool must_begin_word = state.is_active && state.prefix_ends_word && state.length > 0 &&
                               state.length == state.prefix_length;
  for (int row = 0; row < a.width; ++row) {
    if (was_active) a.previous[g.first_row + row] = g.rows[row].token;
    a.positions[g.first_row + row] = state.is_active ? state.length : 0;
    a.must_begin_word[g.first_row + row] = must_begin_word;
  }
  return was_active;
}

/// Called by all threads, each with its number, after decide(): sets aside what the new rows have
/// from their parents.
DRAGOMAN_ON_DEVICE inline void follow_parents(const DeviceSearchStep& a, long long number,
                                              unsigned thread, unsigned threads) {
  const Group g(a, number);
  const int before = g.state.length - 1;  // of the parents
  for (int row = 0; row < a.width; ++row) {
    const int parent = g.rows[row].parent;
    const long long from = (g.first_row + parent) * a.columns, to = (g.first_row + row) * a.columns;
    for (int t = static_cast<int>(thread); t <= before; t += static_cast<int>(threads)) {
      a.ancestors_after[to + t] = a.ancestors[from + t];
      if (a.history != nullptr)
        a.history_after[to + t] = t == before ? g.rows[row].token : a.history[from + t];
    }
    if (a.attention == nullptr) continue;
    float* const of_node = a.attention_of_nodes +
                           ((g.first_row * a.columns) + before * a.width + row) * a.source_columns;
    for (int s = static_cast<int>(thread); s < g.state.source_length;
         s += static_cast<int>(threads)) {
      of_node[s] = g.attention(parent, s);
      a.coverage_after[g.of_source(row) + s] = a.coverage[g.of_source(parent) + s] + of_node[s];
    }
  }
}

/// Called by all threads, after all of them have followed the parents.
DRAGOMAN_ON_DEVICE inline void keep_copies(const DeviceSearchStep& a, long long number,
                                           unsigned thread, unsigned threads) {
  const Group g(a, number);
  const int length = g.state.length;
  for (int row = 0; row < a.width; ++row) {
    const long long of_row = (g.first_row + row) * a.columns;
    for (int t = static_cast<int>(thread); t <= length; t += static_cast<int>(threads)) {
      a.ancestors[of_row + t] = t == length ? row : a.ancestors_after[of_row + t];
      if (a.history != nullptr && t < length) a.history[of_row + t] = a.history_after[of_row + t];
    }
    if (a.attention == nullptr) continue;
    for (int s = static_cast<int>(thread); s < g.state.source_length;
         s += static_cast<int>(threads))
      a.coverage[g.of_source(row) + s] = a.coverage_after[g.of_source(row) + s];
  }
}

}  // namespace dragoman::search_step
