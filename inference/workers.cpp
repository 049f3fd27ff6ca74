#include "inference/workers.h"

#include <algorithm>
#include <chrono>
#include <iterator>
#include <utility>

namespace dragoman {

namespace {

// How long step() waits, so that its caller can look for input and requests to stop.
constexpr std::chrono::milliseconds kLongestWait{20};

}  // namespace

Workers::Workers(std::span<Engine* const> engines, const DecodeConfig& config, TargetTokens tokens)
    : config_(config), tokens_(std::move(tokens)), count_(engines.size()) {
  if (engines.size() == 1) {
    alone_.emplace(*engines.front(), config, tokens_);
    capacity_ = alone_->capacity();
    return;
  }
  for (Engine* engine : engines) capacity_ += Scheduler(*engine, config, tokens_).capacity();
  for (Engine* engine : engines)
    threads_.emplace_back([this, engine](std::stop_token stop) { work(*engine, stop); });
}

Workers::~Workers() {
  for (std::jthread& thread : threads_) thread.request_stop();
}

void Workers::add(std::vector<SourceSentence> sentences) {
  under_way_ += static_cast<std::int64_t>(sentences.size());
  if (alone_) return alone_->add(std::move(sentences));
  std::stable_sort(sentences.begin(), sentences.end(),
                   [](const SourceSentence& a, const SourceSentence& b) {
                     return a.tokens.size() > b.tokens.size();
                   });
  {
    const std::lock_guard lock(mutex_);
    waiting_.insert(waiting_.end(), std::make_move_iterator(sentences.begin()),
                    std::make_move_iterator(sentences.end()));
  }
  added_.notify_all();
}

std::int64_t Workers::waiting() const {
  if (alone_) return alone_->waiting();
  const std::lock_guard lock(mutex_);
  return static_cast<std::int64_t>(waiting_.size());
}

std::vector<FinishedSentence> Workers::step() {
  std::vector<FinishedSentence> finished;
  if (alone_) {
    finished = alone_->step();
  } else if (!idle()) {
    std::unique_lock lock(mutex_);
    ended_.wait_for(lock, kLongestWait, [this] { return !finished_.empty() || failure_; });
    if (failure_) std::rethrow_exception(failure_);
    finished.swap(finished_);
  }
  under_way_ -= static_cast<std::int64_t>(finished.size());
  return finished;
}

void Workers::hand_out(Scheduler& scheduler) {
  const auto workers = static_cast<std::int64_t>(count_);
  const auto all = static_cast<std::int64_t>(waiting_.size());
  // No more than its share, so that the last sentences are spread over all.
  const std::int64_t count = std::min(scheduler.room(), (all + workers - 1) / workers);
  if (count <= 0) return;
  scheduler.add({std::make_move_iterator(waiting_.begin()),
                 std::make_move_iterator(waiting_.begin() + count)});
  waiting_.erase(waiting_.begin(), waiting_.begin() + count);
}

void Workers::work(Engine& engine, std::stop_token stop) {
  try {
    Scheduler scheduler(engine, config_, tokens_);
    while (true) {
      {
        std::unique_lock lock(mutex_);
        const auto has_work = [&] { return !waiting_.empty() || !scheduler.idle(); };
        if (!added_.wait(lock, stop, has_work) || stop.stop_requested()) return;
        hand_out(scheduler);
      }
      std::vector<FinishedSentence> finished = scheduler.step();
      if (finished.empty()) continue;
      const std::lock_guard lock(mutex_);
      std::move(finished.begin(), finished.end(), std::back_inserter(finished_));
      ended_.notify_one();
    }
  } catch (...) {
    const std::lock_guard lock(mutex_);
    failure_ = std::current_exception();
    ended_.notify_one();
  }
}

}  // namespace dragoman
