#include "inference/device/device_search.h"

#include <ATen/ops/arange.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/from_blob.h>
#include <ATen/ops/full.h>
#include <ATen/ops/tensor.h>
#include <ATen/ops/where.h>
#include <ATen/ops/zeros.h>

#include <algorithm>
#include <cmath>

#include "base/random.h"
#include "inference/search/required_phrases.h"
#include "kernels/cuda/search_step.cuh"
#include "model/ops/cuda_kernels.h"

namespace dragoman {

namespace {

static_assert(static_cast<int>(Stop::Full) == static_cast<int>(DeviceStop::Full) &&
              static_cast<int>(Stop::Exact) == static_cast<int>(DeviceStop::Exact) &&
              static_cast<int>(Stop::Hf) == static_cast<int>(DeviceStop::Hf) &&
              static_cast<int>(Stop::Marian) == static_cast<int>(DeviceStop::Marian) &&
              static_cast<int>(Stop::Fairseq) == static_cast<int>(DeviceStop::Fairseq) &&
              static_cast<int>(Stop::Opennmt) == static_cast<int>(DeviceStop::Opennmt));
static_assert(
    static_cast<int>(PhraseStart::Word) == static_cast<int>(SearchSpelling::Start::Word) &&
    static_cast<int>(PhraseStart::Sentence) == static_cast<int>(SearchSpelling::Start::Sentence) &&
    static_cast<int>(PhraseStart::Attached) == static_cast<int>(SearchSpelling::Start::Attached));
static_assert(search_step::kLacking == phrase_weights::kLacking &&
              search_step::kPlacing == phrase_weights::kPlacing &&
              search_step::kCovering == phrase_weights::kCovering &&
              search_step::kRepeating == phrase_weights::kRepeating &&
              search_step::kUsualAttention == phrase_weights::kUsualAttention &&
              search_step::kMostFirst == phrase_weights::kMostFirst &&
              search_step::kLeastAttention == phrase_weights::kLeastAttention &&
              search_step::kLeastCoverage == kLeastCoverage);

/// [..., count * sizeof(Struct)] uint8
template <class Struct>
torch::Tensor structs(std::vector<std::int64_t> shape, std::int64_t count, torch::Device device) {
  shape.push_back(count * static_cast<std::int64_t>(sizeof(Struct)));
  return torch::zeros(shape, torch::TensorOptions(torch::kUInt8).device(device));
}

/// A view of structs that the caller keeps, [n, count * sizeof(Struct)] uint8.
template <class Struct>
torch::Tensor view_of(std::span<const Struct> values, std::int64_t count) {
  return torch::from_blob(
      const_cast<Struct*>(values.data()),
      {std::ssize(values) / count, count * static_cast<std::int64_t>(sizeof(Struct))},
      torch::kUInt8);
}

/// Puts the rows of `values` [n, ...] into `into` [G, ...] at `groups` [n].
void put_rows(torch::Tensor& into, const torch::Tensor& groups, const torch::Tensor& values) {
  into.index_copy_(0, groups, values.to(into.options()));
}

template <class T>
T* data_of(const torch::Tensor& tensor) {
  return tensor.defined() ? static_cast<T*>(tensor.data_ptr()) : nullptr;
}

/// How many items a list of structs(...) has room for.
template <class Item>
std::int64_t room_of(const torch::Tensor& lists) {
  return lists.size(1) / static_cast<std::int64_t>(sizeof(Item));
}

/// Puts lists [n] of different lengths into `into` [G, room], which grows if it must.
template <class Item>
void put_lists(torch::Tensor& into, const torch::Tensor& groups,
               const std::vector<std::vector<Item>>& lists) {
  std::size_t longest = 0;
  for (const auto& list : lists) longest = std::max(longest, list.size());
  const auto bytes = static_cast<std::int64_t>(longest * sizeof(Item));
  if (bytes > into.size(1)) into = widened(into, 1, bytes);
  const std::int64_t room = room_of<Item>(into);
  if (room == 0) return;
  std::vector<Item> padded(lists.size() * static_cast<std::size_t>(room));
  for (std::size_t i = 0; i < lists.size(); ++i)
    std::ranges::copy(lists[i], padded.begin() + static_cast<std::ptrdiff_t>(i) * room);
  put_rows(into, groups, view_of<Item>(padded, room));
}

/// A sentence's required phrases, as a step of the search reads them.
struct PhraseLists {
  explicit PhraseLists(const RequiredPhrases& required) {
    for (std::size_t i = 0; i < static_cast<std::size_t>(required.count()); ++i) {
      const RequiredPhrase& phrase = required[i];
      SearchPhrase& added = phrases.emplace_back();
      added = {.first_spelling = static_cast<int>(spellings.size()),
               .spellings = static_cast<int>(phrase.spellings.size()),
               .ends_word = phrase.ends_word,
               .begin = static_cast<int>(phrase.begin),
               .end = static_cast<int>(phrase.end),
               .source_pieces = static_cast<int>(phrase.source_pieces),
               .instead = phrase.instead,
               .instead_attention = phrase.instead_attention};
      for (const PhraseSpelling& spelling : phrase.spellings) {
        const auto count = static_cast<int>(spelling.tokens.size());
        added.longest = std::max(added.longest, count);
        added.begins_sentence = added.begins_sentence || spelling.start == PhraseStart::Sentence;
        spellings.push_back({.first_token = static_cast<int>(tokens.size()),
                             .count = count,
                             .start = static_cast<SearchSpelling::Start>(spelling.start)});
        tokens.insert(tokens.end(), spelling.tokens.begin(), spelling.tokens.end());
      }
    }
  }

