#include "inference/search/search.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "base/random.h"

namespace dragoman {

double score_divisor(std::int64_t length, const DecodeConfig& config) {
  const auto count = static_cast<double>(length);
  const double base =
      config.length_penalty_kind == LengthPenalty::Average ? count : (5.0 + count) / 6.0;
  return std::pow(base, config.length_penalty);
}

double normalized_score(double sum, std::int64_t length, const DecodeConfig& config) {
  return (sum - config.word_penalty * static_cast<double>(length)) / score_divisor(length, config);
}

double coverage_penalty(std::span<const float> coverage, double beta) {
  double sum = 0;
  for (const float c : coverage)
    sum += std::log(std::clamp(static_cast<double>(c), kLeastCoverage, 1.0));
  return beta * sum;
}

SentenceSearch::SentenceSearch(const DecodeConfig& config, const TargetTokens& tokens,
                               std::int64_t max_length, std::uint64_t key, Requirements required)
    : config_(&config),
      tokens_(&tokens),
      max_length_(max_length),
      width_(width(config, required.phrases)),
      beam_left_(width_),
      key_(key),
      required_(std::move(required)) {
  // For sentences of usual length a step allocates nothing.
  const auto most = static_cast<std::size_t>(width_);
  for (auto* rows : {&rows_, &next_rows_}) rows->reserve(most);
  extensions_.reserve(most * (most + 1));
  ended_.reserve(most_ended() + 1);
  nodes_.reserve(std::min<std::size_t>(most * static_cast<std::size_t>(max_length), 4096));
  // Sampling begins with one row for each draw, and beam search with one row.
  const auto starts = static_cast<std::int32_t>(config.sampling ? config.n_best : 1);
  for (std::int32_t sample = 0; sample < starts; ++sample)
    rows_.push_back({.parent = -1, .previous = tokens.eos, .sum = 0, .node = -1, .sample = sample});
}

std::int64_t SentenceSearch::width(const DecodeConfig& config, const RequiredPhrases& phrases) {
  if (config.sampling) return config.n_best;
  return phrases.empty() ? config.beam_size : std::max(2 * config.beam_size, kLeastForPhrases);
}

std::int64_t SentenceSearch::candidates_needed(const DecodeConfig& config,
                                               std::int64_t vocabulary) {
  // At most one candidate of a row is </s>. So beam + 1 candidates include all that the beam can
  // keep. With required phrases the beam is wider, but its rows get no more candidates.
  std::int64_t needed = width(config) + 1;
  if (config.sampling) needed = config.sampling_topk > 0 ? config.sampling_topk : vocabulary;
  return std::min(needed, vocabulary);
}

std::size_t SentenceSearch::most_ended() const {
  return static_cast<std::size_t>(std::max(config_->n_best, width_));
}

std::vector<TokenId> SentenceSearch::history(std::int32_t node) const {
  std::vector<TokenId> tokens;
  for (; node >= 0; node = nodes_[static_cast<std::size_t>(node)].parent)
    tokens.push_back(nodes_[static_cast<std::size_t>(node)].token);
  std::reverse(tokens.begin(), tokens.end());
  return tokens;
}

void SentenceSearch::prepare_step(std::int32_t first_row, std::vector<Adjustment>& adjustments,
                                  std::vector<RowToken>& reported) {
  reported_.clear();
  const bool looks_back = rules_look_back(*config_, *tokens_);
  const PhraseBeam beam(required_.phrases, *tokens_, required_.phrase_policy);
  for (std::size_t r = 0; r < rows_.size(); ++r) {
    const Row& row = rows_[r];
    const auto number = static_cast<std::int32_t>(r);
    if (is_in_prefix() || must_end(Stop::Fairseq)) {
      const auto place = static_cast<std::size_t>(length_);
      reported_.push_back({number, is_in_prefix() ? required_.prefix.tokens[place] : tokens_->eos});
      continue;
    }
    beam.append_reported(row.progress, number, reported_);
    append_adjustments({.number = first_row + number,
                        .history = looks_back ? history(row.node) : std::vector<TokenId>(),
                        .must_continue = is_too_short()},
                       *config_, *tokens_, adjustments);
    if (is_after_prefix() && required_.prefix.ends_word)
      exclude_longer_word(first_row + number, *tokens_, adjustments);
  }
  for (const RowToken& token : reported_) reported.push_back({first_row + token.row, token.token});
}

void SentenceSearch::advance(const StepResults& results) {
  source_length_ = results.attention.size() / rows_.size();
  extensions_.clear();
  phrase_extensions_.clear();
  if (is_in_prefix() || must_end(Stop::Fairseq))
    extend_by_reported(results);
  else if (config_->sampling)
    extend_by_sampling(results);
  else if (required_.phrases.empty())
    extend_beam(results);
  else
    extend_beam_with_phrases(results);
  const auto attention_of = [&](std::int32_t row) {
    return results.attention.subspan(static_cast<std::size_t>(row) * source_length_,
                                     source_length_);
  };
  ++length_;
  next_rows_.clear();
  if (phrase_extensions_.empty())
    for (const Extension& kept : extensions_)
      apply(kept, rows_[static_cast<std::size_t>(kept.row)].progress, attention_of(kept.row));
  for (const auto& [kept, progress] : phrase_extensions_)
    apply(kept, progress, attention_of(kept.row));
  if (length_ > prefix_length()) beam_left_ = static_cast<std::int64_t>(next_rows_.size());
  rows_.swap(next_rows_);
  finished_ = no_open_row_matters();
  if (finished_) rows_.clear();
}

void SentenceSearch::apply(const Extension& extension, const PhraseProgress& progress,
                           std::span<const float> attention) {
  const Row& row = rows_[static_cast<std::size_t>(extension.row)];
  Row next{.parent = extension.row,
           .previous = extension.token,
           .sum = extension.sum,
           .node = row.node,
           .sample = row.sample,
           .progress = progress};
  if (extension.token == tokens_->eos) {
    finish(next, length_, End::Eos, attention);
    return;
  }
  next.node = static_cast<std::int32_t>(nodes_.size());
  nodes_.push_back({.parent = row.node,
                    .token = extension.token,
                    .log_probability = static_cast<float>(extension.sum - row.sum)});
  attention_.insert(attention_.end(), attention.begin(), attention.end());
  if (length_ == max_length_)
    finish(next, length_, End::Cut);
  else
    next_rows_.push_back(next);
}

void SentenceSearch::extend_by_reported(const StepResults& results) {
  for (std::size_t i = 0; i < reported_.size(); ++i) {
    const auto& [row, token] = reported_[i];
    if (!is_possible({token, results.reported[i]})) continue;
    extensions_.push_back({.row = row,
                           .token = token,
                           .sum = rows_[static_cast<std::size_t>(row)].sum + results.reported[i]});
  }
  if (extensions_.empty() && ended_.empty()) end_all_rows();
}

void SentenceSearch::list_candidates(const StepResults& results) {
  const std::size_t per_row = results.candidates.size() / rows_.size();
  for (std::size_t i = 0; i < results.candidates.size(); ++i) {
    const Candidate& candidate = results.candidates[i];
    if (!is_possible(candidate)) continue;
    const std::size_t row = i / per_row;
    extensions_.push_back({.row = static_cast<std::int32_t>(row),
                           .token = candidate.token,
                           .sum = rows_[row].sum + candidate.log_probability});
  }
}

void SentenceSearch::end_all_rows() {
  for (const Row& row : rows_) finish(row, length_, End::Cut);
}

void SentenceSearch::extend_beam(const StepResults& results) {
  if (must_end(Stop::Hf)) {
    for (const Row& row : rows_) finish(row, max_length_, End::Cut);
    return;
  }
  list_candidates(results);
  if (extensions_.empty() && ended_.empty()) end_all_rows();
  if (config_->stop == Stop::Marian)
    keep_best(extensions_, beam_left_);
  else if (config_->stop == Stop::Opennmt)
    keep_best(extensions_, width_);
  else
    keep_beam(extensions_, width_, tokens_->eos);
}

void SentenceSearch::extend_beam_with_phrases(const StepResults& results) {
  const PhraseBeam beam(required_.phrases, *tokens_, required_.phrase_policy);
  const std::size_t per_row = results.candidates.size() / rows_.size();
  const std::span<const RowToken> reported = reported_;
  std::size_t first_reported = 0;
  for (std::size_t r = 0; r < rows_.size(); ++r) {
    const Row& row = rows_[r];
    std::size_t end = first_reported;
    while (end < reported.size() && reported[end].row == static_cast<std::int32_t>(r)) ++end;
    beam.extend({.number = static_cast<std::int32_t>(r),
                 .previous = row.previous,
                 .sum = row.sum,
                 .progress = row.progress,
                 .candidates = results.candidates.subspan(r * per_row, per_row),
                 .reported = reported.subspan(first_reported, end - first_reported),
                 .reported_log_probabilities =
                     results.reported.subspan(first_reported, end - first_reported),
                 .attention = results.attention.subspan(r * source_length_, source_length_)},
                max_length_ - length_, phrase_extensions_);
    first_reported = end;
  }
  if (phrase_extensions_.empty() && ended_.empty()) end_all_rows();
  beam.keep(phrase_extensions_, width_);
  for (const PhraseExtension& kept : phrase_extensions_) extensions_.push_back(kept.extension);
}

void SentenceSearch::extend_by_sampling(const StepResults& results) {
  const std::size_t per_row = results.candidates.size() / rows_.size();
  for (std::size_t row = 0; row < rows_.size(); ++row) {
    const auto of_row = results.candidates.subspan(row * per_row, per_row);
    const double uniform = uniform_of(
        random_bits(static_cast<std::uint64_t>(config_->seed), key_, rows_[row].sample, length_));
    const std::int64_t choice = draw(of_row, *config_, uniform);
    if (choice < 0) {
      finish(rows_[row], length_, End::Cut);
      continue;
    }
    const Candidate& candidate = of_row[static_cast<std::size_t>(choice)];
    extensions_.push_back({.row = static_cast<std::int32_t>(row),
                           .token = candidate.token,
                           .sum = rows_[row].sum + candidate.log_probability});
  }
}

std::span<const float> SentenceSearch::attention(std::int32_t node) const {
  return std::span(attention_)
      .subspan(static_cast<std::size_t>(node) * source_length_, source_length_);
}

void SentenceSearch::finish(const Row& row, std::int64_t length, End end,
                            std::span<const float> last_attention) {
  double penalty = 0;
  if (config_->coverage_penalty > 0) {
    std::vector<float> coverage(source_length_);
    const auto add = [&coverage](std::span<const float> seen) {
      for (std::size_t i = 0; i < seen.size(); ++i) coverage[i] += seen[i];
    };
    add(last_attention);
    for (std::int32_t n = row.node; n >= 0; n = nodes_[static_cast<std::size_t>(n)].parent)
      add(attention(n));
    penalty = coverage_penalty(coverage, config_->coverage_penalty);
  }
  const auto normalized = [&](double sum) {
    return normalized_score(sum, std::max<std::int64_t>(length, 1), *config_) + penalty;
  };
  const Ended ended{.merit = normalized(row.sum + row.progress.bonus),
                    .score = normalized(row.sum),
                    .sum = row.sum,
                    .coverage_penalty = penalty,
                    .length = length,
                    .node = row.node,
                    .cut = end == End::Cut};
  if (required_.phrases.phrases_left(row.progress) == 0) ++complete_;
  const auto at =
      std::upper_bound(ended_.begin(), ended_.end(), ended,
                       [](const Ended& a, const Ended& b) { return a.merit > b.merit; });
  ended_.insert(at, ended);
  if (ended_.size() > most_ended()) ended_.pop_back();
}

bool SentenceSearch::no_open_row_matters() const {
  if (rows_.empty()) return true;
  if (config_->sampling) return false;
  const auto beam = static_cast<std::size_t>(width_);
  const auto n_best = static_cast<std::size_t>(config_->n_best);
  if (!required_.phrases.empty()) return complete_ >= config_->beam_size;
  const double best_open = std::ranges::max_element(rows_, {}, &Row::sum)->sum;
  switch (config_->stop) {
    case Stop::Full:
    case Stop::Fairseq:
      return ended_.size() >= beam;
    case Stop::Exact:
      return ended_.size() >= n_best && ended_[n_best - 1].score >= best_score_possible(best_open);
    case Stop::Hf:
      return ended_.size() >= beam &&
             ended_[beam - 1].score >= normalized_score(best_open, length_, *config_);
    case Stop::Marian:
      return false;
    case Stop::Opennmt:
      return ended_.size() >= n_best && extensions_.front().token == tokens_->eos;
  }
  return true;
}

/// A sum never rises, and it counts least if it is divided by the largest length. The word penalty
/// is smallest at the least or at the largest length.
double SentenceSearch::best_score_possible(double sum) const {
  return sum / score_divisor(max_length_, *config_) +
         std::max(normalized_score(0, length_ + 1, *config_),
                  normalized_score(0, max_length_, *config_));
}

std::vector<Hypothesis> SentenceSearch::best() const {
  std::vector<Hypothesis> hypotheses;
  for (const Ended& ended : ended_) {
    if (hypotheses.size() == static_cast<std::size_t>(config_->n_best)) break;
    Hypothesis hypothesis{.tokens = history(ended.node),
                          .length = ended.length,
                          .sum = ended.sum,
                          .coverage_penalty = ended.coverage_penalty,
                          .score = ended.score,
                          .cut = ended.cut};
    const std::size_t count = hypothesis.tokens.size();
    hypothesis.log_probabilities.resize(static_cast<std::size_t>(ended.length));
    hypothesis.attention.resize(count * source_length_);
    double before_eos = 0;
    std::int32_t node = ended.node;
    for (std::size_t t = count; t-- > 0; node = nodes_[static_cast<std::size_t>(node)].parent) {
      hypothesis.log_probabilities[t] = nodes_[static_cast<std::size_t>(node)].log_probability;
      before_eos += hypothesis.log_probabilities[t];
      std::ranges::copy(attention(node), hypothesis.attention.begin() +
                                             static_cast<std::ptrdiff_t>(t * source_length_));
    }
    if (hypothesis.log_probabilities.size() > count)
      hypothesis.log_probabilities[count] = static_cast<float>(ended.sum - before_eos);
    hypotheses.push_back(std::move(hypothesis));
  }
  return hypotheses;
}

// ---- the extensions of a step ------------------------------------------------------------------

namespace {

bool is_better(const Extension& a, const Extension& b) {
  if (a.sum != b.sum) return a.sum > b.sum;
  if (a.row != b.row) return a.row < b.row;
  return a.token < b.token;
}

}  // namespace

void keep_beam(std::vector<Extension>& extensions, std::int64_t beam, TokenId eos) {
  // Each row ends at most once, so the best 2 * beam hold `beam` without </s>, if there are as
  // many.
  const std::size_t ranked = std::min(extensions.size(), 2 * static_cast<std::size_t>(beam));
  std::partial_sort(extensions.begin(), extensions.begin() + static_cast<std::ptrdiff_t>(ranked),
                    extensions.end(), is_better);
  std::size_t kept = 0;
  std::int64_t open = 0;
  for (std::size_t rank = 0; rank < ranked && open < beam; ++rank) {
    const bool ends = extensions[rank].token == eos;
    if (ends && rank >= static_cast<std::size_t>(beam)) continue;
    extensions[kept++] = extensions[rank];
    if (!ends) ++open;
  }
  extensions.resize(kept);
}

void keep_best(std::vector<Extension>& extensions, std::int64_t most) {
  const std::size_t kept = std::min(extensions.size(), static_cast<std::size_t>(most));
  std::partial_sort(extensions.begin(), extensions.begin() + static_cast<std::ptrdiff_t>(kept),
                    extensions.end(), is_better);
  extensions.resize(kept);
}

std::int64_t draw(std::span<const Candidate> candidates, const DecodeConfig& config,
                  double uniform) {
  std::vector<std::size_t> order;
  for (std::size_t i = 0; i < candidates.size(); ++i)
    if (is_possible(candidates[i])) order.push_back(i);
  if (order.empty()) return -1;

  const auto more_probable = [&](std::size_t a, std::size_t b) {
    return ranks_before(candidates[a], candidates[b]);
  };
  const auto topk = static_cast<std::size_t>(config.sampling_topk);
  if (topk > 0 && topk < order.size()) {
    const auto end = order.begin() + config.sampling_topk;
    std::partial_sort(order.begin(), end, order.end(), more_probable);
    order.erase(end, order.end());
  } else if (config.sampling_topp < 1.0) {
    std::sort(order.begin(), order.end(), more_probable);
  }

  float highest = -INFINITY;
  for (const std::size_t i : order) highest = std::max(highest, candidates[i].log_probability);
  std::vector<double> weights;
  for (const std::size_t i : order) {
    const double below = static_cast<double>(candidates[i].log_probability) - highest;
    weights.push_back(std::exp(below / config.temperature));
  }
  double total = std::accumulate(weights.begin(), weights.end(), 0.0);
  if (config.sampling_topp < 1.0) {
    double mass = 0;
    std::size_t count = 0;
    while (count < weights.size() && mass < config.sampling_topp * total) mass += weights[count++];
    weights.resize(count);
    total = mass;
  }
  double left = uniform * total;
  for (std::size_t i = 0; i + 1 < weights.size(); ++i) {
    left -= weights[i];
    if (left < 0) return static_cast<std::int64_t>(order[i]);
  }
  return static_cast<std::int64_t>(order[weights.size() - 1]);
}

// ---- a step of an engine for several searches --------------------------------------------------

void SearchStep::begin() {
  origins_.clear();
  previous_.clear();
  adjustments_.clear();
  reported_.clear();
  candidates_per_row_ = 0;
  reports_attention_ = false;
  attention_weights_ = 0;
  heads_ = {};
}

void SearchStep::add(EngineSearch& search) {
  const DecodeConfig& config = search.search.config();
  candidates_per_row_ = std::max(candidates_per_row_,
                                 SentenceSearch::candidates_needed(config, engine_.vocabulary()));
  const std::int32_t old_first = search.first_row;
  search.first_row = static_cast<std::int32_t>(origins_.size());
  search.first_reported = reported_.size();
  search.first_attention = attention_weights_;
  attention_weights_ += search.search.rows().size() * search.source_length;
  search.search.prepare_step(search.first_row, adjustments_, reported_);
  for (const SentenceSearch::Row& row : search.search.rows()) {
    origins_.push_back(
        {.parent = row.parent < 0 ? -1 : old_first + row.parent, .slot = search.slot});
    previous_.push_back(row.previous);
  }
  if (search.needs_attention && !reports_attention_) {
    reports_attention_ = true;
    heads_ = heads_of(config);
  }
}

void SearchStep::take() {
  candidates_.resize(previous_.size() * static_cast<std::size_t>(candidates_per_row_));
  reported_log_probabilities_.resize(reported_.size());
  engine_.step({.rows = origins_,
                .previous = previous_,
                .adjustments = adjustments_,
                .candidates_per_row = candidates_per_row_,
                .candidates = candidates_,
                .reported = reported_,
                .reported_log_probabilities = reported_log_probabilities_,
                .attention = reports_attention_ ? &attention_ : nullptr,
                .heads = heads_});
}

StepResults SearchStep::results_of(const EngineSearch& search) {
  StepResults results{
      .candidates = candidates_of(search),
      .reported =
          std::span<const float>(reported_log_probabilities_).subspan(search.first_reported)};
  if (search.needs_attention)
    results.attention =
        std::span<const float>(attention_)
            .subspan(search.first_attention, search.search.rows().size() * search.source_length);
  return results;
}

/// The candidates of the search's rows, as many as it needs. The step may have found more because
/// another search needed more.
std::span<const Candidate> SearchStep::candidates_of(const EngineSearch& search) {
  const auto best = static_cast<std::size_t>(candidates_per_row_);
  const std::size_t rows = search.search.rows().size();
  const std::span<Candidate> all =
      std::span(candidates_)
          .subspan(static_cast<std::size_t>(search.first_row) * best, rows * best);
  const auto needed = static_cast<std::size_t>(
      SentenceSearch::candidates_needed(search.search.config(), engine_.vocabulary()));
  if (needed == best) return all;
  own_candidates_.clear();
  for (std::size_t row = 0; row < rows; ++row) {
    const auto of_row = all.subspan(row * best, best);
    const auto end = of_row.begin() + static_cast<std::ptrdiff_t>(needed);
    // The candidates of a whole vocabulary are not sorted by probability.
    if (candidates_per_row_ == engine_.vocabulary())
      std::partial_sort(of_row.begin(), end, of_row.end(), ranks_before);
    own_candidates_.insert(own_candidates_.end(), of_row.begin(), end);
  }
  return own_candidates_;
}

}  // namespace dragoman
