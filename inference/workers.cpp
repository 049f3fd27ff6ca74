#include "inference/workers.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace dragoman {

namespace {

bool is_given_up(const SourceSentence& sentence) { return sentence.stop.stop_requested(); }

}  // namespace

Workers::Workers(std::span<Engine* const> engines, const Limits& limits)
    : limits_(limits),
      engines_(engines.begin(), engines.end()),
      working_(static_cast<std::int64_t>(engines.size())) {
  for (Engine* engine : engines_)
    threads_.emplace_back([this, engine](const std::stop_token& stop) { work(*engine, stop); });
}

Workers::~Workers() {
  for (std::jthread& thread : threads_) thread.request_stop();
  for (std::jthread& thread : threads_) thread.join();
  const auto ended = std::make_exception_ptr(Error("the translation was given up"));
  for (const SourceSentence& sentence : waiting_) sentence.receiver->fail(ended);
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
    std::erase_if(waiting_, is_given_up);
  if (static_cast<std::int64_t>(waiting_.size()) >= limits_.waiting)
    throw ServiceBusy("too much to translate: ", waiting_.size(),
                      " sentences wait already; try again later");
  put(std::move(sentences));
}

void Workers::put(std::vector<SourceSentence> sentences) {
  waiting_.insert(waiting_.end(), std::make_move_iterator(sentences.begin()),
                  std::make_move_iterator(sentences.end()));
  added_.notify_all();
}

std::int64_t Workers::capacity(const DecodeConfig& search) const {
  std::int64_t sum = 0;
  for (Engine* engine : engines_) sum += Scheduler(*engine, limits_.rows).capacity(search);
  return sum;
}

std::int64_t Workers::waiting() const {
  const MutexLock lock(mutex_);
  return static_cast<std::int64_t>(waiting_.size());
}

std::exception_ptr Workers::failure() const {
  const MutexLock lock(mutex_);
  return failure_;
}

std::vector<SourceSentence> Workers::take(const Scheduler& scheduler) {
  while (!waiting_.empty() && is_given_up(waiting_.front())) waiting_.pop_front();
  const auto all = static_cast<std::int64_t>(waiting_.size());
  // At most its fraction of the queue, so that every engine gets some of the last sentences.
  const std::int64_t count =
      std::min(scheduler.count_admitted(waiting_), (all + working_ - 1) / working_);
  std::vector<SourceSentence> taken(std::make_move_iterator(waiting_.begin()),
                                    std::make_move_iterator(waiting_.begin() + count));
  waiting_.erase(waiting_.begin(), waiting_.begin() + count);
  std::erase_if(taken, is_given_up);
  return taken;
}

void Workers::deliver(std::vector<FinishedSentence> finished) {
  std::vector<SourceSentence> again;
  for (FinishedSentence& sentence : finished) {
    const std::shared_ptr<SentenceReceiver> receiver = sentence.receiver;
    if (sentence.error) {
      receiver->fail(sentence.error);
      continue;
    }
    try {
      if (auto more = receiver->finish(std::move(sentence))) again.push_back(std::move(*more));
    } catch (...) {
      receiver->fail(std::current_exception());
    }
  }
  if (again.empty()) return;
  const MutexLock lock(mutex_);
  put(std::move(again));
}

void Workers::serve(Scheduler& scheduler, std::vector<SourceSentence>& taken,
                    const std::stop_token& stop) {
  while (true) {
    scheduler.drop_stopped();
    {
      MutexLock lock(mutex_);
      added_.wait(lock, stop,
                  [&]() REQUIRES(mutex_) { return !waiting_.empty() || !scheduler.idle(); });
      if (stop.stop_requested()) return;
      taken = take(scheduler);
    }
    scheduler.admit(taken);
    taken.clear();
    deliver(scheduler.step());
  }
}

void Workers::work(Engine& engine, const std::stop_token& stop) {
  std::vector<std::shared_ptr<SentenceReceiver>> left;
  std::exception_ptr error = std::make_exception_ptr(Error("the translation was given up"));
  {
    Scheduler scheduler(engine, limits_.rows);
    std::vector<SourceSentence> taken;
    try {
      serve(scheduler, taken, stop);
    } catch (...) {
      error = std::current_exception();
      for (const SourceSentence& sentence : end_engine(error)) left.push_back(sentence.receiver);
    }
    for (const SourceSentence& sentence : taken) left.push_back(sentence.receiver);
    for (auto& receiver : scheduler.receivers()) left.push_back(std::move(receiver));
  }
  for (const auto& receiver : left) receiver->fail(error);
}

std::deque<SourceSentence> Workers::end_engine(std::exception_ptr error) {
  const MutexLock lock(mutex_);
  if (failure_ == nullptr) failure_ = std::move(error);
  return --working_ == 0 ? std::exchange(waiting_, {}) : std::deque<SourceSentence>();
}

}  // namespace dragoman
