#include "inference/scheduler.h"

#include <algorithm>
#include <utility>

#include "base/random.h"

namespace dragoman {

namespace {

AttentionHeads heads_of(const DecodeConfig& config) {
  return {config.attention_layer, config.attention_head};
}

std::int64_t width_of(const SourceSentence& sentence) {
  return SentenceSearch::width(sentence.settings->config, sentence.required.phrases);
}

}  // namespace

std::int64_t max_length_of(const SourceSentence& sentence, std::int64_t max_positions) {
  const std::int64_t least = static_cast<std::int64_t>(sentence.required.prefix.size()) +
                             sentence.required.phrases.tokens() + 1;
  const DecodeConfig& config = sentence.settings->config;
  return std::min(std::max(config.max_target_length(sentence.pieces()), least), max_positions);
}

std::uint64_t random_key_of(const SourceSentence& sentence) {
  return random_bits(static_cast<std::uint64_t>(sentence.line), sentence.part);
}

Scheduler::Scheduler(Engine& engine, std::int64_t rows)
    : engine_(engine), rows_(rows > 0 ? rows : engine.preferred_rows()) {}

Scheduler::~Scheduler() {
  for (const Active& sentence : active_) engine_.release({&sentence.slot, 1});
}

std::int64_t Scheduler::capacity(const DecodeConfig& config) const {
  return std::max<std::int64_t>(1, rows_ / SentenceSearch::width(config));
}

std::int64_t Scheduler::rows_in_use() const {
  std::int64_t rows = 0;
  for (const Active& sentence : active_) rows += sentence.search.width();
  return rows;
}

std::optional<AttentionHeads> Scheduler::heads() const {
  for (const Active& sentence : active_)
    if (sentence.needs_attention) return heads_of(sentence.config());
  return std::nullopt;
}

std::int64_t Scheduler::count_admissible(const std::deque<SourceSentence>& waiting) const {
  if (waiting.empty()) return 0;
  const std::int64_t first = width_of(waiting.front());
  const std::int64_t rows = std::max(rows_ / first, std::int64_t{1}) * first;
  std::int64_t free = rows - rows_in_use();
  // The encoder works better on several sentences than on one, so a few free rows stay free.
  if (!active_.empty() && free * 8 < rows) return 0;
  std::optional<AttentionHeads> reported_heads = heads();
  std::int64_t count = 0;
  for (const SourceSentence& sentence : waiting) {
    free -= width_of(sentence);
    if (free < 0 && (count > 0 || !active_.empty())) break;
    if (sentence.needs_attention) {
      const AttentionHeads heads = heads_of(sentence.settings->config);
      if (reported_heads && *reported_heads != heads) break;
      reported_heads = heads;
    }
    ++count;
  }
  return count;
}

void Scheduler::admit(std::span<SourceSentence> sentences) {
  if (sentences.empty()) return;
  std::vector<std::vector<TokenId>> tokens;
  for (const SourceSentence& sentence : sentences) tokens.push_back(sentence.tokens);
  const std::vector<std::int32_t> slots = engine_.admit(tokens);
  for (std::size_t i = 0; i < slots.size(); ++i) active_.push_back(start(sentences[i], slots[i]));
}

Scheduler::Active Scheduler::start(SourceSentence& sentence, std::int32_t slot) const {
  const auto& [config, tokens] = *sentence.settings;
  const std::int64_t max_length = max_length_of(sentence, engine_.max_positions());
  const std::uint64_t key = random_key_of(sentence);
  return {.line = sentence.line,
          .part = sentence.part,
          .slot = slot,
          .first_row = 0,
          .first_reported = 0,
          .source_length = sentence.tokens.size(),
          .needs_attention = sentence.needs_attention,
          .settings = sentence.settings,
          .receiver = sentence.receiver,
          .stop = sentence.stop,
          .search = {config, tokens, max_length, key, std::move(sentence.required)}};
}

void Scheduler::drop_cancelled() {
  std::vector<std::int32_t> slots;
  for (const Active& sentence : active_)
    if (sentence.stop.stop_requested()) slots.push_back(sentence.slot);
  // By slot, not by stop token: another stop may have been requested in between.
  release(slots);
}

void Scheduler::release(std::span<const std::int32_t> slots) {
  if (slots.empty()) return;
  engine_.release(slots);
  std::erase_if(active_, [slots](const Active& sentence) {
    return std::ranges::find(slots, sentence.slot) != slots.end();
  });
}

void Scheduler::fail_all(const std::exception_ptr& error) {
  for (const Active& sentence : active_) engine_.release({&sentence.slot, 1});
  for (const Active& sentence : active_) sentence.receiver->fail(error);
  active_.clear();
}

std::vector<FinishedSentence> Scheduler::step() {
  if (idle()) return {};
  list_rows();
  engine_.select(origins_);
  candidates_.resize(previous_.size() * static_cast<std::size_t>(candidates_per_row_));
  reported_log_probabilities_.resize(reported_.size());
  const std::optional<AttentionHeads> reported_heads = heads();
  engine_.step({.previous = previous_,
                .adjustments = adjustments_,
                .candidates_per_row = candidates_per_row_,
                .candidates = candidates_,
                .reported = reported_,
                .reported_log_probabilities = reported_log_probabilities_,
                .attention = reported_heads ? &attention_ : nullptr,
                .heads = reported_heads.value_or(AttentionHeads())});
  return advance();
}

void Scheduler::list_rows() {
  origins_.clear();
  previous_.clear();
  adjustments_.clear();
  reported_.clear();
  candidates_per_row_ = 0;
  for (Active& sentence : active_) {
    candidates_per_row_ =
        std::max(candidates_per_row_,
                 SentenceSearch::candidates_needed(sentence.config(), engine_.vocabulary()));
    const std::int32_t old_first = sentence.first_row;
    sentence.first_row = static_cast<std::int32_t>(origins_.size());
    sentence.first_reported = reported_.size();
    sentence.search.prepare_step(sentence.first_row, adjustments_, reported_);
    for (const SentenceSearch::Row& row : sentence.search.rows()) {
      origins_.push_back(
          {.parent = row.parent < 0 ? -1 : old_first + row.parent, .slot = sentence.slot});
      previous_.push_back(row.previous);
    }
  }
}

/// The candidates of the sentence's rows, as many as its search needs. The step may have found
/// more, since another sentence needed more.
std::span<const Candidate> Scheduler::candidates_of(const Active& sentence) {
  const auto best = static_cast<std::size_t>(candidates_per_row_);
  const std::size_t rows = sentence.search.rows().size();
  const std::span<Candidate> all =
      std::span(candidates_)
          .subspan(static_cast<std::size_t>(sentence.first_row) * best, rows * best);
  const auto needed = static_cast<std::size_t>(
      SentenceSearch::candidates_needed(sentence.config(), engine_.vocabulary()));
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

std::vector<FinishedSentence> Scheduler::advance() {
  std::vector<FinishedSentence> finished;
  std::vector<std::int32_t> released;
  const std::span<const float> reported = reported_log_probabilities_, attention = attention_;
  std::size_t attention_begin = 0;
  for (Active& sentence : active_) {
    const std::size_t rows = sentence.search.rows().size();
    StepResults results{.candidates = candidates_of(sentence),
                        .reported = reported.subspan(sentence.first_reported)};
    const std::size_t weights = rows * sentence.source_length;
    if (sentence.needs_attention) results.attention = attention.subspan(attention_begin, weights);
    attention_begin += weights;
    std::exception_ptr error;
    try {
      sentence.search.advance(results);
    } catch (...) {
      error = std::current_exception();
    }
    if (!error && !sentence.search.finished()) continue;
    finished.push_back({.line = sentence.line,
                        .part = sentence.part,
                        .hypotheses = error ? std::vector<Hypothesis>() : sentence.search.best(),
                        .receiver = sentence.receiver,
                        .error = error});
    released.push_back(sentence.slot);
  }
  release(released);
  return finished;
}

}  // namespace dragoman
