// Translated files that wait to be fetched: in memory, for a while, under names that nobody can
// guess.
#pragma once

#include <chrono>
#include <cstdint>
#include <list>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>

#include "base/mutex.h"

namespace dragoman {

struct TranslatedFile {
  std::string name;  ///< as its reader knows it: "letter_de.txt"
  std::string text;
};

class TranslatedFiles {
 public:
  using Time = std::chrono::steady_clock::time_point;

  struct Limits {
    std::int64_t bytes = 67'108'864;  ///< of memory; the oldest files make room for new ones
    std::chrono::seconds age{1800};
  };

  TranslatedFiles() = default;
  explicit TranslatedFiles(const Limits& limits) : limits_(limits) {}

  /// Returns the name under which the file can be fetched: a UUID, a full stop and its own name.
  std::string keep(TranslatedFile file, Time now);
  /// Nothing where there is no such file (any more).
  std::optional<TranslatedFile> find(std::string_view name, Time now);

 private:
  struct Kept {
    std::string name;
    TranslatedFile file;
    Time since;

    std::int64_t bytes() const;
  };
  void drop_old(Time now) REQUIRES(mutex_);
  void drop_first() REQUIRES(mutex_);

  const Limits limits_ = {};
  Mutex mutex_;
  std::list<Kept> files_ GUARDED_BY(mutex_);  // the oldest first
  std::unordered_map<std::string_view, const Kept*> by_name_ GUARDED_BY(mutex_);
  std::int64_t bytes_ GUARDED_BY(mutex_) = 0;
};

/// The last part of a path, without characters that mean something to a shell, a header or a file
/// system; "file" where nothing is left.
std::string safe_file_name(std::string_view name);

}  // namespace dragoman
