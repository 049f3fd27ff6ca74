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
  best_ = SentenceSearch::candidates_needed(config, engine.vocabulary());
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
                .attention = config_.needs_attention() ? &attention_ : nullptr,
                .heads = {config_.attention_layer, config_.attention_head}});
  return advance();
}

void Scheduler::admit() {
  const std::int64_t free = capacity_ - static_cast<std::int64_t>(active_.size());
  const std::int64_t count = std::min(free, waiting());
  // The encoder works better on several sentences than on one, so a few free places wait for more.
  const bool worth_it = active_.empty() || free * 8 >= capacity_;
  if (count == 0 || !worth_it) return;

  std::vector<std::vector<TokenId>> sentences;
  for (std::int64_t i = 0; i < count; ++i)
    sentences.push_back(std::move(waiting_[static_cast<std::size_t>(i)].tokens));
  const std::vector<std::int32_t> slots = engine_.admit(sentences);
  for (std::size_t i = 0; i < slots.size(); ++i) {
    const auto pieces = static_cast<std::int64_t>(sentences[i].size()) - 1;
    SourceSentence& sentence = waiting_[i];
    // Nothing that is required is cut off.
    const std::int64_t least = static_cast<std::int64_t>(sentence.required.prefix.size()) +
                               sentence.required.phrases.tokens() + 1;
    const std::int64_t max_length =
        std::min(std::max(config_.max_target_length(pieces), least), engine_.max_positions());
    const std::uint64_t key = random_bits(static_cast<std::uint64_t>(sentence.line), sentence.part);
    active_.push_back(
        {.line = sentence.line,
         .part = sentence.part,
         .slot = slots[i],
         .first_row = 0,
         .first_wanted = 0,
         .source_places = sentences[i].size(),
         .search = {config_, tokens_, max_length, key, std::move(sentence.required)}});
  }
  waiting_.erase(waiting_.begin(), waiting_.begin() + count);
}

void Scheduler::place_rows() {
  origins_.clear();
  previous_.clear();
  adjustments_.clear();
  wanted_.clear();
  for (Active& sentence : active_) {
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

std::vector<FinishedSentence> Scheduler::advance() {
  std::vector<FinishedSentence> finished;
  std::vector<std::int32_t> released;
  const auto best = static_cast<std::size_t>(best_);
  const std::span<const Candidate> candidates = candidates_;
  const std::span<const float> wanted = wanted_log_probabilities_, attention = attention_;
  std::size_t first_place = 0;
  for (Active& sentence : active_) {
    const std::size_t rows = sentence.search.rows().size();
    const auto first = static_cast<std::size_t>(sentence.first_row);
    StepResults results{.candidates = candidates.subspan(first * best, rows * best),
                        .wanted = wanted.subspan(sentence.first_wanted)};
    if (config_.needs_attention()) {
      const std::size_t places = rows * sentence.source_places;
      results.attention = attention.subspan(first_place, places);
      first_place += places;
    }
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
