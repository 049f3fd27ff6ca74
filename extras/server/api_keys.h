// The keys of those who may use a server, and what each has used. A key itself is kept nowhere:
// only its SHA-256 is.
#pragma once

#include <array>
#include <cstdint>
#include <ctime>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/mutex.h"

namespace dragoman {

class ApiKeys {
 public:
  /// Number of a key in the file, from 0.
  using Key = std::size_t;
  struct Use {
    std::int64_t characters = 0;        ///< in this month (UTC), since the program was started
    std::optional<std::int64_t> limit;  ///< characters in a month; none: no limit
  };

  /// Characters that were taken out of a key's quota.
  struct Taken {
    Key key;
    std::int64_t characters;
    int month;
  };
  using Now = std::function<std::time_t()>;

  /// A line for each key: the key, or "sha256:" and its SHA-256 in hexadecimal digits; then, where
  /// the key has a limit, white space and the characters of a month. Blank lines and lines that
  /// begin with # are skipped. Throws Error naming file and line.
  explicit ApiKeys(
      std::filesystem::path file, Now now = [] { return std::time(nullptr); });

  /// Reads the file again. A key that is still there keeps its number and its use, one that is gone
  /// is unknown from now on. Throws Error as at first, and then all stays as it was.
  void reload();

  /// The number of a key; nothing for an unknown one. It takes the same time, however many
  /// characters of a key are right.
  std::optional<Key> find(std::string_view key) const;

  /// A name for what belongs to a key, which stays the same wherever the key stands in the file:
  /// the first half of its SHA-256 in hexadecimal digits.
  std::string owner_of(Key key) const;

  /// Takes the characters out of the key's quota, all of them or none. Nothing where too few are
  /// left.
  std::optional<Taken> take(Key key, std::int64_t characters);
  /// For what was not translated after all. What was taken in another month has no effect on this
  /// one.
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

}  // namespace dragoman
