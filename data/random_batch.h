// Batches of random tokens, to measure the time and memory of updates where there is no text yet.
#pragma once

#include <cstdint>

#include "data/packed_batch.h"

namespace dragoman {

struct RandomText {
  std::int64_t vocabulary;  ///< of both sides; ids below 3 do not occur
  std::int64_t length;      ///< tokens of a sentence
  std::int64_t spread;      ///< sentences have up to this many tokens more or less; below `length`
  std::int64_t batch_tokens;  ///< most tokens of either side of a batch
};

/// The batch is a function of seed and number.
PackedBatch random_batch(const RandomText& text, std::uint64_t seed, std::uint64_t number);

}  // namespace dragoman
