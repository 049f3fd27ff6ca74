// The explanations of requests that are under way. One thread makes them, one after the other, so
// they take one core at most from the translations.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <functional>
#include <list>
#include <memory>
#include <stop_token>
#include <string>
#include <thread>
#include <utility>
#include <variant>

#include "base/mutex.h"
#include "extras/server/http.h"
#include "extras/server/served_models.h"

namespace dragoman {

struct TextToExplain {
  std::string text;
  ExplanationUse use;
  std::shared_ptr<const ServedModel> model;  ///< one that explains
  std::stop_token stop = {};                 ///< nobody waits any more
  std::chrono::steady_clock::time_point deadline = std::chrono::steady_clock::time_point::max();
};

/// An explanation; or an error, whose status is 400 for a text that cannot be explained, 499 after
/// a stop, 503 if too many wait or the server stops, 504 at the deadline, else 500.
using ExplanationOutcome = std::variant<TextExplanation, HttpError>;

class PendingExplanations {
 public:
  static constexpr std::size_t kMostWaiting = 8;  ///< while so many wait, more are refused

  using Done = std::function<void(ExplanationOutcome)>;

  PendingExplanations();
  PendingExplanations(const PendingExplanations&) = delete;
  PendingExplanations& operator=(const PendingExplanations&) = delete;
  ~PendingExplanations();

  /// Calls `done` once: on this object's thread, before it returns, or in a later start() if the
  /// client is gone by then. From any thread.
  void start(TextToExplain task, Done done);

 private:
  using Waiting = std::list<std::pair<TextToExplain, Done>>;

  Waiting take_gone() REQUIRES(mutex_);
  void work(const std::stop_token& stopping);

  const HttpError gone_{kClientGone, "the client is gone"};
  const HttpError no_memory_{500, "Cannot explain text: no memory is left"};
  Mutex mutex_;
  std::condition_variable_any changed_;
  Waiting waiting_ GUARDED_BY(mutex_);
  std::jthread thread_;  // last: it uses all above
};

}  // namespace dragoman
