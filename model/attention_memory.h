// Memory of attention on the CPU where it takes the padded path: it grows with the square of a
// sentence's length, so that one sentence may take more than there is.
#pragma once

#include <cstdint>
#include <span>

#include "model/file/model_config.h"

namespace dragoman {

/// Where the sentences of a batch start, [B+1] each.
struct SentenceStarts {
  std::span<const std::int32_t> source, target;
};

enum class Pass { Forward, Training };

/// Bytes that scores and weights take at least, in elements of so many bytes: those of one
/// attention after another, or, for a backward pass, of all at once. 0 where the packed kernel
/// takes all.
std::int64_t attention_memory(const ModelConfig& config, const SentenceStarts& starts,
                              std::int64_t element_size, Pass pass);

}  // namespace dragoman
