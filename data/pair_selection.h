// The pairs of the training text that are copies of an earlier one, and those that are held out for
// validation. 64-bit hashes of the text decide, before anything is encoded.
#pragma once

#include <cstdint>
#include <functional>
#include <stop_token>
#include <string_view>
#include <vector>

#include "data/data_config.h"
#include "data/parallel_text.h"
#include "data/sorted_hashes.h"

namespace dragoman {

/// Threads, stop and progress of long work over the text.
struct WorkContext {
  int threads;
  std::stop_token stop;
  std::function<void(std::int64_t done, std::int64_t total)> report;  ///< never empty
};

/// Calls block(number, first, last) for each run of kLinesPerBlock pairs, on all threads. After
/// every few blocks it calls done(number) for each of them in order, on this thread. Throws
/// PreparationStopped.
void for_each_block(std::int64_t pairs, const WorkContext& context,
                    const std::function<void(std::int64_t, std::int64_t, std::int64_t)>& block,
                    const std::function<void(std::int64_t)>& done);
inline constexpr std::int64_t kLinesPerBlock = 2048;
/// The number of blocks between two calls of done(). Their numbers are [k * count, (k + 1) *
/// count).
std::int64_t blocks_at_once(const WorkContext& context);

/// The hash of the two lines; never 0, and even.
std::uint64_t pair_hash(std::string_view source, std::string_view target);

enum class Fate { Train, Duplicate, HoldOut };

class PairSelection {
 public:
  /// While it works, it takes 8 bytes for each of the pairs that `space` allows in memory; later 8
  /// bytes and a bit for each pair that has copies.
  ///
  /// Without validation files it holds out data.valid_fraction of the different pairs, at least 100
  /// and at most 2,000. Of few pairs it holds out a tenth, or this fraction if that is more. They
  /// are the first pairs in a random order by (seed, content). Where some files have no tag, only
  /// pairs of those are held out. Copies of a held-out pair count as duplicates, also where
  /// duplicates are kept. `text` must outlive the selection.
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
