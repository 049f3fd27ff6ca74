// Some sentences of a packed batch, which stay where they are.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "data/packed_batch.h"

namespace dragoman {

/// One side: B sentences, N tokens.
struct SideView {
  SideView(const PackedSide& side) : tokens(side.tokens), starts(side.starts) {}

  /// Of the sentences [begin, end).
  SideView(const SideView& side, std::size_t begin, std::size_t end)
      : tokens(
            side.tokens.subspan(static_cast<std::size_t>(side.starts[begin] - side.starts[0]),
                                static_cast<std::size_t>(side.starts[end] - side.starts[begin]))),
        starts(side.starts.subspan(begin, end - begin + 1)) {}

  std::int64_t size() const { return static_cast<std::int64_t>(tokens.size()); }

  std::span<const TokenId> tokens;  ///< [N]
  /// [B+1] as in PackedSide, counted from the batch's first token: sentence b is
  /// tokens[starts[b] - starts[0]..starts[b+1] - starts[0]).
  std::span<const std::int32_t> starts;
};

/// Valid as long as the batch.
struct BatchView {
  BatchView(const PackedBatch& batch)
      : source(batch.source),
        target(batch.target),
        sentences(batch.sentences),
        links(batch.links) {}

  /// The sentences [begin, end).
  BatchView(const BatchView& batch, std::size_t begin, std::size_t end)
      : source(batch.source, begin, end),
        target(batch.target, begin, end),
        sentences(batch.sentences.subspan(begin, end - begin)),
        links(batch.links.empty() ? batch.links : batch.links.subspan(begin, end - begin)) {}

  /// The number of tokens of the larger side, which a budget bounds.
  std::int64_t largest_side() const { return std::max(source.size(), target.size()); }

  SideView source, target;
  std::span<const std::int64_t> sentences;        ///< [B]
  std::span<const std::vector<PieceLink>> links;  ///< [B] with --guided-alignment, else empty
};

}  // namespace dragoman
