// The settings of the search in the folders that are written for other systems: which of ours a
// format has, and which it has not.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "inference/search/decode_config.h"
#include "model/file/model_file.h"

namespace dragoman {

/// The settings that a format has.
struct FormatSearch {
  const char* system;                   ///< for messages
  std::vector<std::string_view> flags;  ///< of ours, without "stop"
  std::vector<Stop> stops;
};

/// The treatment of settings that a format lacks.
enum class Unheld { Refused, LeftOut };

/// The search that a model file asks for. Throws Error that names the setting where its text in the
/// model file is none of its values.
DecodeConfig exported_search(const DecodeDefaults& defaults);

/// The settings that the model file asks for and the format has not, as "--FLAG VALUE". A setting
/// with our default value asks for nothing, except for "stop". Throws as exported_search().
std::vector<std::string> unheld_settings(const DecodeDefaults& defaults,
                                         const FormatSearch& format);

/// Throws Error that names the settings where there are any and they are refused.
void check_unheld(const std::vector<std::string>& settings, const FormatSearch& format,
                  Unheld unheld);

}  // namespace dragoman
