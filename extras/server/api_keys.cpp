#include "extras/server/api_keys.h"

#include <nettle/memops.h>
#include <nettle/sha2.h>

#include <algorithm>
#include <charconv>
#include <utility>

#include "base/error.h"
#include "base/text_lines.h"
#include "base/utf8.h"

namespace dragoman {

namespace {

using Hash = std::array<std::uint8_t, SHA256_DIGEST_SIZE>;

std::optional<Hash> parse_hash(std::string_view digits) {
  Hash hash;
  if (digits.size() != 2 * hash.size()) return std::nullopt;
  for (std::size_t i = 0; i < hash.size(); ++i) {
    const char* at = digits.data() + 2 * i;
    if (std::from_chars(at, at + 2, hash[i], 16).ptr != at + 2) return std::nullopt;
  }
  return hash;
}

std::optional<std::int64_t> parse_limit(std::string_view text) {
  std::int64_t limit = 0;
  const char* end = text.data() + text.size();
  const auto [read, error] = std::from_chars(text.data(), end, limit);
  if (error != std::errc() || read != end || limit < 0) return std::nullopt;
  return limit;
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
          "' is no limit: behind a key stands the number of characters of a month, or nothing");
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
  constexpr std::string_view kDigits = "0123456789abcdef";
  const MutexLock lock(mutex_);
  const Hash& hash = keys_[key].hash;
  std::string name;
  for (std::size_t i = 0; i < hash.size() / 2; ++i) {
    name += kDigits[hash[i] >> 4];
    name += kDigits[hash[i] & 15];
  }
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

}  // namespace dragoman
