// The pairs of the training text that are copies of an earlier one, and those that are held out for
// validation. 64-bit hashes of the text decide, before anything is encoded.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "base/files.h"
#include "data/data_config.h"
#include "data/parallel_text.h"

namespace dragoman {

/// The space for sorting.
struct SortSpace {
  std::filesystem::path folder;  ///< of the file of the runs, 8 bytes a hash
  std::size_t most_in_memory = 10'000'000;
};

/// Sorts more hashes than memory should hold: in sorted runs in a file without a name, which are
/// then merged.
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
  std::unique_ptr<UnnamedFile> file_;  ///< of the runs, if there are any
  std::vector<std::size_t> run_ends_;  ///< in hashes
};

/// Equal for two pairs that are copies of each other: equal after normalisation, whatever their
/// case and white space. Never 0, and even. The lines must be valid UTF-8.
std::uint64_t pair_hash(std::string_view source, std::string_view target);

enum class Fate { Train, Duplicate, HoldOut };

class PairSelection {
 public:
  /// While it works, it takes 8 bytes for each of the pairs that `space` allows in memory; later 8
  /// bytes and a bit for each pair that has copies.
  ///
  /// Without validation files it holds out data.valid_fraction of the different pairs, at least 100
  /// and at most 2,000. If there are few pairs, it holds out a tenth of them, or this fraction if
  /// that is more. They are the first pairs in a random order by (seed, content). If some files
  /// have no tag, only pairs of those files are held out. Copies of a held-out pair count as
  /// duplicates, even if duplicates are kept. `text` must outlive the selection.
  PairSelection(const ParallelText& text, const DataConfig& data, std::uint64_t seed,
                const WorkContext& context, const SortSpace& space);

  /// The fate of the pair. To be asked once for each pair, in order.
  Fate next(std::int64_t pair, std::uint64_t hash);

 private:
  void find_copies_and_held_out(SortedHashes& hashes, double fraction, std::uint64_t seed);
  bool may_be_held_out(std::int64_t pair) const;
  bool seen_before(std::uint64_t hash);

  const ParallelText& text_;
  bool keep_duplicates_;
  std::vector<bool> hold_out_file_;      ///< [files]
  std::vector<std::uint64_t> held_out_;  ///< sorted hashes
  std::vector<std::uint64_t> copied_;    ///< sorted hashes that more than one pair has
  std::vector<bool> seen_;               ///< of copied_
};

}  // namespace dragoman
