// What other threads leave for the thread of PendingTranslations.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <list>
#include <memory>
#include <utility>
#include <vector>

#include "base/mutex.h"
#include "extras/server/pending_translations.h"

namespace dragoman {

/// Work, and news of progress, that other threads leave for the object's thread. The callbacks that
/// engines hold own it too, as they may live longer than the object.
struct PendingTranslations::Inbox {
  void post(std::function<void()> work) {
    const MutexLock lock(mutex);
    posted.push_back(std::move(work));
    changed.notify_one();
  }

  Mutex mutex;
  std::condition_variable_any changed;
  std::vector<std::function<void()>> posted GUARDED_BY(mutex);
  std::list<std::uint64_t> progressed GUARDED_BY(mutex);  // ids
};

/// The news that a translation has made progress. It is made with the translation, as an engine
/// that tells it may have no memory.
class PendingTranslations::News {
 public:
  News(std::shared_ptr<Inbox> inbox, std::uint64_t id) : inbox_(std::move(inbox)), id_{id} {}

  /// Puts the id into the inbox, if it is not there already.
  void tell() noexcept {
    const MutexLock lock(inbox_->mutex);
    if (id_.empty()) return;
    inbox_->progressed.splice(inbox_->progressed.end(), id_);
    inbox_->changed.notify_one();
  }

  /// Takes the id back, the first of `heard`: there may be more news from now on.
  void take_back(std::list<std::uint64_t>& heard) noexcept {
    const MutexLock lock(inbox_->mutex);
    id_.splice(id_.end(), heard, heard.begin());
  }

 private:
  const std::shared_ptr<Inbox> inbox_;
  std::list<std::uint64_t> id_;  // guarded by the inbox's mutex; empty while the id is there
};

}  // namespace dragoman
