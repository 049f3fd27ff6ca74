#include "base/unfinished.h"

#include <set>
#include <system_error>

#include "base/mutex.h"

namespace dragoman {

namespace {

/// Never destroyed: a signal may come while main returns.
struct Unfinished {
  Mutex mutex;
  std::set<std::filesystem::path> paths GUARDED_BY(mutex);
};

Unfinished& unfinished() {
  static auto* const all = new Unfinished;
  return *all;
}

}  // namespace

void add_unfinished(const std::filesystem::path& path) {
  Unfinished& all = unfinished();
  const MutexLock lock(all.mutex);
  all.paths.insert(path);
}

void forget_unfinished(const std::filesystem::path& path) noexcept {
  Unfinished& all = unfinished();
  const MutexLock lock(all.mutex);
  all.paths.erase(path);
}

void remove_unfinished() noexcept {
  Unfinished& all = unfinished();
  const MutexLock lock(all.mutex);
  std::error_code ignored;
  constexpr int kTries = 100;  // another thread may be at work in a folder
  for (const auto& path : all.paths)
    for (int i = 0; i < kTries && std::filesystem::exists(path, ignored); ++i)
      std::filesystem::remove_all(path, ignored);
  all.paths.clear();
}

}  // namespace dragoman
