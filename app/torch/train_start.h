// The start of a run, from its command to its settings and its prepared text (Start): the locked
// folder and its checkpoint, whether all ranks have the same settings and text, and the
// measurements of text and machine for settings that are left open (training/start chooses them).
#pragma once

#include <torch/types.h>

#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "app/commands/commands.h"
#include "base/files.h"
#include "data/prepare.h"
#include "model/file/run_folder.h"
#include "training/checkpoint.h"
#include "training/ranks/communicator.h"
#include "training/start/settled_run.h"
#include "training/start/trial.h"
#include "training/training_run.h"

namespace dragoman {

// ---- the folder ---------------------------------------------------------------------------------

/// The run's folder, locked for this process. It is made if it is not there, and then removed at
/// the end if it is still empty. Removes the remains of killed processes.
class LockedFolder {
 public:
  explicit LockedFolder(RunFolder folder);
  LockedFolder(const LockedFolder&) = delete;
  LockedFolder& operator=(const LockedFolder&) = delete;
  ~LockedFolder();

 private:
  RunFolder folder_;
  bool made_;
  std::optional<FolderLock> lock_;
};

/// The checkpoint of a folder, if it has one. Throws Error if a file stands in the place of the
/// folder, or of one above it, and if a run without a checkpoint would write over another run's
/// results.
std::optional<FoundCheckpoint> find_checkpoint(const RunFolder& folder);

// ---- the settings -------------------------------------------------------------------------------

/// What was asked for, what is known so far, and what that settles.
struct Start {
  const RunSettings asked;
  Communicator& ranks;
  RunFolder folder;
  std::stop_token stop;
  TextExamination examination;  ///< may be empty

  StartFacts known;  ///< at first the ranks of the run: the process of a plan is alone
  SettledRun settled = {};
  torch::Device device = torch::kCPU;
  int threads = 0;  ///< on the CPU

  /// Settles the run again, after a new fact. Logs the remarks that are new. Throws like settle().
  void settle();
  /// Takes the settings of the checkpoint that rank 0 has found, if there is one, and the device
  /// and threads of this rank. `info` has the ranks of this machine.
  void begin(const std::optional<FoundCheckpoint>& found, const RankInfo& info);
  /// Finds the models that the run starts from, and measures and encodes the text. Then the
  /// settings of all ranks are decided. `found` is the checkpoint as this rank sees it.
  PreparedData prepare(const std::optional<FoundCheckpoint>& found);

  TrialSettings trial(const PreparedData& data) const;
};

/// Logs one line about the run, and a warning for each choice that cannot go well. Times an update
/// if the facts of the corpus have no time. Returns the seconds of all updates, if they are known.
std::optional<double> log_choices(const TrialSettings& trial, const EpochFacts& corpus);

// ---- several ranks ------------------------------------------------------------------------------

/// Compares the versions, and the values of all fields except those that may differ from host to
/// host. Throws Error or UsageError that names the rank that differs.
void require_same_settings(RunSettings settings, Communicator& ranks);

/// Compares the texts of all hosts, which may differ although the names of the files are the same.
/// Throws Error; warns of different processors.
void require_same_data(const TrainingRun& run, Communicator& ranks);

}  // namespace dragoman
