#include "data/packed_batch.h"

#include <bit>

#include "base/random.h"
#include "base/threads.h"

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
    const auto number = std::ssize(shares) + 1;
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

namespace {

/// Queries that LibTorch's flash attention takes at a time: its work has this grain.
constexpr std::int64_t kFlashBlock = 128;

/// `size` or more: a number with at most four binary digits before its zeros.
std::int64_t rounded_up(std::int64_t size) {
  const int digits = std::bit_width(static_cast<std::uint64_t>(size));
  const auto step = std::int64_t{1} << std::max(digits - 4, 0);
  return divide_up(size, step) * step;
}

std::int64_t rounded_sentences(std::int64_t sentences, ShapeUse use) {
  if (use == ShapeUse::Padded) return rounded_up(sentences);
  return static_cast<std::int64_t>(std::bit_ceil(static_cast<std::uint64_t>(sentences)));
}

std::int64_t longest_of(const SideView& side) {
  std::int64_t longest = 0;
  for (std::size_t b = 1; b < side.starts.size(); ++b)
    longest = std::max<std::int64_t>(longest, side.starts[b] - side.starts[b - 1]);
  return longest;
}

SideShape shape_of(const SideView& side, std::int64_t filler_sentences, ShapeUse use,
                   std::int64_t longest_allowed) {
  const std::int64_t longest = longest_of(side);
  const std::int64_t rounded =
      use == ShapeUse::Padded ? rounded_up(longest) : divide_up(longest, kFlashBlock) * kFlashBlock;
  return {.rows = rounded_up(side.size() + filler_sentences),
          .longest = std::max(longest, std::min(rounded, longest_allowed))};
}

struct FillerSentences {
  std::int64_t all, used;  ///< the used ones have tokens, on both sides
};

FillerSentences filler_for(const BatchView& batch, const BatchShape& shape) {
  const std::int64_t all = shape.sentences - std::ssize(batch.sentences);
  return {all, std::min({all, shape.source.rows - batch.source.size(),
                         shape.target.rows - batch.target.size()})};
}

/// Filler sentences of about the same length, then empty ones.
PackedSide filled_side(const SideView& side, std::int64_t rows, const FillerSentences& sentences) {
  PackedSide result{.tokens = {side.tokens.begin(), side.tokens.end()}, .starts = {}};
  for (const std::int32_t start : side.starts) result.starts.push_back(start - side.starts[0]);
  result.tokens.resize(static_cast<std::size_t>(rows), -1);
  const std::int64_t filler = rows - side.size();
  for (std::int64_t i = 1; i <= sentences.used; ++i)
    result.starts.push_back(static_cast<std::int32_t>(side.size() + filler * i / sentences.used));
  result.starts.resize(result.starts.size() + static_cast<std::size_t>(sentences.all) -
                           static_cast<std::size_t>(sentences.used),
                       static_cast<std::int32_t>(rows));
  return result;
}

}  // namespace

BatchShape shape_for(const BatchView& batch, ShapeUse use, std::int64_t longest_allowed) {
  const auto sentences = std::ssize(batch.sentences);
  BatchShape shape{.sentences = sentences};
  const auto fits = [](std::int64_t filler_sentences, const SideView& side,
                       const SideShape& filled) {
    return filled.rows - side.size() <= filler_sentences * filled.longest;
  };
  do {
    shape.sentences = rounded_sentences(shape.sentences + 1, use);
    const std::int64_t filler_sentences = shape.sentences - sentences;
    shape.source = shape_of(batch.source, filler_sentences, use, longest_allowed);
    shape.target = shape_of(batch.target, filler_sentences, use, longest_allowed);
    if (fits(filler_sentences, batch.source, shape.source) &&
        fits(filler_sentences, batch.target, shape.target))
      return shape;
  } while (true);
}

std::optional<BatchShape> capacity_for(const BatchView& batch, std::int64_t longest_allowed) {
  BatchShape shape = batch.capacity;
  if (shape.sentences == 0) return std::nullopt;
  const std::int64_t used = filler_for(batch, shape).used;
  const auto fits = [&](const SideView& side, SideShape& filled) {
    filled.longest = std::min(filled.longest, longest_allowed);
    return longest_of(side) <= filled.longest && filled.rows - side.size() <= used * filled.longest;
  };
  const bool source_fits = fits(batch.source, shape.source);
  return fits(batch.target, shape.target) && source_fits && used >= 0 ? std::optional(shape)
                                                                      : std::nullopt;
}

PackedBatch filled(const BatchView& batch, const BatchShape& shape) {
  const FillerSentences filler = filler_for(batch, shape);
  PackedBatch result{.source = filled_side(batch.source, shape.source.rows, filler),
                     .target = filled_side(batch.target, shape.target.rows, filler),
                     .sentences = {batch.sentences.begin(), batch.sentences.end()},
                     .links = {batch.links.begin(), batch.links.end()}};
  result.sentences.resize(static_cast<std::size_t>(shape.sentences), -1);
  if (!batch.links.empty()) result.links.resize(static_cast<std::size_t>(shape.sentences));
  return result;
}

namespace {

void append_sentence(const RandomText& text, std::int64_t length, RandomStream& random,
                     PackedSide& side) {
  constexpr std::int64_t kFirstToken = 3;
  if (side.starts.empty()) side.starts.push_back(0);
  for (std::int64_t i = 0; i < length; ++i)
    side.tokens.push_back(static_cast<TokenId>(
        kFirstToken + static_cast<std::int64_t>(random.below(
                          static_cast<std::uint64_t>(text.vocabulary) - kFirstToken))));
  side.starts.push_back(static_cast<std::int32_t>(side.tokens.size()));
}

}  // namespace

PackedBatch random_batch(const RandomText& text, std::uint64_t seed, std::uint64_t number) {
  RandomStream random(seed, number);
  PackedBatch batch;
  while (batch.target.size() + text.length + text.spread <= text.batch_tokens) {
    const std::int64_t length =
        text.length - text.spread +
        static_cast<std::int64_t>(random.below(static_cast<std::uint64_t>(2 * text.spread + 1)));
    append_sentence(text, length, random, batch.source);
    append_sentence(text, length, random, batch.target);
    batch.sentences.push_back(std::ssize(batch.sentences));
  }
  return batch;
}

}  // namespace dragoman
