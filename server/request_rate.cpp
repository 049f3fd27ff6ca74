#include "server/request_rate.h"

#include <algorithm>

namespace dragoman {

namespace {

using std::chrono::minutes;

constexpr std::size_t kMostClients = 100'000;  // whose minutes are kept

}  // namespace

std::int64_t RequestRate::count(const std::string& client, Time now) {
  if (limit_ < 0) return 0;
  const MutexLock lock(mutex_);
  if (clients_.size() >= kMostClients) {
    std::erase_if(clients_,
                  [&](const auto& entry) { return now - entry.second.begin >= minutes(1); });
    if (clients_.size() >= kMostClients) clients_.clear();
  }
  Minute& minute = clients_.try_emplace(client, Minute{.begin = now}).first->second;
  if (now - minute.begin >= minutes(1)) minute = {.begin = now};
  if (minute.requests < limit_) {
    ++minute.requests;
    return 0;
  }
  const auto left = minute.begin + minutes(1) - now;
  return std::max<std::int64_t>(1, std::chrono::ceil<std::chrono::seconds>(left).count());
}

}  // namespace dragoman
