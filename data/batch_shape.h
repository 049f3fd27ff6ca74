// Batches of few different sizes. A GPU is told of its work once for each size (a CUDA graph), and
// memory of a size that was used before is found again at once.
#pragma once

#include <cstdint>

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

/// The size to fill a batch up to. Each number is one of eight between a power of two and the next,
/// so batches of about the same size have the same shape. `longest` bounds the filler sentences of
/// filled(), too.
BatchShape shape_for(const BatchView& batch);

/// The batch, and filler sentences behind it, which make it as large as the shape. Their tokens are
/// -1, which stands for the zero vector and for no target. So they add nothing to a loss or a
/// gradient. Their number is -1.
PackedBatch filled(const BatchView& batch, const BatchShape& shape);

}  // namespace dragoman
