// Checkpoints of a run folder: model files with the optimizer's moments and the progress record.
// The functions read and write them; CheckpointKeeper decides when they are saved and removed,
// which one a rollback returns to, and which ones are averaged.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/machine.h"
#include "model/file/model_file.h"
#include "model/file/run_folder.h"
#include "training/run_log.h"
#include "training/settings/progress_record.h"
#include "training/training_model.h"
#include "training/training_run.h"

namespace dragoman {

// ---- files --------------------------------------------------------------------------------------

/// Writes a model file of weights alone.
void write_weights(const std::filesystem::path& path, TrainingModel& model,
                   const torch::Tensor& flat_weights, const ModelAttachments& attachments);
/// Writes the output weights (TrainingModel::result_weights()), moments and progress. If a moving
/// average is kept, the weights themselves follow as `training.weights`.
void write_checkpoint(const std::filesystem::path& path, TrainingModel& model,
                      const ModelAttachments& attachments, const ProgressRecord& progress);

/// Throws std::filesystem::filesystem_error if a file exists but cannot be opened, which is not
/// damage.
void require_readable(const std::filesystem::path& path);

/// The name, in the provenance of a run's files, of the checksum of the model that it started from.
inline constexpr const char* kInitFrom = "init-from";

struct FoundCheckpoint {
  std::filesystem::path path = {};
  ProgressRecord progress = {};
  std::string initial_checksum = {};              ///< of the model of --init-from; "" without one
  std::optional<SeenCharacters> characters = {};  ///< see Provenance
};
using Warn = std::function<void(const std::string&)>;
/// The readable checkpoint with the highest update. A checkpoint that is later than
/// latest.safetensors but knows of fewer rollbacks does not count: a rollback that was killed has
/// left it. Calls `warn` for each newer one that is damaged. Throws Error if there are checkpoints
/// but none is readable, and filesystem_error if one cannot be opened.
std::optional<FoundCheckpoint> find_checkpoint_to_resume(const RunFolder& run, const Warn& warn);

/// Puts weights and moments of a checkpoint into the model. Throws Error if the architecture
/// differs.
void load_checkpoint(const std::filesystem::path& path, TrainingModel& model);
/// The weights of a model file as a flat buffer like model.weights().
torch::Tensor load_flat_weights(const std::filesystem::path& path, const FlatLayout& layout,
                                torch::Device device);

/// Calls `save`. If it throws Error, for example because the disk is full, warns "`name` not saved,
/// `consequence`: ..." and returns false.
bool try_to_save(std::string_view name, std::string_view consequence, TrainingObserver& observer,
                 const std::function<void()>& save);

// ---- the keeper ---------------------------------------------------------------------------------

struct CheckpointMean {
  torch::Tensor weights;           ///< [P] fp32, flat like the model's; undefined if none is read
  std::vector<std::string> names;  ///< of the files, by rising update
};

/// The checkpoints in a run's folder; only rank 0 has one. Every checkpoint that it saves has the
/// weights and moments of the model, and the progress record with the length of the log.
class CheckpointKeeper {
 public:
  /// The arguments must outlive the keeper.
  CheckpointKeeper(const TrainingRun& run, TrainingModel& model, RunLog& log,
                   TrainingObserver& observer);

  /// Puts weights and moments of a checkpoint of this run into the model.
  void resume(const FoundCheckpoint& checkpoint);

  /// Saves the state before the first update, for a rollback. This and the next two functions throw
  /// Error if the file cannot be written.
  void save_start(ProgressRecord& progress);
  /// Saves update-NNN.safetensors. Removes those that neither --keep-last nor a rollback needs.
  void save_numbered(ProgressRecord& progress);
  /// Saves latest.safetensors, which only a resume uses.
  void save_latest(ProgressRecord& progress);
  /// Calls save_numbered() at a multiple of --save-every, and otherwise save_latest() if
  /// --save-minutes have passed. Warns if the file cannot be written.
  void save_if_due(ProgressRecord& progress);
  /// Whether the last numbered checkpoint is of this update.
  bool has_numbered(std::int64_t update) const { return numbered_.update == update; }
  /// Whether its record also knows the last validation and average.
  bool has_numbered(const ProgressRecord& progress) const {
    return numbered_ == NumberedState(progress);
  }
  /// Removes latest.safetensors, which a finished run does not need.
  void remove_latest();

  /// Puts the last sound checkpoint into the model. If there is none since the last rollback,
  /// that is the checkpoint that the last rollback returned to. Puts its record in place of the
  /// progress, with half the rate and another order of the text. Throws Error if there is no such
  /// checkpoint, or --max-rollbacks are used up.
  void roll_back(ProgressRecord& progress);

  /// The mean of the newest `count` numbered checkpoints that are readable.
  CheckpointMean mean_of_last(std::int64_t count) const;

 private:
  struct NumberedState {
    NumberedState() = default;
    explicit NumberedState(const ProgressRecord& progress)
        : update(progress.update),
          validated_update(progress.validated_update),
          averaged_update(progress.averaged_update) {}
    bool operator==(const NumberedState&) const = default;

    std::int64_t update = 0, validated_update = 0, averaged_update = 0;
  };

  void save(const std::filesystem::path& path, ProgressRecord& progress);
  FoundCheckpoint rollback_target(const ProgressRecord& diverged) const;

  const TrainingRun& run_;
  TrainingModel& model_;
  RunLog& log_;
  TrainingObserver& observer_;
  NumberedState numbered_;  // of the last numbered checkpoint
  Stopwatch since_save_;
};

}  // namespace dragoman
