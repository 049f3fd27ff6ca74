#include "inference/scheduler.h"

#include <algorithm>
#include <utility>

#include "base/random.h"
#include "inference/search/search.h"

namespace dragoman {

namespace {

std::int64_t width_of(const SourceSentence& sentence) {
  return SentenceSearch::width(sentence.settings->config, sentence.required.phrases);
}

}  // namespace

std::int64_t max_length_of(const SourceSentence& sentence, std::int64_t max_positions) {
  const std::int64_t least = static_cast<std::int64_t>(sentence.required.prefix.tokens.size()) +
                             sentence.required.phrases.tokens() + 1;
  const DecodeConfig& config = sentence.settings->config;
  return std::min(std::max(config.max_target_length(sentence.pieces()), least), max_positions);
}

std::uint64_t random_key_of(const SourceSentence& sentence) {
  return random_bits(static_cast<std::uint64_t>(sentence.line), sentence.part);
}

// ---- the search on the host --------------------------------------------------------------------

Scheduler::Scheduler(HostEngine& engine, std::int64_t rows)
    : engine_(engine), rows_(rows > 0 ? rows : engine.preferred_rows()), step_(engine) {}

Scheduler::~Scheduler() {
  for (const Active& active : active_) engine_.release({&active.rows.slot, 1});
}

std::int64_t Scheduler::capacity(const DecodeConfig& config) const {
  return std::max<std::int64_t>(1, rows_ / SentenceSearch::width(config));
}

std::int64_t Scheduler::rows_in_use() const {
  std::int64_t rows = 0;
  for (const Active& active : active_) rows += active.rows.search.width();
  return rows;
}

std::optional<AttentionHeads> Scheduler::heads() const {
  for (const Active& active : active_)
    if (active.rows.needs_attention) return heads_of(active.sentence.settings->config);
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
  for (std::size_t i = 0; i < slots.size(); ++i) start(sentences[i], slots[i]);
}

void Scheduler::start(SourceSentence& sentence, std::int32_t slot) {
  const std::int64_t max_length = max_length_of(sentence, engine_.max_positions());
  SentenceSearch search(sentence.settings->config, sentence.settings->tokens, max_length,
                        random_key_of(sentence), std::move(sentence.required));
  active_.push_back({.sentence = sentence,
                     .rows = {.search = std::move(search),
                              .slot = slot,
                              .source_length = sentence.tokens.size(),
                              .needs_attention = sentence.needs_attention}});
}

void Scheduler::drop_cancelled() {
  std::vector<std::int32_t> slots;
  for (const Active& active : active_)
    if (active.sentence.is_cancelled()) slots.push_back(active.rows.slot);
  // By slot, not by stop token: another stop may have been requested in the meantime.
  release(slots);
}

void Scheduler::release(std::span<const std::int32_t> slots) {
  if (slots.empty()) return;
  engine_.release(slots);
  std::erase_if(active_, [slots](const Active& active) {
    return std::ranges::find(slots, active.rows.slot) != slots.end();
  });
}

void Scheduler::fail_all(const std::exception_ptr& error) {
  for (const Active& active : active_) engine_.release({&active.rows.slot, 1});
  for (const Active& active : active_) active.sentence.receiver->fail(error);
  active_.clear();
}

std::vector<SourceSentence> Scheduler::step() {
  if (idle()) return {};
  step_.begin();
  for (Active& active : active_) step_.add(active.rows);
  step_.take();
  return advance();
}

std::vector<SourceSentence> Scheduler::advance() {
  std::vector<SourceSentence> finished;
  std::vector<std::int32_t> released;
  for (auto& [sentence, rows] : active_) {
    const StepResults results = step_.results_of(rows);
    try {
      rows.search.advance(results);
    } catch (...) {
      sentence.error = std::current_exception();
    }
    if (!sentence.error && !rows.search.finished()) continue;
    SourceSentence& done = finished.emplace_back(sentence);  // fail_all() needs the receiver, too
    if (!done.error) done.hypotheses = rows.search.best();
    released.push_back(rows.slot);
  }
  release(released);
  return finished;
}

std::shared_ptr<SentenceScheduler> scheduler_of(Engine& engine, std::int64_t rows) {
  if (auto own = engine.own_scheduler(rows)) return own;
  return std::make_shared<Scheduler>(dynamic_cast<HostEngine&>(engine), rows);
}

}  // namespace dragoman
