// ModelConfig::check() for a configuration that another system's file states.
#pragma once

#include <span>
#include <string>

#include "extras/formats/name_table.h"
#include "model/file/model_config.h"

namespace dragoman {

/// Throws Error that begins with the file's name and names its keys, where check() names our
/// flags. `keys`: flags without dashes, and the keys of the file.
void check_config(const ModelConfig& config, const std::string& file,
                  std::span<const NamePair> keys);

}  // namespace dragoman
