// Finds the beam size and length penalty that suit a model (dragoman evaluate --tune).
#pragma once

#include <functional>

#include "inference/search/decode_config.h"

namespace dragoman {

/// Tries `start`, then length penalties at its beam size, beam sizes at the best of them, and,
/// where the beam size has changed, penalties near the best once more: about twenty searches.
/// Returns the search with the highest score; of equal ones, that with the smaller beam. `score` is
/// called once for each pair of values.
DecodeConfig tune_search(const DecodeConfig& start,
                         const std::function<double(const DecodeConfig&)>& score);

}  // namespace dragoman
