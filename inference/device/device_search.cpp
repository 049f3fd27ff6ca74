#include "inference/device/device_search.h"

#include <ATen/ops/arange.h>
#include <ATen/ops/full.h>
#include <ATen/ops/tensor.h>
#include <ATen/ops/where.h>
#include <ATen/ops/zeros.h>

#include <algorithm>
#include <cmath>

#include "base/random.h"

namespace dragoman {

// ---- the next tokens of each row: no operation waits for the host ------------------------------

namespace {

/// Numbers that sort like (value, then the smaller token): [R, V] fp32 -> int64.
torch::Tensor rank_keys(const torch::Tensor& values) {
  const auto tokens = torch::arange(values.size(1), values.options().dtype(torch::kInt64));
  const auto bits = (values + 0.0F).view(torch::kInt32);  // no -0
  // The bits of floats sort like integers; those of negative floats sort the other way round.
  const auto ordered = bits.bitwise_xor((bits < 0).to(torch::kInt32) * 0x7FFFFFFF);
  return ordered.to(torch::kInt64) * (std::int64_t{1} << 32) + (values.size(1) - 1 - tokens);
}

/// The tokens [R, count] int64 with the largest values of each row, the largest first; of equal
/// values the smaller token first. values [R, V] fp32.
torch::Tensor best_tokens(const torch::Tensor& values, std::int64_t count) {
  const auto keys = std::get<0>(rank_keys(values).topk(count, 1));
  return values.size(1) - 1 - keys.bitwise_and(0xFFFFFFFF);
}

/// draw() of inference/search/search.h for each row: the index [R, 1] of its choice among the
/// log-probabilities [R, C], in the order in which they are drawn from. uniform [R, 1] double
/// decides.
torch::Tensor draw(const torch::Tensor& log_probabilities, const DecodeConfig& config,
                   const torch::Tensor& uniform) {
  const auto exact = log_probabilities.to(torch::kFloat64);
  const auto relative = ((exact - exact.amax(1, true)) / config.temperature).exp();
  auto weights = torch::where(exact.gt(-INFINITY), relative, 0.0);
  if (config.sampling_topp < 1) {
    const auto before = weights.cumsum(1) - weights;
    weights = torch::where(before.lt(config.sampling_topp * weights.sum(1, true)), weights, 0.0);
  }
  const auto left = uniform * weights.sum(1, true);
  const auto index =
      torch::arange(weights.size(1), log_probabilities.options().dtype(torch::kInt64));
  const auto last = torch::where(weights.gt(0), index, 0).amax(1, true);
  return weights.cumsum(1).le(left).sum(1, true).minimum(last);
}

}  // namespace

DeviceSearch::DeviceSearch(const SearchSettings& settings, const DeviceModel& model,
                           std::span<const TokenId> never_emitted, const Options& options)
    : config_(settings.config),
      eos_(settings.tokens.eos),
      groups_(options.groups),
      width_(SentenceSearch::width(config_)),
      vocabulary_(model.vocabulary()),
      candidates_(SentenceSearch::candidates_needed(config_, vocabulary_)),
      keeps_attention_(options.keeps_attention),
      integers_(torch::TensorOptions().dtype(torch::kInt64).device(model.device())),
      rules_(config_, settings.tokens, never_emitted, vocabulary_, model.device()),
      tree_(groups_, width_, keeps_attention_, integers_),
      ended_(groups_, std::max(config_.n_best, width_), integers_),
      begun_at_(static_cast<std::size_t>(groups_), -1) {
  const auto bools = integers_.dtype(torch::kBool), doubles = integers_.dtype(torch::kFloat64);
  const std::vector<std::int64_t> by_group = {groups_}, by_row = {groups_, width_};
  for (auto* tensor : {&length_, &max_length_, &prefix_length_, &source_length_, &beam_left_})
    *tensor = torch::zeros(by_group, integers_);
  end_ = torch::full(by_group, kContinues, integers_);
  prefix_ends_word_ = torch::zeros(by_group, bools);
  prefix_ = torch::zeros({groups_, 0}, integers_);
  open_ = torch::zeros(by_row, bools);
  sums_ = torch::zeros(by_row, doubles);
  parents_ = torch::arange(width_, integers_).repeat({groups_, 1});
  previous_ = torch::full(by_row, -1, integers_);
  if (rules_.looks_back()) history_ = torch::zeros({groups_, width_, 0}, integers_);
  if (config_.sampling) uniforms_ = torch::zeros({groups_, width_, 0}, doubles);
  if (keeps_attention_)
    coverage_ = torch::zeros({groups_, width_, 0}, integers_.dtype(torch::kFloat32));
}

// ---- a step ------------------------------------------------------------------------------------

DeviceStep DeviceSearch::next_step() const {
  const auto first = torch::arange(groups_, integers_).unsqueeze(1) * width_;
  const auto positions = torch::where(is_active(), length_, 0).unsqueeze(1);
  return {.parents = (first + parents_).view(-1),
          .previous = previous_.view(-1),
          .positions = positions.expand({groups_, width_}).reshape(-1),
          .longest = longest(),
          .reports_attention = keeps_attention_,
          .heads = heads_of(config_)};
}

void DeviceSearch::advance(const DeviceStepResults& results) {
  make_room_for_tokens();
  ++steps_;
  const auto was_open = open_, was_active = is_active();
  Candidates candidates = config_.sampling ? list_draws(results.log_probabilities)
                                           : list_candidates(results.log_probabilities);
  take_one_candidate(results.log_probabilities, candidates);
  const Extensions extensions = config_.sampling ? draws_of(candidates) : beam_of(candidates);
  torch::Tensor attention, coverage;  // [G, B, S]
  if (keeps_attention_) {
    attention = torch::zeros_like(coverage_);
    attention.narrow(2, 0, results.attention.size(1))
        .copy_(results.attention.view({groups_, width_, -1}));
    coverage = coverage_ + attention;
  }
  ended_.add({ended_rows(extensions), ended_extensions(extensions, coverage)});
  continue_rows(extensions, attention);
  length_ += was_active;
  if (config_.stop == Stop::Marian)
    beam_left_ = torch::where(length_.gt(prefix_length_), open_.sum(1), beam_left_);

  // At its maximum length Stop::Hf ends all rows and asks for no probability.
  const auto must_end = config_.stop == Stop::Hf && !config_.sampling
                            ? length_.eq(max_length_) & length_.gt(prefix_length_)
                            : torch::zeros_like(was_active);
  const auto not_numbers = results.log_probabilities.select(1, 0)
                               .isnan()
                               .view({groups_, width_})
                               .logical_and(was_open)
                               .any(1)
                               .logical_and(~must_end);
  const auto has_ended = was_active & (no_open_row_matters(extensions) | not_numbers);
  open_ = open_ & ~has_ended.unsqueeze(1);
  end_ = torch::where(has_ended, torch::where(not_numbers, kNotANumber, steps_), end_);
}

/// [G] -> [G, B]: each row gets the value of its group.
torch::Tensor DeviceSearch::of_rows(const torch::Tensor& of_groups) const {
  return of_groups.unsqueeze(1).expand({groups_, width_});
}

torch::Tensor DeviceSearch::adjusted(const torch::Tensor& log_probabilities) const {
  const auto after_prefix = prefix_ends_word_ & length_.gt(0) & length_.eq(prefix_length_);
  return rules_.adjust(log_probabilities,
                       {.history = rules_.looks_back() ? history_.flatten(0, 1) : torch::Tensor(),
                        .length = of_rows(length_).reshape(-1),
                        .must_begin_word = of_rows(after_prefix).reshape(-1)});
}

DeviceSearch::Candidates DeviceSearch::list_candidates(
    const torch::Tensor& log_probabilities) const {
  const auto values = adjusted(log_probabilities);
  const auto tokens = best_tokens(values, candidates_);
  const auto chosen = values.gather(1, tokens);
  const auto is_possible = chosen.gt(-INFINITY) & open_.view({-1, 1});
  return {.tokens = tokens,
          .sums = torch::where(is_possible, sums_.view({-1, 1}) + chosen.to(torch::kFloat64),
                               -INFINITY)};
}

/// One candidate of each row, which is drawn.
DeviceSearch::Candidates DeviceSearch::list_draws(const torch::Tensor& log_probabilities) const {
  const auto values = adjusted(log_probabilities);
  const bool is_ordered = candidates_ < vocabulary_ || config_.sampling_topp < 1;
  const auto tokens = is_ordered ? best_tokens(values, candidates_)
                                 : torch::arange(vocabulary_, integers_).expand_as(values);
  const auto chosen = values.gather(1, tokens);
  const auto place = length_.view({-1, 1, 1}).expand({groups_, width_, 1});
  const auto choice = draw(chosen, config_, uniforms_.gather(2, place).view({-1, 1}));
  const auto can_draw = chosen.gt(-INFINITY).any(1, true) & open_.view({-1, 1});
  const auto log_probability = chosen.gather(1, choice).to(torch::kFloat64);
  return {.tokens = tokens.gather(1, choice),
          .sums = torch::where(can_draw, sums_.view({-1, 1}) + log_probability, -INFINITY)};
}

/// Within its prefix a row has one candidate: the prefix's next token, which no rule excludes. With
/// Stop::Fairseq it has one at its maximum length, too: </s>.
void DeviceSearch::take_one_candidate(const torch::Tensor& log_probabilities,
                                      Candidates& candidates) const {
  const bool has_last = config_.stop == Stop::Fairseq && !config_.sampling;
  if (prefix_capacity_ == 0 && !has_last) return;
  auto tokens = torch::full({groups_}, eos_, integers_);
  auto is_one = is_in_prefix();
  if (prefix_capacity_ > 0) {
    const auto place = length_.clamp_max(prefix_capacity_ - 1).unsqueeze(1);
    tokens = torch::where(is_one, prefix_.gather(1, place).squeeze(1), tokens);
  }
  if (has_last) is_one = is_one | is_at_end();
  const auto next = of_rows(tokens).reshape({-1, 1}), is_inside = of_rows(is_one).reshape({-1, 1});
  const auto value = log_probabilities.gather(1, next);
  const auto sum = torch::where(value.gt(-INFINITY) & open_.view({-1, 1}),
                                sums_.view({-1, 1}) + value.to(torch::kFloat64), -INFINITY);
  const auto is_first = torch::arange(candidates.tokens.size(1), integers_).eq(0);
  candidates.tokens = torch::where(is_inside, next, candidates.tokens);
  candidates.sums =
      torch::where(is_inside, torch::where(is_first, sum, -INFINITY), candidates.sums);
}

/// keep_beam() and keep_best() of inference/search/search.h.
DeviceSearch::Extensions DeviceSearch::beam_of(const Candidates& candidates) const {
  const std::int64_t of_row = candidates.tokens.size(1);
  const auto all = candidates.sums.view({groups_, width_ * of_row});
  const auto [sorted, order] = all.sort(/*stable=*/true, 1, /*descending=*/true);
  const std::int64_t ranked = std::min(2 * width_, width_ * of_row);  // K
  const auto indices = order.narrow(1, 0, ranked);
  Extensions extensions;
  extensions.rows = indices.div(of_row, "floor");
  extensions.tokens = candidates.tokens.view_as(all).gather(1, indices);
  extensions.sums = sorted.narrow(1, 0, ranked);
  extensions.ends = extensions.tokens.eq(eos_);
  const auto is_possible = extensions.sums.gt(-INFINITY);
  const auto rank = torch::arange(ranked, integers_);
  const auto is_open = is_possible & ~extensions.ends;
  const auto number = is_open.cumsum(1);  // among the open ones, from 1
  extensions.new_rows = number - 1;
  if (config_.stop == Stop::Marian)
    extensions.kept = is_possible & rank.lt(beam_left_.unsqueeze(1));
  else if (config_.stop == Stop::Opennmt)
    extensions.kept = is_possible & rank.lt(width_);
  else
    extensions.kept =
        is_possible & torch::where(extensions.ends, rank.lt(width_), number.le(width_));
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
          .new_rows = rows};
}

