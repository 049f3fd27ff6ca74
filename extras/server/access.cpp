#include "extras/server/access.h"

#include <arpa/inet.h>
#include <nettle/memops.h>
#include <nettle/sha2.h>
#include <sys/random.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "base/bytes.h"
#include "base/error.h"
#include "base/lines.h"
#include "base/utf8.h"

namespace dragoman {

namespace {

void append_hexadecimal(std::string& text, std::uint8_t byte) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  text += kDigits[byte >> 4];
  text += kDigits[byte & 15];
}

}  // namespace

// ---- keys ---------------------------------------------------------------------------------------

namespace {

using Hash = std::array<std::uint8_t, SHA256_DIGEST_SIZE>;

std::optional<Hash> parse_hash(std::string_view digits) {
  Hash hash;
  if (digits.size() != 2 * hash.size()) return std::nullopt;
  for (std::size_t i = 0; i < hash.size(); ++i) {
    const auto byte = number_from<unsigned char>(digits.substr(2 * i, 2), 16);
    if (!byte) return std::nullopt;
    hash[i] = *byte;
  }
  return hash;
}

std::optional<std::int64_t> parse_limit(std::string_view text) {
  const auto limit = number_from<std::int64_t>(text);
  return limit && *limit >= 0 ? limit : std::nullopt;
}

int month_of(std::time_t time) {
  std::tm parts{};
  gmtime_r(&time, &parts);
  return parts.tm_year * 12 + parts.tm_mon;
}

}  // namespace

ApiKeys::ApiKeys(std::filesystem::path file, Now now)
    : file_(std::move(file)), now_(std::move(now)), month_(month_of(now_())) {
  reload();
}

ApiKeys::Hash ApiKeys::sha256(std::string_view text) {
  sha256_ctx state;
  sha256_init(&state);
  sha256_update(&state, text.size(), reinterpret_cast<const std::uint8_t*>(text.data()));
  Hash hash;
  sha256_digest(&state, hash.size(), hash.data());
  return hash;
}

std::vector<ApiKeys::HashedKey> ApiKeys::read(const std::filesystem::path& file) {
  constexpr std::string_view kHashed = "sha256:";
  std::vector<HashedKey> keys;
  std::size_t number = 0;
  for (const std::string& line : read_lines(file)) {
    ++number;
    const std::string_view text = strip(line);
    if (text.empty() || text.starts_with('#')) continue;
    const std::string_view key = text.substr(0, text.find_first_of(" \t"));
    const std::string_view quota = strip(text.substr(key.size()));
    std::optional<Hash> hash = sha256(key);
    if (key.starts_with(kHashed)) hash = parse_hash(key.substr(kHashed.size()));
    if (!hash) throw Error(file.string(), ":", number, ": sha256: needs 64 hexadecimal digits");
    Use use;
    if (!quota.empty()) use.limit = parse_limit(quota);
    if (!quota.empty() && !use.limit)
      throw Error(
          file.string(), ":", number, ": '", quota,
          "' is not a limit: after a key comes the number of characters per month, or nothing");
    keys.push_back({.hash = *hash, .use = use});
  }
  if (keys.empty()) throw Error(file.string(), ": has no key");
  return keys;
}

void ApiKeys::reload() {
  const std::vector<HashedKey> read_now = read(file_);
  const MutexLock lock(mutex_);
  for (HashedKey& key : keys_) key.is_known = false;
  for (const HashedKey& key : read_now) {
    const auto known = std::ranges::find(keys_, key.hash, &HashedKey::hash);
    if (known == keys_.end()) {
      keys_.push_back(key);
    } else {
      known->is_known = true;
      known->use.limit = key.use.limit;
    }
  }
}

std::optional<ApiKeys::Key> ApiKeys::find(std::string_view key) const {
  const Hash hash = sha256(key);
  const MutexLock lock(mutex_);
  std::optional<Key> found;
  for (std::size_t k = 0; k < keys_.size(); ++k)
    if (memeql_sec(keys_[k].hash.data(), hash.data(), hash.size()) != 0 && keys_[k].is_known)
      found = k;
  return found;
}

std::string ApiKeys::owner_of(Key key) const {
  const MutexLock lock(mutex_);
  const Hash& hash = keys_[key].hash;
  std::string name;
  for (std::size_t i = 0; i < hash.size() / 2; ++i) append_hexadecimal(name, hash[i]);
  return name;
}

