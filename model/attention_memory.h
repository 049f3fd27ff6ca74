// Memory of attention on the CPU where it takes the padded path. It grows with the square of a
// sentence's length, so one sentence may need more memory than there is.
#pragma once

#include <cstdint>
#include <span>

#include "model/file/model_config.h"

namespace dragoman {

/// The offsets at which the sentences of a batch start, [B+1] each.
struct SentenceStarts {
  std::span<const std::int32_t> source, target;
};

enum class Pass { Forward, Training };

/// A lower bound of the bytes that attention scores and weights take where these sentences are
/// computed together, with elements of `element_size` bytes. One sentence that is too long for the
/// packed kernel makes all be padded to the longest. A forward pass holds the scores of one
/// attention at a time, a training pass those of all layers. 0 where the packed kernel computes all
/// sentences. Scores that guided alignment computes besides are not counted.
std::int64_t attention_memory(const ModelConfig& config, const SentenceStarts& starts,
                              std::int64_t element_size, Pass pass);

}  // namespace dragoman
