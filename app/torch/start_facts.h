// The facts about its machine, and about the model of --init-from, that the files of a run keep.
#pragma once

#include <optional>
#include <string>

#include "model/file/model_file.h"
#include "tokenizer/translatable.h"
#include "training/checkpoint.h"
#include "training/progress_record.h"

namespace dragoman {

/// The facts about the model of --init-from that a run's files keep. Without one, all are empty.
struct InitialModel {
  std::string checksum;
  DecodeDefaults decode_defaults;
  CopiedFractions copied_fractions;
  std::optional<SeenCharacters> characters;
};
/// A run that has begun reads them from its checkpoint.
InitialModel initial_model(const std::string& init_from,
                           const std::optional<FoundCheckpoint>& found);

MachineFacts machine_facts(Precision precision, int threads, int ranks);

}  // namespace dragoman
