// The random numbers of numpy.random.default_rng(seed), so that resampled corpora are the same as
// sacreBLEU's: PCG64 (O'Neill 2014, PCG XSL RR 128/64) seeded by numpy's SeedSequence.
#pragma once

#include <cstdint>

namespace dragoman {

class NumpyRandom {
 public:
  explicit NumpyRandom(std::uint32_t seed);

  std::uint64_t next64();
  /// Halves of a 64-bit number, the lower one first.
  std::uint32_t next32();
  /// rng.integers(0, count), count from 1 to 2^32 - 1 (Lemire 2019).
  std::uint32_t below(std::uint32_t count);

 private:
  unsigned __int128 state_, increment_;
  std::uint32_t upper_half_ = 0;
  bool has_upper_half_ = false;
};

}  // namespace dragoman
