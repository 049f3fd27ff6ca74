// Loads the models of which requests are waiting. One thread loads one after the other, so that
// translations by other models go on.
#pragma once

#include <condition_variable>
#include <deque>
#include <exception>
#include <functional>
#include <memory>
#include <stop_token>
#include <thread>
#include <utility>

#include "base/mutex.h"
#include "extras/server/served_models.h"

namespace dragoman {

class ModelLoader {
 public:
  /// Told once for each start(): null, or why the model cannot be loaded. Must not throw.
  using Done = std::function<void(std::exception_ptr)>;

  ModelLoader();
  ModelLoader(const ModelLoader&) = delete;
  ModelLoader& operator=(const ModelLoader&) = delete;
  ~ModelLoader() { stop(); }

  /// Calls ServedModel::load(), then `done`, on this object's thread. From any thread. After a
  /// stop() it calls `done` at once, with HttpError 503.
  void start(std::shared_ptr<const ServedModel> model, Done done);
  /// Waits for the model that is being loaded. The others fail with HttpError 503.
  void stop();

 private:
  using Waiting = std::pair<std::shared_ptr<const ServedModel>, Done>;
  void work(const std::stop_token& stopping);

  Mutex mutex_;
  std::condition_variable_any changed_;
  std::deque<Waiting> waiting_ GUARDED_BY(mutex_);
  bool is_stopped_ GUARDED_BY(mutex_) = false;
  std::jthread thread_;  // last: it uses all above
};

}  // namespace dragoman
