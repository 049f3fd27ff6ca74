// Batches of few different sizes. A GPU is told of its work once for each size (a CUDA graph), and
// memory of a size that was used before is found again at once.
#pragma once

#include <cstdint>
#include <limits>

#include "data/batch_view.h"

namespace dragoman {

/// The size of one side of a batch.
struct SideShape {
  std::int64_t rows = 0;     ///< tokens
  std::int64_t longest = 0;  ///< tokens of the longest sentence

  bool operator==(const SideShape&) const = default;
};

struct BatchShape {
  std::int64_t sentences = 0;
  SideShape source = {}, target = {};

  bool operator==(const BatchShape&) const = default;
};

/// What `sentences` and `longest` of a shape cost.
enum class ShapeUse {
  /// Attention pads each sentence to the longest one. Both numbers are rounded to one of eight
  /// between a power of two and the next.
  Padded,
  /// Attention without padding: both cost next to nothing. `sentences` is a power of two, and
  /// `longest` a multiple of 128. An epoch then has some dozens of shapes.
  Packed
};

/// The size to fill a batch up to, so that batches of about the same size have the same shape. Rows
/// are rounded to one of eight numbers between a power of two and the next. `longest` bounds the
/// filler sentences of filled(), too. It is at most `longest_allowed`, where no sentence is longer.
BatchShape shape_for(const BatchView& batch, ShapeUse use,
                     std::int64_t longest_allowed = std::numeric_limits<std::int64_t>::max());

/// The batch, and filler sentences behind it, which make it as large as the shape. Their tokens are
/// -1, which stands for the zero vector and for no target. So they add nothing to a loss or a
/// gradient. Their number is -1.
PackedBatch filled(const BatchView& batch, const BatchShape& shape);

}  // namespace dragoman
