// Damages sound files for tests: the result must be an Error or a sound value.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "base/random.h"
#include "tests/extras/formats/exercise.h"

namespace dragoman {

/// The sizes of the beginnings of the file that are accepted. Each beginning is in memory of
/// exactly its size, so that AddressSanitizer sees a read beyond it.
inline std::vector<std::size_t> accepted_beginnings(const std::string& sound, Exercise exercise) {
  std::vector<std::size_t> accepted;
  for (std::size_t size = 0; size < sound.size(); ++size) {
    const std::vector<char> beginning(sound.begin(), sound.begin() + static_cast<long>(size));
    if (exercise({beginning.data(), size})) accepted.push_back(size);
  }
  return accepted;
}

/// How many of 20,000 copies with one to four changed bytes are refused. `pack` makes the file of
/// the changed bytes.
template <class Pack>
int refused_flips(const std::string& sound, Exercise exercise, Pack pack) {
  EXPECT_TRUE(exercise(pack(sound)));
  RandomStream random(7);
  int refused = 0;
  for (int i = 0; i < 20'000; ++i) {
    std::string damaged = sound;
    for (std::uint64_t flips = 1 + random.below(4); flips > 0; --flips)
      damaged[random.below(damaged.size())] = static_cast<char>(random());
    const std::string packed = pack(std::move(damaged));
    const std::vector<char> exact(packed.begin(), packed.end());
    refused += exercise({exact.data(), exact.size()}) ? 0 : 1;
  }
  return refused;
}

inline int refused_flips(const std::string& sound, Exercise exercise) {
  return refused_flips(sound, exercise, [](std::string bytes) { return bytes; });
}

}  // namespace dragoman
