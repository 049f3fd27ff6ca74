#include "data/batch_parts.h"

#include <algorithm>
#include <iterator>
#include <type_traits>
#include <utility>

namespace dragoman {

namespace {

PackedSide sentences_of(const PackedSide& side, std::size_t begin, std::size_t end) {
  PackedSide part;
  const std::int32_t first = side.starts[begin];
  part.tokens.assign(side.tokens.begin() + first, side.tokens.begin() + side.starts[end]);
  for (std::size_t b = begin; b <= end; ++b) part.starts.push_back(side.starts[b] - first);
  return part;
}

PackedBatch sentences_of(const PackedBatch& batch, std::size_t begin, std::size_t end) {
  const auto some = [begin, end](const auto& all) {
    using Items = std::remove_cvref_t<decltype(all)>;
    const auto first = all.begin();
    return all.empty() ? Items()
                       : Items(first + static_cast<std::ptrdiff_t>(begin),
                               first + static_cast<std::ptrdiff_t>(end));
  };
  return {.source = sentences_of(batch.source, begin, end),
          .target = sentences_of(batch.target, begin, end),
          .sentences = some(batch.sentences),
          .links = some(batch.links)};
}

}  // namespace

std::int64_t largest_side(const PackedBatch& batch) {
  return std::max(batch.source.size(), batch.target.size());
}

std::vector<PackedBatch> parts_of(const PackedBatch& batch, std::int64_t budget) {
  const std::size_t sentences = batch.sentences.size();
  if (budget == 0 || sentences < 2 || largest_side(batch) <= budget) return {batch};
  std::vector<PackedBatch> parts = parts_of(sentences_of(batch, 0, sentences / 2), budget);
  for (PackedBatch& part : parts_of(sentences_of(batch, sentences / 2, sentences), budget))
    parts.push_back(std::move(part));
  return parts;
}

std::vector<PackedBatch> equal_parts_of(const PackedBatch& batch, std::int64_t count) {
  const std::size_t sentences = batch.sentences.size();
  const auto tokens_before = [&batch](std::size_t b) {
    return std::int64_t{batch.source.starts[b]} + batch.target.starts[b];
  };
  std::vector<PackedBatch> parts;
  for (std::size_t begin = 0, end = 0; begin < sentences; begin = end) {
    const auto number = static_cast<std::int64_t>(parts.size()) + 1;
    for (end = begin + 1; end < sentences; ++end)
      if (tokens_before(end) * count >= tokens_before(sentences) * number) break;
    parts.push_back(sentences_of(batch, begin, end));
  }
  return parts;
}

}  // namespace dragoman
