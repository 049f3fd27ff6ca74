// The hypotheses of sentences that were translated before, for sentences that come again. Its
// memory is limited: the sentences that have not been asked for the longest make room.
#pragma once

#include <cstddef>
#include <cstdint>
#include <list>
#include <memory>
#include <optional>
#include <unordered_map>
#include <vector>

#include "base/mutex.h"
#include "inference/scheduler.h"
#include "inference/search/search.h"

namespace dragoman {

/// Threads may call its functions at once.
class SentenceCache {
 public:
  /// All that a search's result depends on. Settings are the same if they are one object.
  struct Key {
    std::shared_ptr<const SearchSettings> settings;
    bool has_attention;
    std::vector<TokenId> tokens;

    bool operator==(const Key&) const = default;
  };
  struct Counts {
    std::int64_t found = 0, missed = 0;  ///< calls of find()
    std::int64_t bytes = 0;              ///< that it takes, about
  };

  /// With 0 bytes it keeps nothing.
  explicit SentenceCache(std::int64_t bytes) : most_bytes_(bytes) {}

  /// Nothing if the result depends on more than a key has: random draws, required tokens.
  std::optional<Key> key_of(const SourceSentence& sentence) const;

  /// Best first; nothing for a sentence that is not kept.
  std::optional<std::vector<Hypothesis>> find(const Key& key);
  /// Keeps a copy, unless there is no memory for it, or it would take more than an eighth of the
  /// cache.
  void keep(Key key, const std::vector<Hypothesis>& hypotheses) noexcept;

  Counts counts() const;

 private:
  struct Kept {
    Key key;
    std::vector<Hypothesis> hypotheses;
    std::int64_t bytes;
  };
  using Order = std::list<Kept>;
  struct Hash {
    std::size_t operator()(const Key* key) const;
  };
  struct Same {
    bool operator()(const Key* a, const Key* b) const { return *a == *b; }
  };

  void insert(Key key, const std::vector<Hypothesis>& hypotheses);

  const std::int64_t most_bytes_;
  mutable Mutex mutex_;
  Order order_ GUARDED_BY(mutex_);  // those that were asked for last come first
  std::unordered_map<const Key*, Order::iterator, Hash, Same> places_ GUARDED_BY(mutex_);
  Counts counts_ GUARDED_BY(mutex_);
};

}  // namespace dragoman
