#include "inference/scheduler.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "base/random.h"

namespace dragoman {

Scheduler::Scheduler(Engine& engine, const DecodeConfig& config, TargetTokens tokens)
    : engine_(engine), config_(config), tokens_(std::move(tokens)) {
  const std::int64_t rows = config.batch_size > 0 ? config.batch_size : engine.preferred_rows();
  capacity_ = std::max<std::int64_t>(1, rows / SentenceSearch::width(config));
}

Scheduler::~Scheduler() {
  std::vector<std::int32_t> slots;
  for (const Active& sentence : active_) slots.push_back(sentence.slot);
  if (!slots.empty()) engine_.release(slots);
}

void Scheduler::add(std::vector<SourceSentence> sentences) {
  std::stable_sort(sentences.begin(), sentences.end(),
                   [](const SourceSentence& a, const SourceSentence& b) {
                     return a.tokens.size() > b.tokens.size();
                   });
  waiting_.insert(waiting_.end(), std::make_move_iterator(sentences.begin()),
                  std::make_move_iterator(sentences.end()));
}

std::vector<FinishedSentence> Scheduler::step() {
  if (idle()) return {};
  admit();
  place_rows();
  engine_.select(origins_);
  candidates_.resize(previous_.size() * static_cast<std::size_t>(best_));
  wanted_log_probabilities_.resize(wanted_.size());
  engine_.step({.previous = previous_,
                .adjustments = adjustments_,
                .best = best_,
                .candidates = candidates_,
                .wanted = wanted_,
                .wanted_log_probabilities = wanted_log_probabilities_,
                .attention = tells_attention_ ? &attention_ : nullptr,
                .heads = {config_.attention_layer, config_.attention_head}});
  return advance();
}

/// How many of those that wait the free rows hold; at least one where all rows are free.
std::int64_t Scheduler::count_admitted() const {
  const std::int64_t rows = capacity_ * SentenceSearch::width(config_);
  std::int64_t free = rows;
  for (const Active& sentence : active_) free -= SentenceSearch::width(config_of(sentence));
  // The encoder works better on several sentences than on one, so a few free places wait for more.
  if (!active_.empty() && free * 8 < rows) return 0;
  std::int64_t count = 0;
  for (const SourceSentence& sentence : waiting_) {
    free -= SentenceSearch::width(sentence.search ? *sentence.search : config_);
    if (free < 0 && (count > 0 || !active_.empty())) break;
    ++count;
  }
  return count;
}

void Scheduler::admit() {
  const std::int64_t count = count_admitted();
  if (count == 0) return;
  std::vector<std::vector<TokenId>> sentences;
  for (std::int64_t i = 0; i < count; ++i)
    sentences.push_back(std::move(waiting_[static_cast<std::size_t>(i)].tokens));
  const std::vector<std::int32_t> slots = engine_.admit(sentences);
  for (std::size_t i = 0; i < slots.size(); ++i)
    active_.push_back(start(std::move(waiting_[i]), slots[i], sentences[i].size()));
  waiting_.erase(waiting_.begin(), waiting_.begin() + count);
}

Scheduler::Active Scheduler::start(SourceSentence sentence, std::int32_t slot, std::size_t places) {
  const DecodeConfig& config = sentence.search ? *sentence.search : config_;
  const auto pieces = static_cast<std::int64_t>(places) - 1;
  // Nothing that is required is cut off.
  const std::int64_t least = static_cast<std::int64_t>(sentence.required.prefix.size()) +
                             sentence.required.phrases.tokens() + 1;
  const std::int64_t max_length =
      std::min(std::max(config.max_target_length(pieces), least), engine_.max_positions());
  const std::uint64_t key = random_bits(static_cast<std::uint64_t>(sentence.line), sentence.part);
  return {.line = sentence.line,
          .part = sentence.part,
          .slot = slot,
          .first_row = 0,
          .first_wanted = 0,
          .source_places = places,
          .own = std::move(sentence.search),
          .search = {config, tokens_, max_length, key, std::move(sentence.required)}};
}

void Scheduler::place_rows() {
  origins_.clear();
  previous_.clear();
  adjustments_.clear();
  wanted_.clear();
  best_ = 0;
  tells_attention_ = false;
  for (Active& sentence : active_) {
    const DecodeConfig& config = config_of(sentence);
    best_ = std::max(best_, SentenceSearch::candidates_needed(config, engine_.vocabulary()));
    tells_attention_ = tells_attention_ || config.needs_attention();
    const std::int32_t old_first = sentence.first_row;
    sentence.first_row = static_cast<std::int32_t>(origins_.size());
    sentence.first_wanted = wanted_.size();
    sentence.search.ask(sentence.first_row, adjustments_, wanted_);
    for (const SentenceSearch::Row& row : sentence.search.rows()) {
      origins_.push_back(
          {.parent = row.parent < 0 ? -1 : old_first + row.parent, .slot = sentence.slot});
      previous_.push_back(row.previous);
    }
  }
}

/// As many for each of its rows as it needs: the step may have asked for more for another's sake.
std::span<const Candidate> Scheduler::candidates_of(const Active& sentence) {
  const auto best = static_cast<std::size_t>(best_);
  const std::size_t rows = sentence.search.rows().size();
  const std::span<Candidate> all =
      std::span(candidates_)
          .subspan(static_cast<std::size_t>(sentence.first_row) * best, rows * best);
  const auto needed = static_cast<std::size_t>(
      SentenceSearch::candidates_needed(config_of(sentence), engine_.vocabulary()));
  if (needed == best) return all;
  own_candidates_.clear();
  for (std::size_t row = 0; row < rows; ++row) {
    const auto of_row = all.subspan(row * best, best);
    const auto end = of_row.begin() + static_cast<std::ptrdiff_t>(needed);
    // The engine tells a whole vocabulary in its own order.
    if (best_ == engine_.vocabulary())
      std::partial_sort(of_row.begin(), end, of_row.end(), ranks_before);
    own_candidates_.insert(own_candidates_.end(), of_row.begin(), end);
  }
  return own_candidates_;
}

std::vector<FinishedSentence> Scheduler::advance() {
  std::vector<FinishedSentence> finished;
  std::vector<std::int32_t> released;
  const std::span<const float> wanted = wanted_log_probabilities_, attention = attention_;
  std::size_t first_place = 0;
  for (Active& sentence : active_) {
    const std::size_t rows = sentence.search.rows().size();
    StepResults results{.candidates = candidates_of(sentence),
                        .wanted = wanted.subspan(sentence.first_wanted)};
    const std::size_t places = rows * sentence.source_places;
    if (config_of(sentence).needs_attention())
      results.attention = attention.subspan(first_place, places);
    first_place += places;
    sentence.search.advance(results);
    if (!sentence.search.finished()) continue;
    finished.push_back(
        {.line = sentence.line, .part = sentence.part, .hypotheses = sentence.search.best()});
    released.push_back(sentence.slot);
  }
  if (finished.empty()) return finished;
  engine_.release(released);
  std::erase_if(active_, [](const Active& sentence) { return sentence.search.finished(); });
  return finished;
}

}  // namespace dragoman
