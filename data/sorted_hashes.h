// Sorts more numbers than memory should hold: in sorted runs in a file without a name, which are
// then merged.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "base/unnamed_file.h"

namespace dragoman {

/// The space for sorting.
struct SortSpace {
  std::filesystem::path folder;  ///< of the file of the runs, 8 bytes a hash
  std::size_t most_in_memory = 10'000'000;
};

class SortedHashes {
 public:
  explicit SortedHashes(SortSpace space) : space_(std::move(space)) {}

  void add(std::span<const std::uint64_t> hashes);
  /// Calls visit(hash) for all hashes that were added, in rising order. May be called once.
  void for_each(const std::function<void(std::uint64_t)>& visit);

 private:
  void write_run();

  SortSpace space_;
  std::vector<std::uint64_t> hashes_;  ///< not yet in a run
  std::unique_ptr<UnnamedFile> file_;  ///< of the runs, where there are any
  std::vector<std::size_t> run_ends_;  ///< in hashes
};

}  // namespace dragoman
