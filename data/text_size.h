// The amount of text, before it is encoded.
#pragma once

#include <cstdint>

#include "data/prepare.h"

namespace dragoman {

struct TextSize {
  std::int64_t pairs = 0;
  std::int64_t target_characters = 0;
};

/// The size of the training files. Reads them once; their indexes are kept in the cache folder for
/// prepare_data(). Throws as prepare_data() does for text.
TextSize measure_text(const Preparation& preparation);

}  // namespace dragoman
