// The search settings that a model file brings with it.
#pragma once

#include <functional>
#include <string_view>

#include "inference/search/decode_config.h"
#include "model/file/model_file.h"

namespace dragoman {

/// Gives the settings that the model has defaults for these values, except those that were given
/// by name. Throws UsageError for a value that has no meaning.
void take_decode_defaults(DecodeConfig& config, const DecodeDefaults& defaults,
                          const std::function<bool(std::string_view)>& is_given);

}  // namespace dragoman