/// Within a prefix all rows end if none can follow it. All rows of a beam end if nothing is
/// possible and nothing has ended, and with Stop::Hf at the maximum length. In sampling a row ends
/// if it can draw nothing.
Ended DeviceSearch::ended_rows(const Extensions& extensions) const {
  const auto none_kept = ~extensions.kept.any(1);  // [G]
  torch::Tensor ends;                              // [G, B]
  if (config_.sampling)
    ends = torch::where(is_in_prefix().unsqueeze(1), none_kept.unsqueeze(1), ~extensions.kept);
  else
    ends = (none_kept & (is_in_prefix() | ~ended_.has(1))).unsqueeze(1);
  auto length = length_;
  if (config_.stop == Stop::Hf && !config_.sampling) {
    const auto must_end = is_at_end() & ~is_in_prefix();
    ends = ends | must_end.unsqueeze(1);
    length = torch::where(must_end, max_length_, length_);
  }
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

Ended DeviceSearch::ended_extensions(const Extensions& extensions,
                                     const torch::Tensor& coverage) const {
  const auto length = (length_ + 1).unsqueeze(1).expand_as(extensions.rows);
  const auto ends = extensions.kept & (extensions.ends | is_at_end().unsqueeze(1));
  auto penalty = penalty_of(coverage);
  if (penalty.dim() > 0) penalty = penalty.gather(1, extensions.rows);
  penalty = penalty.expand_as(extensions.rows);
  // An extension with </s> ends the row that it comes from; one that is cut is a new row.
  return {.score = torch::where(ends, normalized(extensions.sums, length) + penalty, -INFINITY),
          .sum = extensions.sums,
          .penalty = penalty,
          .length = length,
          .count = torch::where(extensions.ends, length - 1, length),
          .row = torch::where(extensions.ends, extensions.rows, extensions.new_rows),
          .cut = ~extensions.ends};
}

void DeviceSearch::continue_rows(const Extensions& extensions, const torch::Tensor& attention) {
  // Column B takes the extensions that do not become rows.
  const auto becomes_row = extensions.kept & ~extensions.ends;
  const auto target = torch::where(becomes_row, extensions.new_rows, width_);
  const auto numbers = torch::arange(target.size(1), integers_).expand_as(target).contiguous();
  const auto chosen = torch::zeros({groups_, width_ + 1}, integers_)
                          .scatter_(1, target, numbers)
                          .narrow(1, 0, width_);  // [G, B]: the extension of each new row
  const auto is_there = torch::zeros({groups_, width_ + 1}, open_.options())
                            .scatter_(1, target, true)
                            .narrow(1, 0, width_);
  parents_ = extensions.rows.gather(1, chosen);
  previous_ = extensions.tokens.gather(1, chosen);
  const auto sums = extensions.sums.gather(1, chosen);
  note_tokens(attention, sums);
  sums_ = sums;
  open_ = is_there & ~is_at_end().unsqueeze(1);
}

/// Writes token `length_` of the new rows into the tree, and into the history for the rules.
void DeviceSearch::note_tokens(const torch::Tensor& attention, const torch::Tensor& new_sums) {
  HypothesisTree::Nodes nodes{
      .parents = parents_,
      .tokens = previous_,
      .log_probabilities = (new_sums - sums_.gather(1, parents_)).to(torch::kFloat32)};
  if (keeps_attention_) {
    const auto of_parents = parents_.unsqueeze(2).expand_as(coverage_);
    nodes.attention = attention.gather(1, of_parents);
    coverage_ = coverage_.gather(1, of_parents) + nodes.attention;
  }
  tree_.add(nodes, length_);
  if (!rules_.looks_back()) return;
  history_ = history_.gather(1, parents_.unsqueeze(2).expand_as(history_));
  const auto place = length_.view({-1, 1, 1}).expand({groups_, width_, 1});
  history_.scatter_(2, place, previous_.unsqueeze(2));
}

// ---- scores and ends ---------------------------------------------------------------------------

torch::Tensor DeviceSearch::normalized(const torch::Tensor& sums,
                                       const torch::Tensor& lengths) const {
  const auto at_least_one = lengths.clamp_min(1);
  const auto divisors = divisors_.index_select(0, at_least_one.reshape(-1)).view(lengths.sizes());
  return (sums - config_.word_penalty * at_least_one.to(torch::kFloat64)) / divisors;
}

/// coverage_penalty() [G, B] of coverage [G, B, S]; a single zero if it is not asked for.
torch::Tensor DeviceSearch::penalty_of(const torch::Tensor& coverage) const {
  if (config_.coverage_penalty == 0 || !keeps_attention_) return torch::zeros({}, sums_.options());
  const auto is_token =
      torch::arange(source_capacity_, integers_).lt(source_length_.view({-1, 1, 1}));
  const auto logs = coverage.to(torch::kFloat64).clamp(kLeastCoverage, 1.0).log();
  return config_.coverage_penalty * torch::where(is_token, logs, 0.0).sum(2);
}

/// SentenceSearch::no_open_row_matters() [G].
torch::Tensor DeviceSearch::no_open_row_matters(const Extensions& extensions) const {
  const auto no_row = ~is_active();
  if (config_.sampling || config_.stop == Stop::Marian) return no_row;
  const auto best_open = std::get<0>(torch::where(open_, sums_, -INFINITY).max(1));  // [G]
  if (config_.stop == Stop::Full || config_.stop == Stop::Fairseq)
    return no_row | ended_.has(width_);
  if (config_.stop == Stop::Opennmt)
    return no_row | (ended_.has(config_.n_best) & (extensions.kept & extensions.ends).select(1, 0));
  if (config_.stop == Stop::Hf)
    return no_row |
           (ended_.has(width_) & ended_.score_of(width_ - 1).ge(normalized(best_open, length_)));
  const auto zero = torch::zeros_like(best_open);
  const auto divisors = divisors_.index_select(0, max_length_);
  const auto best_possible =
      best_open / divisors + normalized(zero, length_ + 1).maximum(normalized(zero, max_length_));
  return no_row |
         (ended_.has(config_.n_best) & ended_.score_of(config_.n_best - 1).ge(best_possible));
}

// ---- sentences come into groups and leave them -------------------------------------------------

namespace {

/// Puts the rows of `values` [n, ...] into `into` [G, ...] at `groups` [n].
void put(torch::Tensor& into, const torch::Tensor& groups, const torch::Tensor& values) {
  into.index_copy_(0, groups, values.to(into.options()));
}

}  // namespace

/// Makes room for one token more than a hypothesis has: a group whose search has ended writes
/// there.
void DeviceSearch::make_room(std::int64_t longest, std::int64_t prefix, std::int64_t source) {
  if (prefix > prefix_capacity_) prefix_ = widened(prefix_, 1, prefix_capacity_ = prefix);
  if (longest > capacity_) {
    capacity_ = longest;
    if (config_.sampling) uniforms_ = widened(uniforms_, 2, capacity_ + 1);
    std::vector<double> divisors = {1};  // of no token: never used
    for (std::int64_t length = 1; length <= capacity_ + 1; ++length)
      divisors.push_back(score_divisor(length, config_));
    divisors_ = torch::tensor(divisors, integers_.dtype(torch::kFloat64));
  }
  if (keeps_attention_ && source > source_capacity_) coverage_ = widened(coverage_, 2, source);
  source_capacity_ = std::max(source_capacity_, source);
}

/// Makes room for the tokens that this step may add. The room grows with the hypotheses, not with
/// the length that they may have.
void DeviceSearch::make_room_for_tokens() {
  constexpr std::int64_t kNewColumns = 32;
  const std::int64_t columns = std::min((longest() / kNewColumns + 1) * kNewColumns, capacity_ + 1);
  columns_ = std::max(columns_, columns);
  tree_.make_room(columns_, source_capacity_);
  if (rules_.looks_back() && history_.size(2) < columns_) history_ = widened(history_, 2, columns_);
}

/// A number above the length of every row.
std::int64_t DeviceSearch::longest() const {
  std::int64_t longest = 1;
  for (const std::int64_t begun : begun_at_)  // a step adds a token
    if (begun >= 0) longest = std::max(longest, steps_ - begun + 1);
  return longest;
}

void DeviceSearch::begin(std::span<const DeviceSentence> sentences, std::int64_t source_capacity) {
  if (sentences.empty()) return;
  std::int64_t longest = 0, longest_prefix = 0;
  std::vector<std::int64_t> numbers;
  for (const DeviceSentence& sentence : sentences) {
    longest = std::max(longest, sentence.max_length);
    longest_prefix = std::max(longest_prefix, sentence.prefix_length());
    numbers.push_back(sentence.group);
    begun_at_[static_cast<std::size_t>(sentence.group)] = steps_;
  }
  make_room(longest, longest_prefix, source_capacity);
  const auto groups = indices_of(numbers);
  put_facts(sentences, groups);
  put(prefix_, groups, prefixes_of(sentences));
  if (config_.sampling) put(uniforms_, groups, uniforms_of(sentences));
  open_at_start(groups);
}

/// All facts go to the device in one tensor.
void DeviceSearch::put_facts(std::span<const DeviceSentence> sentences,
                             const torch::Tensor& groups) {
  torch::Tensor* const members[] = {&max_length_, &prefix_length_, &prefix_ends_word_,
                                    &source_length_, &beam_left_};
  auto facts = torch::empty({std::ssize(members), std::ssize(sentences)}, torch::kInt64);
  auto fact = facts.accessor<std::int64_t, 2>();
  for (std::int64_t i = 0; i < facts.size(1); ++i) {
    const DeviceSentence& sentence = sentences[static_cast<std::size_t>(i)];
    fact[0][i] = sentence.max_length;
    fact[1][i] = sentence.prefix_length();
    fact[2][i] = sentence.prefix.ends_word ? 1 : 0;
    fact[3][i] = sentence.source_length;
    fact[4][i] = width_;
  }
  const auto on_device = facts.to(integers_);
  for (std::int64_t f = 0; f < facts.size(0); ++f) put(*members[f], groups, on_device[f]);
}

/// [n, prefix capacity]
torch::Tensor DeviceSearch::prefixes_of(std::span<const DeviceSentence> sentences) const {
  auto prefixes = torch::zeros({std::ssize(sentences), prefix_capacity_}, torch::kInt64);
  auto tokens = prefixes.accessor<std::int64_t, 2>();
  for (std::int64_t i = 0; i < prefixes.size(0); ++i)
    std::ranges::copy(sentences[static_cast<std::size_t>(i)].prefix.tokens, tokens[i].data());
  return prefixes;
}

/// The draws of SentenceSearch [n, B, T + 1].
torch::Tensor DeviceSearch::uniforms_of(std::span<const DeviceSentence> sentences) const {
  auto uniforms = torch::zeros({std::ssize(sentences), width_, capacity_ + 1}, torch::kFloat64);
  auto draws = uniforms.accessor<double, 3>();
  const auto seed = static_cast<std::uint64_t>(config_.seed);
  for (std::int64_t i = 0; i < uniforms.size(0); ++i) {
    const DeviceSentence& sentence = sentences[static_cast<std::size_t>(i)];
    for (std::int64_t sample = 0; sample < width_; ++sample)
      for (std::int64_t t = 0; t < sentence.max_length; ++t)
        draws[i][sample][t] = uniform_of(random_bits(seed, sentence.key, sample, t));
  }
  return uniforms;
}

void DeviceSearch::open_at_start(const torch::Tensor& groups) {
  length_.index_fill_(0, groups, 0);
  end_.index_fill_(0, groups, kContinues);
  open_.index_fill_(0, groups, false);
  for (std::int64_t row = 0; row < starts(); ++row)
    open_.select(1, row).index_fill_(0, groups, true);
  sums_.index_fill_(0, groups, 0);
  previous_.index_fill_(0, groups, -1);
  ended_.forget(groups);
  if (keeps_attention_) coverage_.index_fill_(0, groups, 0);
}

void DeviceSearch::release(std::span<const std::int64_t> groups) {
  for (const std::int64_t group : groups) begun_at_[static_cast<std::size_t>(group)] = -1;
  open_.index_fill_(0, indices_of(groups), false);
}

torch::Tensor DeviceSearch::indices_of(std::span<const std::int64_t> groups) const {
  const std::vector<std::int64_t> numbers(groups.begin(), groups.end());
  return torch::tensor(numbers, torch::kInt64).to(integers_);
}

std::vector<std::int64_t> DeviceSearch::ends() const {
  const auto ends = end_.cpu();
  const auto* values = ends.const_data_ptr<std::int64_t>();
  return {values, values + groups_};
}

std::vector<std::vector<Hypothesis>> DeviceSearch::best(
    std::span<const std::int64_t> groups) const {
  return tree_.trace(ended_.all(), indices_of(groups), config_.n_best, source_length_);
}

}  // namespace dragoman
