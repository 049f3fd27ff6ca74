// A mutex that clang's thread-safety analysis knows. GUARDED_BY marks the members that it guards,
// REQUIRES the functions that need it locked. The preset tidy checks both; other compilers see
// nothing. To wait, use std::condition_variable_any with a MutexLock.
#pragma once

#include <mutex>

#if defined(__clang__)
#define DRAGOMAN_ANALYSIS(attribute) __attribute__((attribute))
#else
#define DRAGOMAN_ANALYSIS(attribute)
#endif

#define GUARDED_BY(mutex) DRAGOMAN_ANALYSIS(guarded_by(mutex))
#define REQUIRES(mutex) DRAGOMAN_ANALYSIS(requires_capability(mutex))

namespace dragoman {

class DRAGOMAN_ANALYSIS(capability("mutex")) Mutex {
 public:
  void lock() DRAGOMAN_ANALYSIS(acquire_capability()) { mutex_.lock(); }
  void unlock() DRAGOMAN_ANALYSIS(release_capability()) { mutex_.unlock(); }

 private:
  std::mutex mutex_;
};

/// Holds the mutex from its construction to its destruction, except between unlock() and lock().
class DRAGOMAN_ANALYSIS(scoped_lockable) MutexLock {
 public:
  explicit MutexLock(Mutex& mutex) DRAGOMAN_ANALYSIS(acquire_capability(mutex)) : mutex_(mutex) {
    mutex_.lock();
  }
  MutexLock(const MutexLock&) = delete;
  MutexLock& operator=(const MutexLock&) = delete;
  ~MutexLock() DRAGOMAN_ANALYSIS(release_capability()) {
    if (locked_) mutex_.unlock();
  }

  void lock() DRAGOMAN_ANALYSIS(acquire_capability()) {
    mutex_.lock();
    locked_ = true;
  }
  void unlock() DRAGOMAN_ANALYSIS(release_capability()) {
    locked_ = false;
    mutex_.unlock();
  }

 private:
  Mutex& mutex_;
  bool locked_ = true;
};

}  // namespace dragoman
