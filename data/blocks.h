// Work over the pairs of a text, in blocks of them on several threads.
#pragma once

#include <cstdint>
#include <functional>
#include <stop_token>

namespace dragoman {

/// Threads, stop and progress of long work over the text.
struct WorkContext {
  int threads;
  std::stop_token stop;
  std::function<void(std::int64_t done, std::int64_t total)> report;  ///< never empty
};

inline constexpr std::int64_t kPairsPerBlock = 2048;

/// Calls block(number, first, last) for each block of pairs [first, last), on all threads. After
/// every few blocks it calls done(number) for each of them in order, on this thread. Throws
/// PreparationStopped.
void for_each_block(std::int64_t pairs, const WorkContext& context,
                    const std::function<void(std::int64_t, std::int64_t, std::int64_t)>& block,
                    const std::function<void(std::int64_t)>& done);
/// The number of blocks between two rounds of done(). The numbers of these blocks are
/// [k * count, (k + 1) * count).
std::int64_t blocks_at_once(const WorkContext& context);

}  // namespace dragoman
