// Who may use the server, how often and under what name: API keys with their quotas, requests per
// minute, origins of web pages, names of hosts; and names that nobody can guess.
#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <ctime>
#include <filesystem>
#include <functional>
#include <list>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/mutex.h"

namespace dragoman {

/// The keys of those who may use a server, and what each has used. A key itself is kept nowhere:
/// only its SHA-256 is.
class ApiKeys {
 public:
  /// Number of a key in the file, from 0.
  using Key = std::size_t;
  struct Use {
    std::int64_t characters = 0;        ///< in this month (UTC), since the program was started
    std::optional<std::int64_t> limit;  ///< characters per month; none: no limit
  };

  /// Characters that were taken out of a key's quota.
  struct Taken {
    Key key;
    std::int64_t characters;
    int month;
  };
  using Now = std::function<std::time_t()>;

  /// A line for each key: the key, or "sha256:" and its SHA-256 in hexadecimal digits; if the key
  /// has a limit, white space and the characters per month follow. Blank lines and lines that begin
  /// with # are skipped. Throws Error naming file and line.
  explicit ApiKeys(
      std::filesystem::path file, Now now = [] { return std::time(nullptr); });

  /// Reads the file again. A key that is still there keeps its number and its use; one that is gone
  /// is unknown from now on. Throws Error as the constructor does; then nothing has changed.
  void reload();

  /// The number of a key; nothing for an unknown one. It takes the same time however many
  /// characters of a key are right.
  std::optional<Key> find(std::string_view key) const;

  /// A name for what belongs to a key, which stays the same wherever the key stands in the file:
  /// the first half of its SHA-256 in hexadecimal digits.
  std::string owner_of(Key key) const;

  /// Takes the characters out of the key's quota, all of them or none. Nothing if too few are left.
  std::optional<Taken> take(Key key, std::int64_t characters);
  /// For texts that were not translated after all. Characters that were taken in another month have
  /// no effect on this one.
  void give_back(const Taken& taken);
  Use use_of(Key key);

 private:
  using Hash = std::array<std::uint8_t, 32>;
  struct HashedKey {
    Hash hash;
    Use use;
    bool is_known = true;  ///< the file still has it
  };
  static Hash sha256(std::string_view text);
  static std::vector<HashedKey> read(const std::filesystem::path& file);
  void begin_month() REQUIRES(mutex_);

  const std::filesystem::path file_;
  const Now now_;
  mutable Mutex mutex_;
  std::vector<HashedKey> keys_ GUARDED_BY(mutex_);  // none is taken out, so numbers stay
  int month_ GUARDED_BY(mutex_) = 0;
};

/// Bounds the requests of each client per minute.
class RequestRate {
 public:
  using Time = std::chrono::steady_clock::time_point;

  /// `limit` requests per minute; below 0: any number.
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

/// Whether it is an origin as browsers write it in the header Origin: "https://example.org",
/// "http://localhost:3000", "null". They write it in lower case, with a port if it is not the
/// scheme's own, and with nothing after it (RFC 6454, section 6.2).
bool is_web_origin(std::string_view text);

/// The host of a web address: "example.org:8443" of "https://example.org:8443/a"; empty if the text
/// is not one.
std::string host_of_url(std::string_view url);

/// The name or address in a header Host, in lower case and without the port and a full stop at its
/// end: "example.org", "127.0.0.1", "[::1]". Empty if the text is not a host.
std::string host_name_of(std::string_view host);

/// Whether a name or address always means the machine itself: "localhost" and all that end in
/// ".localhost" (RFC 6761, section 6.3), 127.0.0.0/8, "::1" and "[::1]".
bool is_loopback_name(std::string_view name);

/// A random UUID (RFC 9562, version 4): 122 bits of the system's random numbers. Throws Error if
/// the system gives none.
std::string random_name();

}  // namespace dragoman
