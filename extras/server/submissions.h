// Submits lines to a model's service. One thread prepares long texts, one after the other, so that
// requests with little text do not wait for them.
#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <future>
#include <memory>
#include <stop_token>
#include <thread>

#include "base/mutex.h"
#include "extras/server/served_models.h"
#include "inference/translation_answers.h"

namespace dragoman {

class Submissions {
 public:
  Submissions();
  Submissions(const Submissions&) = delete;
  Submissions& operator=(const Submissions&) = delete;
  /// Waits for the text that is being prepared. The others get no result.
  ~Submissions();

  /// The result is what TranslationService::submit() returns or throws. With little text it is
  /// there at once. Otherwise this object's thread submits the lines, and then calls `done`, which
  /// must not throw. Where a stop is requested before the text has its turn, there is no result.
  std::future<TranslationAnswers> submit(std::shared_ptr<const ServedModel> model,
                                         Submission submission, std::function<void()> done);

 private:
  struct Waiting {
    std::shared_ptr<const ServedModel> model;  ///< before the task, whose answers it outlives
    std::stop_token stop;
    std::function<void()> done;
    std::packaged_task<TranslationAnswers()> task = {};
  };

  void work(const std::stop_token& stopping);

  Mutex mutex_;
  std::condition_variable_any changed_;
  std::deque<Waiting> waiting_ GUARDED_BY(mutex_);
  std::jthread thread_;  // last: it uses all above
};

}  // namespace dragoman
