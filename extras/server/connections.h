// Sockets of a server: the one that listens, and the thread that watches the connections.
#pragma once

#include <sys/socket.h>

#include <chrono>
#include <cstdint>
#include <stop_token>
#include <string>
#include <thread>
#include <unordered_map>

#include "base/mutex.h"
#include "base/threads.h"

namespace dragoman {

/// The descriptor of a socket that listens at `host` (a name or an address, IPv4 or IPv6); port 0
/// is any that is free. Throws Error naming the flag if it can't.
int listen_at(const std::string& host, std::int64_t port);

/// The port of a socket.
int port_of(int descriptor);

/// "127.0.0.1", "::1"; empty for other kinds of sockets.
std::string address_text(const sockaddr* address);

/// A thread that watches the connections of a server for clients that go away while their requests
/// are worked on, and for those that are too slow.
class ConnectionWatcher {
 public:
  using Connection = const void*;  ///< tells connections apart

  /// The headers of a request, its body and its response may each take this long.
  explicit ConnectionWatcher(std::chrono::milliseconds timeout);
  ConnectionWatcher(const ConnectionWatcher&) = delete;
  ConnectionWatcher& operator=(const ConnectionWatcher&) = delete;
  ~ConnectionWatcher();

  void opened(Connection connection, int descriptor);
  void closed(Connection connection);

  /// The next part of a request begins: its time runs from now on, unless the server works on it.
  void begin_phase(Connection connection, bool worked_on);

  /// Requests a stop of `gone` when the client ends the connection. Only while a request is worked
  /// on: then no other connection can have got its descriptor. `id`: the request's number.
  void watch_for_end(int descriptor, std::uint64_t id, std::stop_source gone);
  void stop_watching(int descriptor, std::uint64_t id);

 private:
  using Clock = std::chrono::steady_clock;

  struct Phase {
    int descriptor;
    Clock::time_point since;
    bool worked_on = false;
  };

  void watch(const std::stop_token& stop);
  void tell(std::uint64_t id);
  void close_slow();

  const std::chrono::milliseconds timeout_;
  const WakeUp wake_up_;
  int watched_ = -1;  // an epoll of the connections whose requests are worked on
  Mutex mutex_;
  std::unordered_map<Connection, Phase> phases_ GUARDED_BY(mutex_);
  std::unordered_map<std::uint64_t, std::stop_source> clients_ GUARDED_BY(mutex_);
  std::jthread thread_;
};

}  // namespace dragoman
