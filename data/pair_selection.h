// The pairs of the training text that are copies of an earlier one, and those that are held out for
// validation. 64-bit hashes of the text decide, before anything is encoded.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "data/blocks.h"
#include "data/data_config.h"
#include "data/parallel_text.h"
#include "data/sorted_hashes.h"

namespace dragoman {

/// The same for pairs that are one; never 0, and even. The lines must be valid UTF-8.
std::uint64_t pair_hash(PairIdentity identity, std::string_view source, std::string_view target);

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
