#include "extras/server/pending_explanations.h"

#include <new>
#include <optional>

#include "base/error.h"

namespace dragoman {

namespace {

/// Throws HttpError if the work is no longer wanted.
void check(const TextToExplain& task, const std::stop_token& stopping) {
  if (stopping.stop_requested()) throw HttpError(503, "the server is stopping", 1);
  if (task.stop.stop_requested()) throw HttpError(kClientGone, "the client is gone");
  if (std::chrono::steady_clock::now() >= task.deadline)
    throw HttpError(504, "the explanation takes too long; send less text at once");
}

ExplanationOutcome explained(const TextToExplain& task, const std::stop_token& stopping) {
  try {
    check(task, stopping);
    return task.model->explain()(task.text, task.use, [&] { check(task, stopping); });
  } catch (const HttpError& known) {
    return known;
  } catch (const std::exception& other) {
    return HttpError(500, join_text("Cannot explain text: ", other.what()));
  }
}

/// `no_memory` if there is no memory even for the error.
ExplanationOutcome outcome_of(const TextToExplain& task, const std::stop_token& stopping,
                              const HttpError& no_memory) noexcept {
  try {
    return explained(task, stopping);
  } catch (const std::bad_alloc&) {
    return no_memory;
  }
}

}  // namespace

PendingExplanations::PendingExplanations()
    : thread_([this](const std::stop_token& stopping) { work(stopping); }) {}

PendingExplanations::~PendingExplanations() {
  thread_.request_stop();
  {
    const MutexLock lock(mutex_);
    changed_.notify_all();
  }
  thread_.join();
}

/// Takes the tasks whose clients are gone out of those that wait.
PendingExplanations::Waiting PendingExplanations::take_gone() {
  Waiting gone;
  for (auto next = waiting_.begin(); next != waiting_.end();) {
    const auto task = next++;
    if (task->first.stop.stop_requested()) gone.splice(gone.end(), waiting_, task);
  }
  return gone;
}

void PendingExplanations::start(TextToExplain task, Done done) {
  Waiting added, gone;
  added.emplace_back(std::move(task), std::move(done));  // later nothing takes memory
  {
    const MutexLock lock(mutex_);
    if (waiting_.size() >= kMostWaiting) gone = take_gone();
    if (waiting_.size() < kMostWaiting) {
      waiting_.splice(waiting_.end(), added);
      changed_.notify_all();
    }
  }
  for (const auto& [left, done_of] : gone) done_of(gone_);
  for (const auto& [refused, done_of] : added)
    done_of(HttpError(503, "too many explanations wait already; try again later", 1));
}

/// Tasks that wait when the object ends are answered, too: each finds that the server is stopping.
void PendingExplanations::work(const std::stop_token& stopping) {
  while (true) {
    std::optional<std::pair<TextToExplain, Done>> next;
    {
      MutexLock lock(mutex_);
      while (waiting_.empty() && !stopping.stop_requested()) changed_.wait(lock);
      if (waiting_.empty()) return;
      next = std::move(waiting_.front());
      waiting_.pop_front();
    }
    next->second(outcome_of(next->first, stopping, no_memory_));
  }
}

}  // namespace dragoman
