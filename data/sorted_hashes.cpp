#include "data/sorted_hashes.h"

#include <algorithm>
#include <queue>
#include <utility>

namespace dragoman {

namespace {

using Run = std::span<const std::uint64_t>;

void merge(std::vector<Run> runs, const std::function<void(std::uint64_t)>& visit) {
  using Head = std::pair<std::uint64_t, std::size_t>;  // the run's next hash, its number
  std::priority_queue<Head, std::vector<Head>, std::greater<>> heads;
  const auto push = [&](std::size_t run) {
    if (!runs[run].empty()) heads.emplace(runs[run].front(), run);
  };
  for (std::size_t run = 0; run < runs.size(); ++run) push(run);
  while (!heads.empty()) {
    const auto [hash, run] = heads.top();
    heads.pop();
    visit(hash);
    runs[run] = runs[run].subspan(1);
    push(run);
  }
}

}  // namespace

void SortedHashes::add(std::span<const std::uint64_t> hashes) {
  for (const std::uint64_t hash : hashes) {
    if (hashes_.size() == space_.most_in_memory) write_run();
    hashes_.push_back(hash);
  }
}

void SortedHashes::write_run() {
  if (!file_) file_ = std::make_unique<UnnamedFile>(space_.folder);
  std::sort(hashes_.begin(), hashes_.end());
  file_->append(hashes_.data(), hashes_.size() * sizeof hashes_[0]);
  run_ends_.push_back((run_ends_.empty() ? 0 : run_ends_.back()) + hashes_.size());
  hashes_.clear();
}

void SortedHashes::for_each(const std::function<void(std::uint64_t)>& visit) {
  std::sort(hashes_.begin(), hashes_.end());
  std::vector<Run> runs = {hashes_};
  MappedFile mapped;
  if (file_) mapped = file_->map();
  const auto* stored = reinterpret_cast<const std::uint64_t*>(mapped.data());
  for (std::size_t begin = 0; const std::size_t end : run_ends_) {
    runs.push_back({stored + begin, stored + end});
    begin = end;
  }
  merge(std::move(runs), visit);
}

}  // namespace dragoman
