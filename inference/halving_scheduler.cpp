#include "inference/halving_scheduler.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "base/memory.h"
#include "inference/search/search.h"

namespace dragoman {

namespace {

bool is_given_up(const SourceSentence& sentence) { return sentence.stop.stop_requested(); }

}  // namespace

HalvingScheduler::HalvingScheduler(std::vector<ResettableEngine*> engines, Make make,
                                   std::int64_t rows)
    : engines_(std::move(engines)), make_(std::move(make)), rows_(rows), scheduler_(make_(rows)) {}

std::int64_t HalvingScheduler::capacity(const DecodeConfig& config) const {
  return std::max<std::int64_t>(1, rows_ / SentenceSearch::width(config));
}

std::int64_t HalvingScheduler::count_admissible(const std::deque<SourceSentence>& waiting) const {
  return again_.empty() ? scheduler_->count_admissible(waiting) : 0;
}

bool HalvingScheduler::try_to(const std::function<void()>& work) {
  try {
    work();
    return true;
  } catch (const std::exception& problem) {
    if (!is_out_of_memory(problem) || rows_ == 1) throw;
  }
  scheduler_.reset();  // gives its slots back to the engine
  for (ResettableEngine* engine : engines_) engine->reset();
  rows_ = rows_ / 2;
  scheduler_ = make_(rows_);
  again_.insert(again_.begin(), std::make_move_iterator(under_way_.begin()),
                std::make_move_iterator(under_way_.end()));
  under_way_.clear();
  engines_.front()->tell_fewer_rows(rows_);
  return false;
}

void HalvingScheduler::admit(std::span<SourceSentence> sentences) {
  under_way_.insert(under_way_.end(), sentences.begin(), sentences.end());
  try_to([&] { scheduler_->admit(sentences); });
}

void HalvingScheduler::admit_again() {
  const std::int64_t count = scheduler_->count_admissible(again_);
  std::vector<SourceSentence> taken(std::make_move_iterator(again_.begin()),
                                    std::make_move_iterator(again_.begin() + count));
  again_.erase(again_.begin(), again_.begin() + count);
  admit(taken);
}

void HalvingScheduler::drop_cancelled() {
  try_to([&] { scheduler_->drop_cancelled(); });
  std::erase_if(under_way_, is_given_up);
  std::erase_if(again_, is_given_up);
}

std::vector<FinishedSentence> HalvingScheduler::step() {
  if (!again_.empty()) admit_again();
  std::vector<FinishedSentence> finished;
  if (!try_to([&] { finished = scheduler_->step(); })) return {};
  for (const FinishedSentence& sentence : finished)
    std::erase_if(under_way_, [&sentence](const SourceSentence& other) {
      return other.receiver == sentence.receiver && other.line == sentence.line &&
             other.part == sentence.part;
    });
  return finished;
}

void HalvingScheduler::fail_all(const std::exception_ptr& error) {
  if (scheduler_) scheduler_->fail_all(error);
  for (const SourceSentence& sentence : under_way_) sentence.receiver->fail(error);
  for (const SourceSentence& sentence : again_) sentence.receiver->fail(error);
  under_way_.clear();
  again_.clear();
}

}  // namespace dragoman
