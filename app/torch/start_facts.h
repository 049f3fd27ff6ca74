// What the files of a run say of its machine, and of the model of --init-from.
#pragma once

#include <optional>
#include <string>

#include "model/file/model_file.h"
#include "training/checkpoint.h"
#include "training/progress_record.h"

namespace dragoman {

/// What the files of a run keep of the model of --init-from. Without one, both are empty.
struct InitialModel {
  std::string checksum;
  DecodeDefaults decode_defaults;
};
/// A run that has begun reads them from its checkpoint.
InitialModel initial_model(const std::string& init_from,
                           const std::optional<FoundCheckpoint>& found);
inline constexpr const char* kInitFrom = "init-from";  ///< its name in the provenance

MachineFacts machine_facts(Precision precision, int threads, int ranks);

}  // namespace dragoman
