#include "inference/device/device_search.h"

#include <ATen/ops/arange.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/constant_pad_nd.h>
#include <ATen/ops/full.h>
#include <ATen/ops/stack.h>
#include <ATen/ops/tensor.h>
#include <ATen/ops/where.h>
#include <ATen/ops/zeros.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/random.h"

namespace dragoman {

namespace {

/// Numbers that sort like (value, then the smaller token): [R, V] fp32 -> int64.
torch::Tensor rank_keys(const torch::Tensor& values, const torch::Tensor& tokens) {
  const auto bits = (values + 0.0F).view(torch::kInt32);  // no -0
  // The bits of floats sort like integers, those of negative ones the other way round.
  const auto ordered = bits.bitwise_xor((bits < 0).to(torch::kInt32) * 0x7FFFFFFF);
  return ordered.to(torch::kInt64) * (std::int64_t{1} << 32) + (values.size(1) - 1 - tokens);
}

/// The tokens [R, count] of the largest values of each row, the largest first; of equal values the
/// smaller token first.
torch::Tensor best_tokens(const torch::Tensor& values, std::int64_t count) {
  const std::int64_t vocabulary = values.size(1);
  const auto tokens = torch::arange(vocabulary, values.options().dtype(torch::kInt64));
  const auto keys = std::get<0>(rank_keys(values, tokens).topk(count, 1));
  return vocabulary - 1 - keys.bitwise_and(0xFFFFFFFF);
}

/// Puts the rows of `values` [n, ...] into `into` [G, ...] at `groups` [n].
void put(torch::Tensor& into, const torch::Tensor& groups, const torch::Tensor& values) {
  into.index_copy_(0, groups, values.to(into.options()));
}

/// The same with more room in dimension `dim`.
torch::Tensor widened(const torch::Tensor& tensor, std::int64_t dim, std::int64_t size) {
  std::vector<std::int64_t> shape = tensor.sizes().vec();
  shape[static_cast<std::size_t>(dim)] = size;
  auto wide = torch::zeros(shape, tensor.options());
  wide.narrow(dim, 0, tensor.size(dim)).copy_(tensor);
  return wide;
}

/// On the host, of the n groups that are asked for.
struct EndedNumbers {
  torch::Tensor scores;  // [n, E, 3]: score, sum, coverage penalty
  torch::Tensor counts;  // [n, E, 4]: length, count, row, cut
};
struct Nodes {
  torch::Tensor tokens, parents, log_probabilities;  // [n, T, B]
  torch::Tensor attention;                           // [n, T, B, S], or undefined
  torch::Tensor source_lengths;                      // [n]
};

Hypothesis hypothesis_of(const EndedNumbers& ended, const Nodes& nodes, std::int64_t group,
                         std::int64_t number) {
  const auto scores = ended.scores.accessor<double, 3>()[group][number];
  const auto counts = ended.counts.accessor<std::int64_t, 3>()[group][number];
  const std::int64_t count = counts[1];
  Hypothesis hypothesis{.tokens = std::vector<TokenId>(static_cast<std::size_t>(count)),
                        .length = counts[0],
                        .sum = scores[1],
                        .coverage_penalty = scores[2],
                        .score = scores[0],
                        .cut = counts[3] != 0,
                        .log_probabilities = {},
                        .attention = {}};
  hypothesis.log_probabilities.resize(static_cast<std::size_t>(hypothesis.length));
  const std::int64_t source_length =
      nodes.attention.defined() ? nodes.source_lengths.accessor<std::int64_t, 1>()[group] : 0;
  hypothesis.attention.resize(static_cast<std::size_t>(count * source_length));
  const auto tokens = nodes.tokens.accessor<std::int64_t, 3>()[group],
             parents = nodes.parents.accessor<std::int64_t, 3>()[group];
  const auto log_probabilities = nodes.log_probabilities.accessor<float, 3>()[group];
  double before_eos = 0;
  std::int64_t row = counts[2];
  for (std::int64_t t = count; t-- > 0; row = parents[t][row]) {
    const auto at = static_cast<std::size_t>(t);
    hypothesis.tokens[at] = static_cast<TokenId>(tokens[t][row]);
    hypothesis.log_probabilities[at] = log_probabilities[t][row];
    before_eos += log_probabilities[t][row];
    for (std::int64_t s = 0; s < source_length; ++s)
      hypothesis.attention[static_cast<std::size_t>(t * source_length + s)] =
          nodes.attention.accessor<float, 4>()[group][t][row][s];
  }
  if (hypothesis.length > count)
    hypothesis.log_probabilities[static_cast<std::size_t>(count)] =
        static_cast<float>(hypothesis.sum - before_eos);
  return hypothesis;
}

torch::Tensor in_dimension_1(const torch::Tensor& tensor, const torch::Tensor& index) {
  return tensor.gather(1, index);
}

}  // namespace

DeviceSearch::DeviceSearch(const SearchSettings& settings, const DeviceModel& model,
                           std::span<const TokenId> never_emitted, const Options& options)
    : config_(settings.config),
      eos_(settings.tokens.eos),
      groups_(options.groups),
      width_(SentenceSearch::width(config_)),
      most_ended_(std::max(config_.n_best, width_)),
      vocabulary_(model.vocabulary()),
      candidates_(SentenceSearch::candidates_needed(config_, vocabulary_)),
      keeps_attention_(options.keeps_attention),
      looks_back_(config_.repetition_penalty != 1 || config_.no_repeat_ngram_size > 0 ||
                  !settings.tokens.avoided.empty()),
      integers_(torch::TensorOptions().dtype(torch::kInt64).device(model.device())),
      rules_(config_, settings.tokens, never_emitted, vocabulary_, model.device()),
      begun_at_(static_cast<std::size_t>(groups_), -1) {
  const auto bools = integers_.dtype(torch::kBool), doubles = integers_.dtype(torch::kFloat64);
  const std::vector<std::int64_t> of_groups = {groups_}, of_rows = {groups_, width_},
                                  of_ended = {groups_, most_ended_};
  for (auto* tensor : {&length_, &max_length_, &prefix_length_, &source_length_, &beam_left_})
    *tensor = torch::zeros(of_groups, integers_);
  end_ = torch::full(of_groups, kGoesOn, integers_);
  prefix_ends_word_ = torch::zeros(of_groups, bools);
  prefix_ = torch::zeros({groups_, 0}, integers_);
  open_ = torch::zeros(of_rows, bools);
  sums_ = torch::zeros(of_rows, doubles);
  parents_ = torch::arange(width_, integers_).repeat({groups_, 1});
  previous_ = torch::full(of_rows, -1, integers_);
  node_tokens_ = node_parents_ = torch::zeros({groups_, 0, width_}, integers_);
  node_log_probabilities_ = torch::zeros({groups_, 0, width_}, integers_.dtype(torch::kFloat32));
  if (looks_back_) history_ = torch::zeros({groups_, width_, 0}, integers_);
  if (config_.sampling) uniforms_ = torch::zeros({groups_, width_, 0}, doubles);
  if (keeps_attention_) {
    coverage_ = torch::zeros({groups_, width_, 0}, integers_.dtype(torch::kFloat32));
    node_attention_ = torch::zeros({groups_, 0, width_, 0}, coverage_.options());
  }
  ended_ = {.score = torch::full(of_ended, -INFINITY, doubles),
            .sum = torch::zeros(of_ended, doubles),
            .penalty = torch::zeros(of_ended, doubles),
            .length = torch::zeros(of_ended, integers_),
            .count = torch::zeros(of_ended, integers_),
            .row = torch::zeros(of_ended, integers_),
            .cut = torch::zeros(of_ended, bools)};
}

// ---- sentences come and go ----------------------------------------------------------------------

/// One column more than a hypothesis has tokens: a group whose search has ended writes there.
void DeviceSearch::make_room(std::int64_t longest, std::int64_t prefix, std::int64_t source) {
  if (prefix > prefix_capacity_) prefix_ = widened(prefix_, 1, prefix_capacity_ = prefix);
  if (longest > capacity_) {
    capacity_ = longest;
    for (auto* nodes : {&node_tokens_, &node_parents_, &node_log_probabilities_, &node_attention_})
      if (nodes->defined()) *nodes = widened(*nodes, 1, capacity_ + 1);
    for (auto* of_rows : {&history_, &uniforms_})
      if (of_rows->defined()) *of_rows = widened(*of_rows, 2, capacity_ + 1);
    std::vector<double> divisors = {1};  // of no token: never used
    for (std::int64_t length = 1; length <= capacity_ + 1; ++length)
      divisors.push_back(score_divisor(length, config_));
    divisors_ = torch::tensor(divisors, integers_.dtype(torch::kFloat64));
  }
  if (keeps_attention_ && source > source_capacity_) {
    coverage_ = widened(coverage_, 2, source);
    node_attention_ = widened(node_attention_, 3, source);
  }
  source_capacity_ = std::max(source_capacity_, source);
}

void DeviceSearch::begin(std::span<const DeviceSentence> sentences, std::int64_t source_capacity) {
  if (sentences.empty()) return;
  std::int64_t longest = 0, longest_prefix = 0;
  for (const DeviceSentence& sentence : sentences) {
    longest = std::max(longest, sentence.max_length);
    longest_prefix = std::max(longest_prefix, static_cast<std::int64_t>(sentence.prefix.size()));
  }
  make_room(longest, longest_prefix, source_capacity);

  const auto count = static_cast<std::int64_t>(sentences.size());
  std::vector<std::int64_t> numbers;
  auto facts = torch::zeros({5, count}, torch::kInt64);
  auto prefixes = torch::zeros({count, prefix_capacity_}, torch::kInt64);
  auto uniforms = config_.sampling ? torch::zeros({count, width_, capacity_ + 1}, torch::kFloat64)
                                   : torch::Tensor();
  auto fact_of = facts.accessor<std::int64_t, 2>(),
       prefix_of = prefixes.accessor<std::int64_t, 2>();
  for (std::int64_t i = 0; i < count; ++i) {
    const DeviceSentence& sentence = sentences[static_cast<std::size_t>(i)];
    begun_at_[static_cast<std::size_t>(sentence.group)] = steps_;
    numbers.push_back(sentence.group);
    const auto prefix = static_cast<std::int64_t>(sentence.prefix.size());
    const std::int64_t of_sentence[] = {sentence.max_length, prefix,
                                        sentence.prefix_ends_word ? 1 : 0, sentence.source_length,
                                        width_};
    for (std::int64_t fact = 0; fact < 5; ++fact) fact_of[fact][i] = of_sentence[fact];
    for (std::int64_t t = 0; t < prefix; ++t)
      prefix_of[i][t] = sentence.prefix[static_cast<std::size_t>(t)];
    if (!config_.sampling) continue;
    auto draws = uniforms.accessor<double, 3>();
    for (std::int64_t sample = 0; sample < width_; ++sample)
      for (std::int64_t t = 0; t < sentence.max_length; ++t)
        draws[i][sample][t] = uniform_of(
            random_bits(static_cast<std::uint64_t>(config_.seed), sentence.key, sample, t));
  }
  const auto groups = torch::tensor(numbers, torch::kInt64).to(integers_);
  torch::Tensor* const of_facts[] = {&max_length_, &prefix_length_, &prefix_ends_word_,
                                     &source_length_, &beam_left_};
  for (std::int64_t fact = 0; fact < 5; ++fact) put(*of_facts[fact], groups, facts[fact]);
  put(prefix_, groups, prefixes);
  if (config_.sampling) put(uniforms_, groups, uniforms);
  length_.index_fill_(0, groups, 0);
  end_.index_fill_(0, groups, kGoesOn);
  open_.index_fill_(0, groups, false);
  for (std::int64_t row = 0; row < starts(); ++row)
    open_.select(1, row).index_fill_(0, groups, true);
  sums_.index_fill_(0, groups, 0);
  previous_.index_fill_(0, groups, -1);
  ended_.score.index_fill_(0, groups, -INFINITY);
  if (keeps_attention_) coverage_.index_fill_(0, groups, 0);
}

void DeviceSearch::release(std::span<const std::int64_t> groups) {
  for (const std::int64_t group : groups) {
    begun_at_[static_cast<std::size_t>(group)] = -1;
    open_.select(0, group).fill_(false);
  }
}

// ---- a step -------------------------------------------------------------------------------------

DeviceStep DeviceSearch::next_step() const {
  std::int64_t longest = 1;
  for (const std::int64_t begun : begun_at_)
    if (begun >= 0) longest = std::max(longest, steps_ - begun + 1);
  const auto first = torch::arange(groups_, integers_).unsqueeze(1) * width_;
  const auto positions = torch::where(is_active(), length_, 0).unsqueeze(1);
  return {.parents = (first + parents_).view(-1),
          .previous = previous_.view(-1),
          .positions = positions.expand({groups_, width_}).reshape(-1),
          .longest = longest,
          .reports_attention = keeps_attention_,
          .heads = {config_.attention_layer, config_.attention_head}};
}

void DeviceSearch::advance(const DeviceStepResults& results) {
  ++steps_;
  const auto was_open = open_, was_active = is_active();
  Candidates candidates = config_.sampling ? list_draws(results.log_probabilities)
                                           : list_candidates(results.log_probabilities);
  follow_prefix(results.log_probabilities, candidates);
  const Extensions extensions = config_.sampling ? draws_of(candidates) : beam_of(candidates);
  torch::Tensor attention, coverage;  // [G, B, S]
  if (keeps_attention_) {
    attention = torch::zeros_like(coverage_);
    attention.narrow(2, 0, results.attention.size(1))
        .copy_(results.attention.view({groups_, width_, -1}));
    coverage = coverage_ + attention;
  }
  keep_best_ended({ended_rows(extensions), ended_extensions(extensions, coverage)});
  continue_rows(extensions, attention);
  length_ += was_active;
  if (config_.stop == Stop::Marian)
    beam_left_ = torch::where(length_.gt(prefix_length_), open_.sum(1), beam_left_);

  const auto not_numbers = results.log_probabilities.select(1, 0)
                               .isnan()
                               .view({groups_, width_})
                               .logical_and(was_open)
                               .any(1);
  const auto has_ended = was_active & (no_open_row_matters() | not_numbers);
  open_ = open_ & ~has_ended.unsqueeze(1);
  end_ = torch::where(has_ended, torch::where(not_numbers, kNotANumber, steps_), end_);
}

torch::Tensor DeviceSearch::adjusted(const torch::Tensor& log_probabilities) const {
  const auto of_rows = [this](const torch::Tensor& of_groups) {
    return of_groups.unsqueeze(1).expand({groups_, width_}).reshape(-1);
  };
  const auto behind_prefix = prefix_ends_word_ & length_.gt(0) & length_.eq(prefix_length_);
  return rules_.adjust(log_probabilities,
                       {.history = looks_back_ ? history_.flatten(0, 1) : torch::Tensor(),
                        .length = of_rows(length_),
                        .ends_prefix = of_rows(behind_prefix)});
}

DeviceSearch::Candidates DeviceSearch::list_candidates(
    const torch::Tensor& log_probabilities) const {
  const auto values = adjusted(log_probabilities);
  const auto tokens = best_tokens(values, candidates_);
  const auto chosen = in_dimension_1(values, tokens);
  const auto is_possible = chosen.gt(-INFINITY) & open_.view({-1, 1});
  return {.tokens = tokens,
          .sums = torch::where(is_possible, sums_.view({-1, 1}) + chosen.to(torch::kFloat64),
                               -INFINITY)};
}

/// draw() of inference/search/extensions, for each row: one candidate.
DeviceSearch::Candidates DeviceSearch::list_draws(const torch::Tensor& log_probabilities) const {
  const auto values = adjusted(log_probabilities);
  const bool is_ordered = candidates_ < vocabulary_ || config_.sampling_topp < 1;
  const auto tokens = is_ordered ? best_tokens(values, candidates_)
                                 : torch::arange(vocabulary_, integers_).expand_as(values);
  const auto chosen = in_dimension_1(values, tokens);
  const auto is_possible = chosen.gt(-INFINITY);
  const auto exact = chosen.to(torch::kFloat64);
  auto weights =
      torch::where(is_possible, ((exact - exact.amax(1, true)) / config_.temperature).exp(), 0.0);
  if (config_.sampling_topp < 1) {
    const auto before = weights.cumsum(1) - weights;
    weights = torch::where(before.lt(config_.sampling_topp * weights.sum(1, true)), weights, 0.0);
  }
  const auto place = length_.view({-1, 1, 1}).expand({groups_, width_, 1});
  const auto uniform = uniforms_.gather(2, place).view({-1, 1});
  const auto left = uniform * weights.sum(1, true);
  const auto number = torch::arange(weights.size(1), integers_);
  const auto last = torch::where(weights.gt(0), number, 0).amax(1, true);
  const auto choice = weights.cumsum(1).le(left).sum(1, true).minimum(last);  // [R, 1]
  const auto can_draw = is_possible.any(1, true) & open_.view({-1, 1});
  return {.tokens = in_dimension_1(tokens, choice),
          .sums = torch::where(can_draw, sums_.view({-1, 1}) + in_dimension_1(exact, choice),
                               -INFINITY)};
}

/// Within its prefix a row has one candidate: the prefix's next token, which no rule excludes.
void DeviceSearch::follow_prefix(const torch::Tensor& log_probabilities,
                                 Candidates& candidates) const {
  if (prefix_capacity_ == 0) return;
  const auto place = length_.clamp_max(prefix_capacity_ - 1).unsqueeze(1);
  const auto next = in_dimension_1(prefix_, place).expand({groups_, width_}).reshape({-1, 1});
  const auto is_inside = is_in_prefix().unsqueeze(1).expand({groups_, width_}).reshape({-1, 1});
  const auto value = in_dimension_1(log_probabilities, next);
  const auto sum = torch::where(value.gt(-INFINITY) & open_.view({-1, 1}),
                                sums_.view({-1, 1}) + value.to(torch::kFloat64), -INFINITY);
  const auto is_first = torch::arange(candidates.tokens.size(1), integers_).eq(0);
  candidates.tokens = torch::where(is_inside, next, candidates.tokens);
  candidates.sums =
      torch::where(is_inside, torch::where(is_first, sum, -INFINITY), candidates.sums);
}

/// keep_beam() and keep_best() of inference/search/extensions.
DeviceSearch::Extensions DeviceSearch::beam_of(const Candidates& candidates) const {
  const std::int64_t of_row = candidates.tokens.size(1);
  const auto all = candidates.sums.view({groups_, width_ * of_row});
  const auto [sorted, order] = all.sort(/*stable=*/true, 1, /*descending=*/true);
  const std::int64_t ranked = std::min(2 * width_, width_ * of_row);  // K
  const auto indices = order.narrow(1, 0, ranked);
  Extensions extensions{.rows = indices.div(of_row, "floor"),
                        .tokens = in_dimension_1(candidates.tokens.view_as(all), indices),
                        .sums = sorted.narrow(1, 0, ranked)};
  extensions.ends = extensions.tokens.eq(eos_);
  const auto is_possible = extensions.sums.gt(-INFINITY);
  const auto rank = torch::arange(ranked, integers_);
  const auto is_open = is_possible & ~extensions.ends;
  const auto number = is_open.cumsum(1);  // among the open ones, from 1
  extensions.places = number - 1;
  extensions.kept = config_.stop == Stop::Marian
                        ? is_possible & rank.lt(beam_left_.unsqueeze(1))
                        : torch::where(extensions.ends, is_possible & rank.lt(width_),
                                       is_possible & number.le(width_));
  if (config_.stop == Stop::Hf)  // all rows end
    extensions.kept = extensions.kept & (~is_at_end() | is_in_prefix()).unsqueeze(1);
  return extensions;
}

/// Each row continues by itself.
DeviceSearch::Extensions DeviceSearch::draws_of(const Candidates& candidates) const {
  const auto rows = torch::arange(width_, integers_).expand({groups_, width_});
  const auto tokens = candidates.tokens.view({groups_, width_});
  const auto sums = candidates.sums.view({groups_, width_});
  return {.rows = rows,
          .tokens = tokens,
          .sums = sums,
          .kept = sums.gt(-INFINITY),
          .ends = tokens.eq(eos_),
          .places = rows};
}

DeviceSearch::Ended DeviceSearch::ended_rows(const Extensions& extensions) const {
  const auto none_kept = ~extensions.kept.any(1);  // [G]
  torch::Tensor ends;                              // [G, B]
  if (config_.sampling)
    ends = torch::where(is_in_prefix().unsqueeze(1), none_kept.unsqueeze(1), ~extensions.kept);
  else
    ends = (none_kept & (is_in_prefix() | ~ended_.score.gt(-INFINITY).any(1))).unsqueeze(1);
  auto length = length_;
  if (config_.stop == Stop::Hf && !config_.sampling) {
    const auto must_end = is_at_end() & ~is_in_prefix();
    ends = ends | must_end.unsqueeze(1);
    length = torch::where(must_end, max_length_, length_);
  }
  const auto of_rows = [this](const torch::Tensor& of_groups) {
    return of_groups.unsqueeze(1).expand({groups_, width_});
  };
  const auto penalty = penalty_of(coverage_);
  return {
      .score = torch::where(ends & open_, normalized(sums_, of_rows(length)) + penalty, -INFINITY),
      .sum = sums_,
      .penalty = penalty,
      .length = of_rows(length),
      .count = of_rows(length_),
      .row = torch::arange(width_, integers_).expand({groups_, width_}),
      .cut = torch::ones_like(open_)};
}

DeviceSearch::Ended DeviceSearch::ended_extensions(const Extensions& extensions,
                                                   const torch::Tensor& coverage) const {
  const auto length = (length_ + 1).unsqueeze(1).expand_as(extensions.rows);
  const auto ends = extensions.kept & (extensions.ends | is_at_end().unsqueeze(1));
  auto penalty = penalty_of(coverage);
  if (penalty.dim() > 0) penalty = in_dimension_1(penalty, extensions.rows);
  penalty = penalty.expand_as(extensions.rows);
  // One that ends with </s> is the row that it comes from; one that is cut is a new row.
  return {.score = torch::where(ends, normalized(extensions.sums, length) + penalty, -INFINITY),
          .sum = extensions.sums,
          .penalty = penalty,
          .length = length,
          .count = torch::where(extensions.ends, length - 1, length),
          .row = torch::where(extensions.ends, extensions.rows, extensions.places),
          .cut = ~extensions.ends};
}

void DeviceSearch::keep_best_ended(const std::vector<Ended>& more) {
  const auto joined = [&](torch::Tensor Ended::*member) {
    std::vector<torch::Tensor> all = {ended_.*member};
    for (const Ended& some : more) all.push_back((some.*member).expand_as(some.row));
    return torch::cat(all, 1);
  };
  const auto order =
      std::get<1>(joined(&Ended::score).sort(/*stable=*/true, 1, true)).narrow(1, 0, most_ended_);
  Ended kept;
  for (auto member : {&Ended::score, &Ended::sum, &Ended::penalty, &Ended::length, &Ended::count,
                      &Ended::row, &Ended::cut})
    kept.*member = in_dimension_1(joined(member), order);
  ended_ = kept;
}

void DeviceSearch::continue_rows(const Extensions& extensions, const torch::Tensor& attention) {
  // Column B takes the extensions that become no row.
  const auto becomes_row = extensions.kept & ~extensions.ends;
  const auto target = torch::where(becomes_row, extensions.places, width_);
  const auto numbers = torch::arange(target.size(1), integers_).expand_as(target).contiguous();
  const auto chosen = torch::zeros({groups_, width_ + 1}, integers_)
                          .scatter_(1, target, numbers)
                          .narrow(1, 0, width_);  // [G, B]: the extension of each new row
  const auto is_there = torch::zeros({groups_, width_ + 1}, open_.options())
                            .scatter_(1, target, true)
                            .narrow(1, 0, width_);
  parents_ = in_dimension_1(extensions.rows, chosen);
  previous_ = in_dimension_1(extensions.tokens, chosen);
  const auto sums = in_dimension_1(extensions.sums, chosen);
  note_nodes(attention, sums);
  sums_ = sums;
  open_ = is_there & ~is_at_end().unsqueeze(1);
}

/// Writes token `length_` of the new rows into the tree.
void DeviceSearch::note_nodes(const torch::Tensor& attention, const torch::Tensor& new_sums) {
  const auto place = length_.view({-1, 1, 1}).expand({groups_, 1, width_});
  const auto log_probabilities = (new_sums - in_dimension_1(sums_, parents_)).to(torch::kFloat32);
  node_tokens_.scatter_(1, place, previous_.unsqueeze(1));
  node_parents_.scatter_(1, place, parents_.unsqueeze(1));
  node_log_probabilities_.scatter_(1, place, log_probabilities.unsqueeze(1));
  if (looks_back_) {
    const auto tokens = parents_.unsqueeze(2).expand({groups_, width_, capacity_ + 1});
    history_ = history_.gather(1, tokens);
    const auto next = length_.view({-1, 1, 1}).expand({groups_, width_, 1});
    history_.scatter_(2, next, previous_.unsqueeze(2));
  }
  if (!keeps_attention_) return;
  const auto weights = parents_.unsqueeze(2).expand_as(coverage_);
  const auto of_parents = attention.gather(1, weights);  // [G, B, S]
  coverage_ = coverage_.gather(1, weights) + of_parents;
  node_attention_.scatter_(1, place.unsqueeze(3).expand({groups_, 1, width_, source_capacity_}),
                           of_parents.unsqueeze(1));
}

// ---- scores and ends ----------------------------------------------------------------------------

torch::Tensor DeviceSearch::normalized(const torch::Tensor& sums,
                                       const torch::Tensor& lengths) const {
  const auto at_least_one = lengths.clamp_min(1);
  const auto divisors = divisors_.index_select(0, at_least_one.reshape(-1)).view(lengths.sizes());
  return (sums - config_.word_penalty * at_least_one.to(torch::kFloat64)) / divisors;
}

/// coverage_penalty() [G, B] of coverage [G, B, S]; a zero where it is not asked for.
torch::Tensor DeviceSearch::penalty_of(const torch::Tensor& coverage) const {
  if (config_.coverage_penalty == 0 || !keeps_attention_) return torch::zeros({}, sums_.options());
  const auto is_token =
      torch::arange(source_capacity_, integers_).lt(source_length_.view({-1, 1, 1}));
  const auto logs = coverage.to(torch::kFloat64).clamp(1e-6, 1.0).log();
  return config_.coverage_penalty * torch::where(is_token, logs, 0.0).sum(2);
}

/// SentenceSearch::no_open_row_matters() [G].
torch::Tensor DeviceSearch::no_open_row_matters() const {
  const auto no_row = ~is_active();
  if (config_.sampling || config_.stop == Stop::Marian) return no_row;
  const auto has_ended = [this](std::int64_t count) {
    return ended_.score.gt(-INFINITY).sum(1).ge(count);
  };
  const auto best_open = std::get<0>(torch::where(open_, sums_, -INFINITY).max(1));  // [G]
  if (config_.stop == Stop::Full) return no_row | has_ended(width_);
  if (config_.stop == Stop::Hf)
    return no_row | (has_ended(width_) &
                     ended_.score.select(1, width_ - 1).ge(normalized(best_open, length_)));
  const auto zero = torch::zeros_like(best_open);
  const auto divisors = divisors_.index_select(0, max_length_);
  const auto best_possible =
      best_open / divisors + normalized(zero, length_ + 1).maximum(normalized(zero, max_length_));
  return no_row |
         (has_ended(config_.n_best) & ended_.score.select(1, config_.n_best - 1).ge(best_possible));
}

// ---- results ------------------------------------------------------------------------------------

std::vector<std::int64_t> DeviceSearch::ends() const {
  const auto ends = end_.cpu();
  const auto* values = ends.const_data_ptr<std::int64_t>();
  return {values, values + groups_};
}

std::vector<std::vector<Hypothesis>> DeviceSearch::best(
    std::span<const std::int64_t> groups) const {
  const auto index =
      torch::tensor(std::vector<std::int64_t>(groups.begin(), groups.end()), torch::kInt64)
          .to(integers_);
  const auto of_groups = [&index](const torch::Tensor& tensor) {
    return tensor.index_select(0, index).cpu().contiguous();
  };
  const EndedNumbers ended{
      .scores = of_groups(torch::stack({ended_.score, ended_.sum, ended_.penalty}, 2)),
      .counts = of_groups(torch::stack(
          {ended_.length, ended_.count, ended_.row, ended_.cut.to(torch::kInt64)}, 2))};
  const Nodes nodes{.tokens = of_groups(node_tokens_),
                    .parents = of_groups(node_parents_),
                    .log_probabilities = of_groups(node_log_probabilities_),
                    .attention = keeps_attention_ ? of_groups(node_attention_) : torch::Tensor(),
                    .source_lengths = of_groups(source_length_)};
  std::vector<std::vector<Hypothesis>> best(groups.size());
  for (std::size_t i = 0; i < groups.size(); ++i)
    for (std::int64_t number = 0; number < config_.n_best; ++number) {
      const auto group = static_cast<std::int64_t>(i);
      if (ended.scores[group][number][0].item<double>() == -INFINITY) break;
      best[i].push_back(hypothesis_of(ended, nodes, group, number));
    }
  return best;
}

}  // namespace dragoman
