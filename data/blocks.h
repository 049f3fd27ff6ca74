// Work over the pairs of a text, in blocks of them on several threads.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <stop_token>
#include <vector>

#include "base/divide_up.h"
#include "base/threads.h"
#include "data/preparation_stopped.h"

namespace dragoman {

/// Threads, stop and progress of long work over the text.
struct WorkContext {
  int threads;
  std::stop_token stop;
  std::function<void(std::int64_t done, std::int64_t total)> report;  ///< never empty
};

inline constexpr std::int64_t kPairsPerBlock = 2048;

/// Calls make(first, last) for each block of pairs [first, last), on all threads. After every few
/// blocks it calls take(result) for the results in order, on this thread, and reports. Throws
/// PreparationStopped.
template <class Make, class Take>
void for_each_block(std::int64_t pairs, const WorkContext& context, Make&& make, Take&& take) {
  const std::int64_t blocks = divide_up(pairs, kPairsPerBlock);
  const std::int64_t at_once = std::int64_t{8} * context.threads;
  std::vector<decltype(make(pairs, pairs))> results(static_cast<std::size_t>(at_once));
  for (std::int64_t begin = 0; begin < blocks; begin += at_once) {
    if (context.stop.stop_requested()) throw PreparationStopped();
    const std::int64_t end = std::min(begin + at_once, blocks);
    parallel_for(end - begin, context.threads, [&](std::int64_t i) {
      const std::int64_t first = (begin + i) * kPairsPerBlock;
      results[static_cast<std::size_t>(i)] = make(first, std::min(first + kPairsPerBlock, pairs));
    });
    for (std::int64_t i = 0; i < end - begin; ++i) take(results[static_cast<std::size_t>(i)]);
    context.report(std::min(end * kPairsPerBlock, pairs), pairs);
  }
}

}  // namespace dragoman
