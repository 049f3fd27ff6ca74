#include "extras/server/connections.h"

#include <arpa/inet.h>
#include <netdb.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <memory>
#include <utility>

#include "base/error.h"

namespace dragoman {

namespace {

/// The descriptor; below 0 if it can't listen, and errno says why.
int listen_at(const addrinfo& address) {
  const int listener = socket(address.ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (listener < 0) return listener;
  const int on = 1;
  setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  if (bind(listener, address.ai_addr, address.ai_addrlen) == 0 && listen(listener, SOMAXCONN) == 0)
    return listener;
  const int error = errno;
  close(listener);
  errno = error;
  return -1;
}

}  // namespace

int listen_at(const std::string& host, std::int64_t port) {
  const std::string number = std::to_string(port);
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = AI_PASSIVE | AI_NUMERICSERV;
  addrinfo* found = nullptr;
  const int failed = getaddrinfo(host.c_str(), number.c_str(), &hints, &found);
  if (failed != 0) throw Error("--host ", host, ": ", gai_strerror(failed));
  const std::unique_ptr<addrinfo, decltype(&freeaddrinfo)> addresses(found, &freeaddrinfo);
  int error = 0;
  for (const addrinfo* at = found; at != nullptr; at = at->ai_next) {
    const int listener = listen_at(*at);
    if (listener >= 0) return listener;
    error = errno;
    // On a machine without IPv6 a name may have an address of it all the same.
    if (error != EADDRNOTAVAIL && error != EAFNOSUPPORT) break;
  }
  throw Error("cannot listen at ", host, ", port ", port, ": ", std::strerror(error),
              error == EADDRINUSE ? "; --port names another one" : "");
}

int port_of(int descriptor) {
  sockaddr_storage bound{};
  socklen_t size = sizeof bound;
  if (getsockname(descriptor, reinterpret_cast<sockaddr*>(&bound), &size) != 0) return 0;
  return ntohs(bound.ss_family == AF_INET6 ? reinterpret_cast<sockaddr_in6&>(bound).sin6_port
                                           : reinterpret_cast<sockaddr_in&>(bound).sin_port);
}

std::string address_text(const sockaddr* address) {
  char text[INET6_ADDRSTRLEN] = "";
  if (address == nullptr) return text;
  if (address->sa_family == AF_INET)
    inet_ntop(AF_INET, &reinterpret_cast<const sockaddr_in*>(address)->sin_addr, text, sizeof text);
  if (address->sa_family == AF_INET6)
    inet_ntop(AF_INET6, &reinterpret_cast<const sockaddr_in6*>(address)->sin6_addr, text,
              sizeof text);
  return text;
}

// ---- the thread that watches the connections ----------------------------------------------------

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

/// Requests the stop without the lock: whoever is told may call this object.
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
