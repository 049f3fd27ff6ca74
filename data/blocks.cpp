#include "data/blocks.h"

#include <algorithm>

#include "base/divide_up.h"
#include "base/threads.h"
#include "data/preparation_stopped.h"

namespace dragoman {

std::int64_t blocks_at_once(const WorkContext& context) {
  return std::int64_t{8} * context.threads;
}

void for_each_block(std::int64_t pairs, const WorkContext& context,
                    const std::function<void(std::int64_t, std::int64_t, std::int64_t)>& block,
                    const std::function<void(std::int64_t)>& done) {
  const std::int64_t blocks = divide_up(pairs, kPairsPerBlock);
  const std::int64_t at_once = blocks_at_once(context);
  for (std::int64_t begin = 0; begin < blocks; begin += at_once) {
    if (context.stop.stop_requested()) throw PreparationStopped();
    const std::int64_t end = std::min(begin + at_once, blocks);
    parallel_for(end - begin, context.threads, [&](std::int64_t i) {
      const std::int64_t first = (begin + i) * kPairsPerBlock;
      block(begin + i, first, std::min(first + kPairsPerBlock, pairs));
    });
    for (std::int64_t number = begin; number < end; ++number) done(number);
    context.report(std::min(end * kPairsPerBlock, pairs), pairs);
  }
}

}  // namespace dragoman