  std::vector<SearchPhrase> phrases;
  std::vector<SearchSpelling> spellings;
  std::vector<int> tokens;
};

/// [V] uint8; undefined if each token is a word.
torch::Tensor edges_of(std::span<const TokenEdges> edges, torch::Device device) {
  if (edges.empty()) return {};
  auto bits = torch::empty({std::ssize(edges)}, torch::kUInt8);
  for (std::size_t token = 0; token < edges.size(); ++token)
    bits.mutable_data_ptr<std::uint8_t>()[token] = static_cast<std::uint8_t>(
        (edges[token].lengthens_word ? kLengthensWord : 0) | (edges[token].opens ? kOpens : 0));
  return bits.to(device);
}

}  // namespace

DeviceSearch::DeviceSearch(const SearchSettings& settings, const DeviceModel& model,
                           std::span<const TokenId> never_emitted, const Options& options)
    : config_(settings.config),
      eos_(settings.tokens.eos),
      groups_(options.groups),
      width_(options.rows_per_group),
      vocabulary_(model.vocabulary()),
      candidates_(config_.sampling ? 1 : SentenceSearch::candidates_needed(config_, vocabulary_)),
      most_ended_(std::max(config_.n_best, width_)),
      keeps_attention_(options.keeps_attention),
      device_(model.device()),
      place_(place_of_numbers(device_)),
      rules_(config_, settings.tokens, never_emitted, vocabulary_, device_),
      begun_at_(static_cast<std::size_t>(groups_), -1) {
  const auto integers = torch::TensorOptions(torch::kInt32).device(place_);
  const auto longs = integers.dtype(torch::kInt64), floats = integers.dtype(torch::kFloat32);
  for (torch::Tensor* lists : {&prefixes_, &phrases_, &spellings_, &phrase_tokens_, &pool_})
    *lists = structs<int>({groups_}, 0, place_);
  edges_ = edges_of(settings.tokens.edges, place_);
  steps_taken_ = torch::zeros({groups_}, integers);
  states_ = structs<SearchGroup>({groups_}, 1, place_);
  rows_ = structs<SearchRow>({groups_}, width_, place_);
  new_rows_ = structs<SearchRow>({groups_}, width_, place_);
  ends_ = structs<SearchEnd>({groups_}, most_ended_, place_);
  nodes_ = structs<HypothesisNode>({groups_, 0}, width_, place_);
  previous_ = torch::full({groups_, width_}, -1, longs);
  positions_ = torch::zeros({groups_, width_}, longs);
  must_begin_word_ = torch::zeros({groups_, width_}, integers.dtype(torch::kBool));
  ancestors_ = torch::zeros({groups_, width_, 0}, integers);
  ancestors_after_ = torch::zeros({groups_, width_, 0}, integers);
  if (rules_.looks_back()) {
    history_ = torch::zeros({groups_, width_, 0}, longs);
    history_after_ = torch::zeros({groups_, width_, 0}, longs);
  }
  if (keeps_attention_) {
    attention_of_nodes_ = torch::zeros({groups_, 0, width_, 0}, floats);
    coverage_ = torch::zeros({groups_, width_, 0}, floats);
    coverage_after_ = torch::zeros({groups_, width_, 0}, floats);
  }
  if (config_.sampling)
    uniforms_ =
        torch::zeros({groups_, width_, 0}, torch::TensorOptions(torch::kFloat64).device(device_));
}

torch::Device DeviceSearch::place_of_numbers(torch::Device model) {
  return has_cuda_kernel_for(torch::zeros({1}, torch::TensorOptions(model))) ? model : torch::kCPU;
}

// ---- a step: no operation waits for the host ---------------------------------------------------

DeviceStep DeviceSearch::next_step() {
  make_room_for_tokens();
  return {.ancestors = ancestors_.to(device_),
          .previous = previous_.view(-1).to(device_),
          .positions = positions_.view(-1).to(device_),
          .columns = step_columns(),
          .reports_attention = keeps_attention_,
          .heads = heads_of(config_)};
}

void DeviceSearch::advance(const DeviceStepResults& results) {
  count_step();
  const Results taken = results_of(results);
  const DeviceSearchStep arguments = arguments_of(taken);
  if (!place_.is_cpu())
    return launch_cuda_kernel("search_step", taken.candidates.log_sums,
                              {groups_, kCudaSearchThreads}, &arguments);
  for (std::int64_t group = 0; group < groups_; ++group)
    if (search_step::decide(arguments, group)) {
      search_step::follow_parents(arguments, group, 0, 1);
      search_step::keep_copies(arguments, group, 0, 1);
    }
}

DeviceSearch::Results DeviceSearch::results_of(const DeviceStepResults& results) const {
  Results taken{.candidates = {}, .logits = results.logits, .attention = results.attention};
  const bool is_adjusted = rules_.adjusts() || ends_words_ || config_.sampling;
  if (!is_adjusted && !results.are_normalized && has_cuda_kernel_for(results.logits)) {
    taken.candidates = candidates_of_logits(results.logits, candidates_, rules_.never_bits());
  } else {
    if (!results.are_normalized) taken.logits = results.logits.log_softmax(1);
    taken.candidates = candidates_of(taken.logits);
    const auto is_nan = taken.logits.select(1, 0).isnan();
    taken.candidates.log_sums =
        torch::where(is_nan, NAN, 0.0).to(torch::kFloat32);  // of log-probabilities
  }
  const bool asks_for_one = prefixes_.size(1) > 0 || phrases_.size(1) > 0 ||
                            (config_.stop == Stop::Fairseq && !config_.sampling);
  if (!asks_for_one) taken.logits = torch::Tensor();
  for (torch::Tensor* tensor : {&taken.candidates.tokens, &taken.candidates.log_probabilities,
                                &taken.candidates.log_sums, &taken.logits, &taken.attention})
    if (tensor->defined()) *tensor = tensor->to(place_).contiguous();
  return taken;
}

DeviceCandidates DeviceSearch::candidates_of(const torch::Tensor& log_probabilities) const {
  const auto of_rows = [&](const torch::Tensor& tensor) {
    return tensor.flatten(0, 1).to(device_);
  };
  const auto positions = of_rows(positions_);
  const auto values =
      rules_.adjust(log_probabilities,
                    {.history = rules_.looks_back() ? of_rows(history_) : torch::Tensor(),
                     .length = positions,
                     .must_begin_word = ends_words_ ? of_rows(must_begin_word_) : torch::Tensor()});
  if (!config_.sampling) return best_candidates(values, candidates_);
  const auto uniform = uniforms_.gather(2, positions.view({groups_, width_, 1})).view({-1, 1});
  return drawn_candidates(values, config_, uniform);
}

DeviceSearchStep DeviceSearch::arguments_of(const Results& results) {
  const auto number = [](std::int64_t value) { return static_cast<int>(value); };
  return {.count = number(groups_),
          .width = number(width_),
          .candidates = number(candidates_),
          .most_ended = number(most_ended_),
          .n_best = number(config_.n_best),
          .beam_size = number(config_.beam_size),
          .eos = number(eos_),
          .sampling = config_.sampling,
          .stop = static_cast<DeviceStop>(config_.stop),
          .word_penalty = config_.word_penalty,
          .coverage_penalty = config_.coverage_penalty,
          .divisors = data_of<double>(divisors_),
          .columns = number(columns_),
          .source_columns = number(source_capacity_),
          .prefix_columns = number(room_of<int>(prefixes_)),
          .vocabulary = number(vocabulary_),
          .prefixes = data_of<int>(prefixes_),
          .steps = data_of<int>(steps_taken_),
          .phrases = data_of<SearchPhrase>(phrases_),
          .spellings = data_of<SearchSpelling>(spellings_),
          .phrase_tokens = data_of<int>(phrase_tokens_),
          .phrase_columns = number(room_of<SearchPhrase>(phrases_)),
          .spelling_columns = number(room_of<SearchSpelling>(spellings_)),
          .phrase_token_columns = number(room_of<int>(phrase_tokens_)),
          .edges = data_of<unsigned char>(edges_),
          .pool = data_of<SearchExtension>(pool_),
          .pool_columns = number(room_of<SearchExtension>(pool_)),
          .tokens = data_of<long long>(results.candidates.tokens),
          .log_probabilities = data_of<float>(results.candidates.log_probabilities),
          .logits = data_of<float>(results.logits),
          .log_sums = data_of<float>(results.candidates.log_sums),
          .attention = data_of<float>(results.attention),
          .attention_columns = results.attention.defined() ? number(results.attention.size(1)) : 0,
          .groups = data_of<SearchGroup>(states_),
          .rows = data_of<SearchRow>(rows_),
          .new_rows = data_of<SearchRow>(new_rows_),
          .ends = data_of<SearchEnd>(ends_),
          .nodes = data_of<HypothesisNode>(nodes_),
          .attention_of_nodes = data_of<float>(attention_of_nodes_),
          .coverage = data_of<float>(coverage_),
          .coverage_after = data_of<float>(coverage_after_),
          .previous = data_of<long long>(previous_),
          .positions = data_of<long long>(positions_),
          .ancestors = data_of<int>(ancestors_),
          .ancestors_after = data_of<int>(ancestors_after_),
          .history = data_of<long long>(history_),
          .history_after = data_of<long long>(history_after_),
          .must_begin_word = data_of<bool>(must_begin_word_)};
}

// ---- sentences come into groups and leave them -------------------------------------------------

/// A search that has ended looks one token further.
void DeviceSearch::make_room(std::int64_t longest, std::int64_t source) {
  if (longest > capacity_) {
    capacity_ = longest;
    if (config_.sampling) uniforms_ = widened(uniforms_, 2, capacity_ + 1);
    std::vector<double> divisors = {1};  // of no token: never used
    for (std::int64_t length = 1; length <= capacity_ + 1; ++length)
      divisors.push_back(score_divisor(length, config_));
    divisors_ = torch::tensor(divisors, torch::kFloat64).to(place_);
  }
  if (source <= source_capacity_) return;
  source_capacity_ = source;
  if (!keeps_attention_) return;
  attention_of_nodes_ = widened(attention_of_nodes_, 3, source);
  for (torch::Tensor* of_rows : {&coverage_, &coverage_after_})
    *of_rows = widened(*of_rows, 2, source);
}

/// Makes room for the tokens that the next step may add. The room grows with the hypotheses, not
/// with the length that they may have.
void DeviceSearch::make_room_for_tokens() {
  const std::int64_t columns = step_columns();
  if (columns <= columns_) return;
  columns_ = columns;
  nodes_ = widened(nodes_, 1, columns);
  if (keeps_attention_) attention_of_nodes_ = widened(attention_of_nodes_, 1, columns);
  for (torch::Tensor* of_rows : {&ancestors_, &ancestors_after_, &history_, &history_after_})
    if (of_rows->defined()) *of_rows = widened(*of_rows, 2, columns);
}

/// Also above the lengths after the step.
std::int64_t DeviceSearch::step_columns() const {
  constexpr std::int64_t kColumns = 32;  // so that many steps have the same shapes
  std::int64_t longest = 0;
  for (const std::int64_t begun : begun_at_)  // a step adds a token
    if (begun >= 0) longest = std::max(longest, steps_ - begun);
  return (longest + 1) / kColumns * kColumns + kColumns;
}

TensorPlaces DeviceSearch::places() const {
  const torch::Tensor rule_of_prefixes = ends_words_ ? must_begin_word_ : torch::Tensor();
  TensorPlaces places;
  for (const torch::Tensor& tensor : {divisors_,    prefixes_,
                                      steps_taken_, phrases_,
                                      spellings_,   phrase_tokens_,
                                      edges_,       pool_,
                                      states_,      rows_,
                                      new_rows_,    ends_,
                                      nodes_,       attention_of_nodes_,
                                      coverage_,    coverage_after_,
                                      previous_,    positions_,
                                      ancestors_,   ancestors_after_,
                                      history_,     history_after_,
                                      uniforms_,    rule_of_prefixes})
    add_place(tensor, places);
  return places;
}

void DeviceSearch::begin(std::span<const DeviceSentence> sentences, std::int64_t source_capacity) {
  if (sentences.empty()) return;
  const auto count = sentences.size();
  std::int64_t longest = 0;
  std::vector<std::int64_t> numbers;
  std::vector<SearchGroup> states;
  std::vector<std::vector<int>> prefixes;
  for (const DeviceSentence& sentence : sentences) {
    longest = std::max(longest, sentence.max_length);
    prefixes.emplace_back(sentence.prefix.tokens.begin(), sentence.prefix.tokens.end());
    ends_words_ = ends_words_ || sentence.prefix.ends_word;
    numbers.push_back(sentence.group);
    begun_at_[static_cast<std::size_t>(sentence.group)] = steps_;
    states.push_back({.max_length = static_cast<int>(sentence.max_length),
                      .source_length = static_cast<int>(sentence.source_length),
                      .prefix_length = static_cast<int>(sentence.prefix.tokens.size()),
                      .prefix_ends_word = sentence.prefix.ends_word,
                      .is_active = true,
                      .beam_left = static_cast<int>(width_),
                      .phrases = static_cast<int>(sentence.phrases.count()),
                      .is_fluent = sentence.phrase_policy == PhrasePolicy::Fluent});
  }
  make_room(longest, source_capacity);
  make_room_for_tokens();
  const auto groups = indices_of(numbers);
  put(states, groups);
  std::vector<SearchRow> rows;
  for (std::size_t i = 0; i < count; ++i)
    for (std::int64_t row = 0; row < width_; ++row)
      rows.push_back({.sum = 0,
                      .parent = static_cast<int>(row),
                      .token = 0,
                      .candidates = 0,
                      .is_open = row < starts(),
                      .progress = {}});
  put_rows(rows_, groups, view_of<SearchRow>(rows, width_));
  put_lists(prefixes_, groups, prefixes);
  put_phrases(sentences, groups);
  if (config_.sampling) put_rows(uniforms_, groups.to(device_), uniforms_of(sentences));
  previous_.index_fill_(0, groups, -1);
  must_begin_word_.index_fill_(0, groups, false);
  auto first = ancestors_.select(2, 0);
  first.index_copy_(0, groups,
                    torch::arange(width_, first.options()).expand({groups.size(0), width_}));
  if (keeps_attention_) coverage_.index_fill_(0, groups, 0);
}

void DeviceSearch::put(std::span<const SearchGroup> states, const torch::Tensor& groups) {
  put_rows(states_, groups, view_of(states, 1));
  positions_.index_fill_(0, groups, 0);
}

void DeviceSearch::put_phrases(std::span<const DeviceSentence> sentences,
                               const torch::Tensor& groups) {
  std::vector<std::vector<SearchPhrase>> phrases;
  std::vector<std::vector<SearchSpelling>> spellings;
  std::vector<std::vector<int>> tokens;
  for (const DeviceSentence& sentence : sentences) {
    PhraseLists lists(sentence.phrases);
    phrases.push_back(std::move(lists.phrases));
    spellings.push_back(std::move(lists.spellings));
    tokens.push_back(std::move(lists.tokens));
  }
  put_lists(phrases_, groups, phrases);
  put_lists(spellings_, groups, spellings);
  put_lists(phrase_tokens_, groups, tokens);
  const std::int64_t most = room_of<SearchSpelling>(spellings_);
  const std::int64_t extensions = most == 0 ? 0 : width_ * (candidates_ + 1 + most);
  if (extensions > room_of<SearchExtension>(pool_))
    pool_ = structs<SearchExtension>({groups_}, extensions, place_);
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

void DeviceSearch::release(std::span<const std::int64_t> groups) {
  for (const std::int64_t group : groups) begun_at_[static_cast<std::size_t>(group)] = -1;
  put(std::vector<SearchGroup>(groups.size()), indices_of(groups));
}

torch::Tensor DeviceSearch::indices_of(std::span<const std::int64_t> groups) const {
  const std::vector<std::int64_t> numbers(groups.begin(), groups.end());
  return torch::tensor(numbers, torch::kInt64).to(place_);
}

}  // namespace dragoman
