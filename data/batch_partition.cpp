#include "data/batch_partition.h"

#include <algorithm>

namespace dragoman {

namespace {

/// A share is not smaller than this: products with fewer rows, and a gradient to sum for each
/// share, take more time than threads that meet in every operation.
constexpr std::int64_t kTokensPerShare = 512;

std::vector<BatchView> shares_of(const BatchView& part, std::int64_t threads) {
  const std::int64_t count =
      std::clamp<std::int64_t>(part.largest_side() / kTokensPerShare, 1, threads);
  const std::size_t sentences = part.sentences.size();
  const auto tokens_before = [&part](std::size_t b) {
    return std::int64_t{part.source.starts[b]} + part.target.starts[b];
  };
  const std::int64_t first = tokens_before(0), tokens = tokens_before(sentences) - first;
  std::vector<BatchView> shares;
  for (std::size_t begin = 0, end = 0; begin < sentences; begin = end) {
    const auto number = static_cast<std::int64_t>(shares.size()) + 1;
    for (end = begin + 1; end < sentences; ++end)
      if ((tokens_before(end) - first) * count >= tokens * number) break;
    shares.emplace_back(part, begin, end);
  }
  return shares;
}

void add_parts(std::vector<BatchPart>& parts, const BatchView& batch,
               const PartitionConfig& config) {
  const std::size_t sentences = batch.sentences.size();
  if (config.part_tokens == 0 || sentences < 2 || batch.largest_side() <= config.part_tokens) {
    parts.push_back({batch, shares_of(batch, config.threads)});
    return;
  }
  add_parts(parts, {batch, 0, sentences / 2}, config);
  add_parts(parts, {batch, sentences / 2, sentences}, config);
}

}  // namespace

std::vector<BatchPart> partition(const PackedBatch& batch, const PartitionConfig& config) {
  std::vector<BatchPart> parts;
  add_parts(parts, batch, config);
  return parts;
}

}  // namespace dragoman
