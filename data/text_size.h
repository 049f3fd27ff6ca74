// How much text there is, before it is encoded.
#pragma once

#include <cstdint>

#include "data/prepare.h"

namespace dragoman {

struct TextSize {
  std::int64_t pairs = 0;
  std::int64_t target_characters = 0;
};

/// Of the training files. Reads them once; their indexes are kept in the cache folder for
/// prepare_data. Errors: as prepare_data has for text.
TextSize measure_text(const Preparation& preparation);

}  // namespace dragoman
