#include "extras/server/request_rate.h"

#include <arpa/inet.h>

#include <algorithm>

namespace dragoman {

namespace {

using std::chrono::minutes;

constexpr std::size_t kMostClients = 100'000;  // whose minutes are kept

/// Whoever has an IPv6 address has a network of 64 bits, and so as many addresses as they like.
std::string counted_as(const std::string& client) {
  in6_addr address{};
  if (inet_pton(AF_INET6, client.c_str(), &address) != 1) return client;
  char text[INET6_ADDRSTRLEN] = "";
  if (IN6_IS_ADDR_V4MAPPED(&address)) {
    inet_ntop(AF_INET, &address.s6_addr[12], text, sizeof text);
    return text;
  }
  std::fill_n(&address.s6_addr[8], 8, std::uint8_t{0});
  inet_ntop(AF_INET6, &address, text, sizeof text);
  return std::string(text) + "/64";
}

}  // namespace

std::int64_t RequestRate::count(const std::string& client, Time now) {
  if (limit_ < 0) return 0;
  const std::string name = counted_as(client);
  const MutexLock lock(mutex_);
  const auto drop_oldest = [this]() REQUIRES(mutex_) {
    clients_.erase(minutes_.front().client);
    minutes_.pop_front();
  };
  while (!minutes_.empty() && now - minutes_.front().begin >= minutes(1)) drop_oldest();
  if (!clients_.contains(name)) {
    if (clients_.size() >= kMostClients) drop_oldest();
    clients_[name] = minutes_.insert(minutes_.end(), {.client = name, .begin = now});
  }
  Minute& minute = *clients_.at(name);
  if (minute.requests < limit_) {
    ++minute.requests;
    return 0;
  }
  const auto left = minute.begin + minutes(1) - now;
  return std::max<std::int64_t>(1, std::chrono::ceil<std::chrono::seconds>(left).count());
}

}  // namespace dragoman
