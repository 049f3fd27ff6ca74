// Counters of a server's work, as Prometheus reads them.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <utility>

#include "base/mutex.h"
#include "extras/server/served_models.h"

namespace dragoman {

/// A request that has been answered, without its text.
struct AnsweredRequest {
  std::string client, method, path;
  int status = 0;
  bool refused = false;  ///< too much waits, or the server stops
  double seconds = 0;
  std::string languages = {};  ///< "en-de" of a translation, "de-en-fr" with a pivot
  std::int64_t texts = 0, characters = 0, target_tokens = 0;
  std::string fault = {};  ///< of the server, which the client is not told
};

class Metrics {
 public:
  void begin() noexcept;
  /// Once for each begin(). `path` is one of the server's own, or "other", so there are few. If
  /// memory runs out, the numbers of the path lack this request.
  void end(const AnsweredRequest& request, const std::string& path) noexcept;

  std::int64_t characters() const;  ///< that were translated or explained

  /// Prometheus' text format 0.0.4. `damaged_glossaries`: files that cannot be read.
  std::string text(const ServedModels& models, std::int64_t damaged_glossaries) const;

 private:
  void count(const AnsweredRequest& request, const std::string& path) REQUIRES(mutex_);

  /// Seconds; a bucket counts the requests that took no longer.
  static constexpr std::array kBounds = {0.005, 0.01, 0.025, 0.05, 0.1,  0.25, 0.5,
                                         1.0,   2.5,  5.0,   10.0, 30.0, 60.0};
  struct Durations {
    std::array<std::int64_t, kBounds.size()> counts{};
    std::int64_t count = 0;
    double sum = 0;
  };

  mutable Mutex mutex_;
  std::map<std::pair<std::string, int>, std::int64_t> requests_ GUARDED_BY(mutex_);
  std::map<std::string, Durations> durations_ GUARDED_BY(mutex_);
  std::int64_t under_way_ GUARDED_BY(mutex_) = 0;
  std::int64_t refused_ GUARDED_BY(mutex_) = 0;
  std::int64_t texts_ GUARDED_BY(mutex_) = 0;
  std::int64_t characters_ GUARDED_BY(mutex_) = 0;
  std::int64_t target_tokens_ GUARDED_BY(mutex_) = 0;
};

}  // namespace dragoman
