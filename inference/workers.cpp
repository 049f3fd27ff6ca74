#include "inference/workers.h"

#include <algorithm>
#include <functional>
#include <iterator>
#include <numeric>
#include <utility>

#include "base/threads.h"

namespace dragoman {

namespace {

/// The number of sentences of a submission that are taken in one turn. If it were one, all waiting
/// submissions would end at the same time, and engines would be idle until the next ones come.
constexpr std::int64_t kOfATurn = 8;

}  // namespace

Workers::Workers(std::span<Engine* const> engines, const Limits& limits)
    : limits_(limits),
      working_(static_cast<std::int64_t>(engines.size())),
      rows_in_use_(engines.size()) {
  for (Engine* engine : engines) schedulers_.push_back(scheduler_of(*engine, limits.rows));
  for (std::size_t engine = 0; engine < engines.size(); ++engine)
    threads_.emplace_back([this, engine](const std::stop_token& stop) { work(engine, stop); });
}

Workers::~Workers() {
  for (std::jthread& thread : threads_) thread.request_stop();
  for (std::jthread& thread : threads_) thread.join();
  for (const SourceSentence& sentence : waiting_) sentence.receiver->fail(cancellation_error_);
}

void Workers::add(std::vector<SourceSentence> sentences) {
  if (sentences.empty()) return;
  std::stable_sort(sentences.begin(), sentences.end(),
                   [](const SourceSentence& a, const SourceSentence& b) {
                     return a.tokens.size() > b.tokens.size();
                   });
  const MutexLock lock(mutex_);
  if (working_ == 0) std::rethrow_exception(failure_);
  if (static_cast<std::int64_t>(waiting_.size()) >= limits_.waiting)
    std::erase_if(waiting_, std::mem_fn(&SourceSentence::is_cancelled));
  if (static_cast<std::int64_t>(waiting_.size()) >= limits_.waiting)
    throw ServiceBusy("too much to translate: ", waiting_.size(),
                      " sentences wait already; try again later");
  put(sentences);
}

void Workers::put(std::vector<SourceSentence>& sentences) {
  const auto known = static_cast<std::ptrdiff_t>(waiting_.size());
  // A submission begins in the next turn, not in this one. Otherwise a stream of small submissions
  // would keep the rest of a large one waiting for ever.
  const std::int64_t turn = waiting_.empty() ? 0 : waiting_.front().turn + 1;
  for (std::size_t i = 0; limits_.order == QueueOrder::Turns && i < sentences.size(); ++i)
    sentences[i].turn = turn + static_cast<std::int64_t>(i) / kOfATurn;
  waiting_.insert(waiting_.end(), std::make_move_iterator(sentences.begin()),
                  std::make_move_iterator(sentences.end()));
  if (limits_.order == QueueOrder::Turns)
    std::inplace_merge(
        waiting_.begin(), waiting_.begin() + known, waiting_.end(),
        [](const SourceSentence& a, const SourceSentence& b) { return a.turn < b.turn; });
  added_.notify_all();
}

std::int64_t Workers::capacity(const DecodeConfig& config) const {
  std::int64_t sum = 0;
  for (const auto& scheduler : schedulers_) sum += scheduler->capacity(config);
  return sum;
}

std::int64_t Workers::waiting() const {
  const MutexLock lock(mutex_);
  return static_cast<std::int64_t>(waiting_.size());
}

std::int64_t Workers::rows_in_use() const {
  const MutexLock lock(mutex_);
  return std::accumulate(rows_in_use_.begin(), rows_in_use_.end(), std::int64_t{0});
}

std::exception_ptr Workers::failure() const {
  const MutexLock lock(mutex_);
  return failure_;
}

std::vector<SourceSentence> Workers::take(const SentenceScheduler& scheduler) {
  while (!waiting_.empty() && waiting_.front().is_cancelled()) waiting_.pop_front();
  const auto all = static_cast<std::int64_t>(waiting_.size());
  // At most its fraction of the queue, so that every engine gets some of the last sentences.
  const std::int64_t count =
      std::min(scheduler.count_admissible(waiting_), divide_up(all, working_));
  std::vector<SourceSentence> taken(std::make_move_iterator(waiting_.begin()),
                                    std::make_move_iterator(waiting_.begin() + count));
  waiting_.erase(waiting_.begin(), waiting_.begin() + count);
  std::erase_if(taken, std::mem_fn(&SourceSentence::is_cancelled));
  return taken;
}

void Workers::deliver(std::vector<SourceSentence> finished, std::vector<SourceSentence>& in_hand) {
  for (SourceSentence& sentence : finished) {
    const std::shared_ptr<SentenceReceiver> receiver = sentence.receiver;
    if (sentence.error) {
      receiver->fail(sentence.error);
      continue;
    }
    try {
      if (auto more = receiver->finish(std::move(sentence))) in_hand.push_back(std::move(*more));
    } catch (...) {
      receiver->fail(std::current_exception());
    }
  }
  if (in_hand.empty()) return;
  const MutexLock lock(mutex_);
  put(in_hand);
  in_hand.clear();
}

void Workers::serve(std::size_t engine, std::vector<SourceSentence>& in_hand,
                    const std::stop_token& stop) {
  SentenceScheduler& scheduler = *schedulers_[engine];
  while (true) {
    scheduler.drop_cancelled();
    {
      MutexLock lock(mutex_);
      rows_in_use_[engine] = scheduler.rows_in_use();
      added_.wait(lock, stop,
                  [&]() REQUIRES(mutex_) { return !waiting_.empty() || !scheduler.idle(); });
      if (stop.stop_requested()) return;
      in_hand = take(scheduler);
    }
    scheduler.admit(in_hand);
    in_hand.clear();
    deliver(scheduler.step(), in_hand);
  }
}

void Workers::work(std::size_t engine, const std::stop_token& stop) {
  std::vector<SourceSentence> in_hand;
  std::exception_ptr error = cancellation_error_;
  try {
    serve(engine, in_hand, stop);
  } catch (...) {
    error = std::current_exception();
    end_engine(engine, error);
  }
  // Memory may have run out, so nothing from here on allocates any.
  schedulers_[engine]->fail_all(error);
  for (const SourceSentence& sentence : in_hand) sentence.receiver->fail(error);
  while (const auto receiver = next_without_engine()) receiver->fail(error);
}

void Workers::end_engine(std::size_t engine, std::exception_ptr error) {
  const MutexLock lock(mutex_);
  rows_in_use_[engine] = 0;
  if (failure_ == nullptr) failure_ = std::move(error);
  --working_;
}

std::shared_ptr<SentenceReceiver> Workers::next_without_engine() {
  const MutexLock lock(mutex_);
  if (working_ > 0 || waiting_.empty()) return nullptr;
  std::shared_ptr<SentenceReceiver> receiver = std::move(waiting_.front().receiver);
  waiting_.pop_front();
  return receiver;
}

}  // namespace dragoman
