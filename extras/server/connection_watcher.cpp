#include "extras/server/connection_watcher.h"

#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <utility>

#include "base/error.h"

namespace dragoman {

ConnectionWatcher::ConnectionWatcher(std::chrono::milliseconds timeout)
    : timeout_(timeout), watched_(epoll_create1(EPOLL_CLOEXEC)) {
  if (watched_ < 0) throw Error("cannot watch connections: more open files (ulimit -n)?");
  epoll_event event{.events = EPOLLIN, .data = {.u64 = 0}};
  epoll_ctl(watched_, EPOLL_CTL_ADD, wake_up_.descriptor(), &event);
  thread_ = std::jthread([this](const std::stop_token& stop) { watch(stop); });
}

ConnectionWatcher::~ConnectionWatcher() {
  thread_.request_stop();
  wake_up_.wake();
  thread_.join();
  close(watched_);
}

void ConnectionWatcher::opened(Connection connection, int descriptor) {
  const MutexLock lock(mutex_);
  phases_[connection] = {.descriptor = descriptor, .since = Clock::now()};
}

void ConnectionWatcher::closed(Connection connection) {
  const MutexLock lock(mutex_);
  phases_.erase(connection);
}

void ConnectionWatcher::begin_phase(Connection connection, bool worked_on) {
  const MutexLock lock(mutex_);
  const auto found = phases_.find(connection);
  if (found == phases_.end()) return;
  found->second.since = Clock::now();
  found->second.worked_on = worked_on;
}

void ConnectionWatcher::watch_for_end(int descriptor, std::uint64_t id, std::stop_source gone) {
  {
    const MutexLock lock(mutex_);
    clients_.insert_or_assign(id, std::move(gone));
  }
  epoll_event event{.events = EPOLLRDHUP | EPOLLONESHOT, .data = {.u64 = id}};
  epoll_ctl(watched_, EPOLL_CTL_ADD, descriptor, &event);
}

void ConnectionWatcher::stop_watching(int descriptor, std::uint64_t id) {
  epoll_ctl(watched_, EPOLL_CTL_DEL, descriptor, nullptr);
  const MutexLock lock(mutex_);
  clients_.erase(id);
}

void ConnectionWatcher::watch(const std::stop_token& stop) {
  constexpr int kMost = 64;
  epoll_event events[kMost];
  while (!stop.stop_requested()) {
    const int count = epoll_wait(watched_, events, kMost, 1000);
    for (int i = 0; i < count; ++i) tell(events[i].data.u64);
    close_slow();
  }
}

/// Calls without the lock: those who are told may call this object.
void ConnectionWatcher::tell(std::uint64_t id) {
  std::stop_source gone(std::nostopstate);
  {
    const MutexLock lock(mutex_);
    const auto found = clients_.find(id);
    if (found == clients_.end()) return;
    gone = found->second;
  }
  gone.request_stop();
}

void ConnectionWatcher::close_slow() {
  const Clock::time_point now = Clock::now();
  const MutexLock lock(mutex_);
  for (const auto& [connection, phase] : phases_)
    if (!phase.worked_on && now - phase.since > timeout_) shutdown(phase.descriptor, SHUT_RDWR);
}

}  // namespace dragoman
