// The search that a folder of MarianMTModel asks for: transformers' GenerationConfig
// (generation/configuration_utils.py), as generation_config.json has it, or in older folders
// config.json.
#pragma once

#include "extras/formats/json_file.h"
#include "extras/formats/search_setting.h"

namespace dragoman {

struct HfPieces {
  std::int64_t all = 0;      ///< ids of the target, padding included
  std::int64_t padding = 0;  ///< the first one of padding
  std::int64_t unk = 0, eos = 0;
};

/// Throws Error, naming file and key, for a setting of another type or beyond the range of ours.
ForeignSearch read_hf_search(const JsonFile& file, const HfPieces& pieces);

}  // namespace dragoman
