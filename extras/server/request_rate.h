// Bounds the requests of each client in a minute.
#pragma once

#include <chrono>
#include <cstdint>
#include <list>
#include <string>
#include <unordered_map>

#include "base/mutex.h"

namespace dragoman {

class RequestRate {
 public:
  using Time = std::chrono::steady_clock::time_point;

  /// `limit` requests in a minute; below 0: any number.
  explicit RequestRate(std::int64_t limit) : limit_(limit) {}

  /// Counts a request of a client: an IPv4 address, an IPv6 address, which stands for its network
  /// of 64 bits, or another name. Returns 0, or the seconds until it may ask again.
  std::int64_t count(const std::string& client, Time now);

 private:
  struct Minute {
    std::string client;
    Time begin;
    std::int64_t requests = 0;
  };

  const std::int64_t limit_;
  Mutex mutex_;
  std::list<Minute> minutes_ GUARDED_BY(mutex_);  // the oldest first
  std::unordered_map<std::string, std::list<Minute>::iterator> clients_ GUARDED_BY(mutex_);
};

}  // namespace dragoman