void ApiKeys::begin_month() {
  const int month = month_of(now_());
  if (month == month_) return;
  month_ = month;
  for (HashedKey& key : keys_) key.use.characters = 0;
}

std::optional<ApiKeys::Taken> ApiKeys::take(Key key, std::int64_t characters) {
  const MutexLock lock(mutex_);
  begin_month();
  Use& use = keys_[key].use;
  if (use.limit && characters > *use.limit - use.characters) return std::nullopt;
  use.characters += characters;
  return Taken{.key = key, .characters = characters, .month = month_};
}

void ApiKeys::give_back(const Taken& taken) {
  const MutexLock lock(mutex_);
  begin_month();
  if (taken.month == month_) keys_[taken.key].use.characters -= taken.characters;
}

ApiKeys::Use ApiKeys::use_of(Key key) {
  const MutexLock lock(mutex_);
  begin_month();
  return keys_[key].use;
}

// ---- requests per minute ------------------------------------------------------------------------

namespace {

using std::chrono::minutes;

constexpr std::size_t kMostClients = 100'000;  // clients whose minutes are kept

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

// ---- origins and names --------------------------------------------------------------------------

namespace {

bool is_made_of(std::string_view text, std::string_view characters) {
  return !text.empty() && text.find_first_not_of(characters) == std::string_view::npos;
}

/// A name, an address, or an address of IPv6 in brackets.
bool is_host(std::string_view text) {
  if (text.starts_with('[') && text.ends_with(']'))
    return is_made_of(text.substr(1, text.size() - 2), "0123456789abcdef:.");
  return is_made_of(text, "abcdefghijklmnopqrstuvwxyz0123456789-._");
}

bool is_port(std::string_view text, std::string_view scheme) {
  constexpr std::size_t kLongest = 5;
  if (!is_made_of(text, "0123456789") || text.starts_with('0') || text.size() > kLongest)
    return false;
  return !(scheme == "http" && text == "80") && !(scheme == "https" && text == "443");
}

}  // namespace

bool is_web_origin(std::string_view text) {
  constexpr std::string_view kAfterScheme = "://";
  if (text == "null") return true;
  const std::size_t end = text.find(kAfterScheme);
  if (end == std::string_view::npos) return false;
  const std::string_view scheme = text.substr(0, end);
  const std::string_view place = text.substr(end + kAfterScheme.size());
  const std::size_t bracket = std::min(place.find(']'), place.size());
  const std::size_t colon = place.find(':', place.starts_with('[') ? bracket : 0);
  if (!is_made_of(scheme, "abcdefghijklmnopqrstuvwxyz0123456789+-.")) return false;
  if (colon == std::string_view::npos) return is_host(place);
  return is_host(place.substr(0, colon)) && is_port(place.substr(colon + 1), scheme);
}

std::string host_of_url(std::string_view url) {
  const std::size_t scheme = url.find("://");
  if (scheme == url.npos) return {};
  const std::string_view rest = url.substr(scheme + 3);
  return std::string(rest.substr(0, rest.find_first_of("/?#")));
}

std::string host_name_of(std::string_view host) {
  const std::size_t bracket = host.starts_with('[') ? host.find(']') : 0;
  const std::size_t end = std::min(host.find(':', std::min(bracket, host.size())), host.size());
  const std::string_view port = host.substr(end);
  if (port.size() > 1 && !is_made_of(port.substr(1), "0123456789")) return {};
  std::string name = ascii_lower(host.substr(0, end));
  if (name.ends_with('.')) name.pop_back();
  return is_host(name) ? name : "";
}

bool is_loopback_name(std::string_view name) {
  in_addr address{};
  if (name.starts_with("127.") && inet_pton(AF_INET, std::string(name).c_str(), &address) == 1)
    return true;
  return name == "localhost" || name.ends_with(".localhost") || name == "::1" || name == "[::1]";
}

std::string random_name() {
  std::array<std::uint8_t, 16> bytes{};
  if (getrandom(bytes.data(), bytes.size(), 0) != static_cast<ssize_t>(bytes.size()))
    throw Error("no random numbers: ", std::strerror(errno));
  bytes[6] = static_cast<std::uint8_t>((bytes[6] & 0x0F) | 0x40);
  bytes[8] = static_cast<std::uint8_t>((bytes[8] & 0x3F) | 0x80);
  std::string name;
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    if (i == 4 || i == 6 || i == 8 || i == 10) name += '-';
    append_hexadecimal(name, bytes[i]);
  }
  return name;
}

}  // namespace dragoman
