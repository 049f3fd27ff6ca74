// What the start of a training finds out: the locked folder and its checkpoint, whether all ranks
// have the same settings and text, the facts about the machine and the model of --init-from, and
// the measurements of the text and the machine for settings that are left open (training/start
// chooses them).
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

#include "base/files.h"
#include "data/prepare.h"
#include "model/file/model_file.h"
#include "tokenizer/translatable.h"
#include "training/checkpoint.h"
#include "training/progress_record.h"
#include "training/ranks/communicator.h"
#include "training/start/settled_run.h"
#include "training/start/trial.h"
#include "training/training_run.h"

namespace dragoman {

/// A folder that this command has made. It is removed at the end if it is still empty.
class MadeFolder {
 public:
  explicit MadeFolder(RunFolder folder) : folder_(std::move(folder)) {}
  MadeFolder(const MadeFolder&) = delete;
  MadeFolder& operator=(const MadeFolder&) = delete;
  ~MadeFolder();

 private:
  RunFolder folder_;
};

/// The checkpoint that a run resumes from, and its folder. Rank 0 alone finds them, before any rank
/// works in the folder.
struct StartPoint {
  std::unique_ptr<MadeFolder> made;
  std::unique_ptr<FolderLock> lock;
  std::optional<FoundCheckpoint> found;
};

/// Throws Error if a file stands in the place of the run's folder, or of a folder above it.
void require_folder(const RunFolder& folder);

/// Throws Error if a run without a checkpoint would write over another run's results.
void require_nothing_to_lose(const RunFolder& folder);

/// If the folder exists, locks it and finds its checkpoint; otherwise returns nothing. Throws Error
/// if the folder has results that the run would write over.
StartPoint find_start(const RunFolder& folder);

/// Makes and locks the folder, after the settings have been checked, and removes the remains of
/// killed processes.
void lock_folder(const RunFolder& folder, StartPoint& start);

/// Compares the versions, and the values of all fields except those that may differ from host to
/// host. Throws Error or UsageError that names the rank that differs.
void require_same_configuration(const std::map<std::string, std::string>& configuration,
                                Communicator& ranks);

/// Compares the texts of all hosts, which may differ although the names of the files are the same.
/// Throws Error; warns of unlike processors.
void require_same_data(const TrainingRun& run, Communicator& ranks);

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

/// Where the speed of a preset is measured.
struct SpeedMeasurement {
  /// The settings that the run would have with a preset.
  std::function<RunConfig(Preset)> config_of;
  torch::Device device;
  int ranks;  ///< that train together
  std::stop_token stop;
};

/// The preset that fits the text and the machine, as preset_for() chooses it. Speeds are measured
/// on random sentences as long as those of the text. Throws UsageError if a setting does not go
/// with a preset, and PreparationStopped.
ChosenPreset measure_preset(const TextSize& text, const SpeedMeasurement& measurement);

/// The facts of the encoded text, with the settings of the trial. An update is timed only if
/// --max-time asks for it.
EpochFacts measure_epoch(const TrialSettings& trial);

/// Logs one line about the run, and a warning for each choice that cannot go well. Times an update
/// if the facts of the corpus have no time.
void log_choices(const TrialSettings& trial, const EpochFacts& corpus);

/// Names of the fields that these functions may give a value: those of the preset, the text and the
/// length.
std::vector<std::string> automatic_fields();

}  // namespace dragoman
