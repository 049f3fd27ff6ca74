// Checkpoints of a run folder: model files with the optimizer's moments and the progress record.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "model/file/model_file.h"
#include "model/file/run_folder.h"
#include "training/progress_record.h"
#include "training/training_model.h"
#include "training/training_observer.h"

namespace dragoman {

/// What every file of the run has beside the weights.
struct ModelAttachments {
  std::string tokenizer_source, tokenizer_target;  ///< bytes; target empty: the same
  Provenance provenance;
  DecodeDefaults decode_defaults;  ///< of the model of --init-from
};

/// Weights alone.
void write_weights(const std::filesystem::path& path, TrainingModel& model,
                   const torch::Tensor& flat_weights, const ModelAttachments& attachments);
/// The output weights (TrainingModel::result_weights()), moments and progress. Where a moving
/// average is kept, the weights themselves as `training.weights`.
void write_checkpoint(const std::filesystem::path& path, TrainingModel& model,
                      const ModelAttachments& attachments, const ProgressRecord& progress);
/// Removes numbered checkpoints and the start checkpoint, except the newest `keep` of them and
/// those of the updates `needed`.
void remove_old_checkpoints(const RunFolder& run, std::int64_t keep,
                            const std::vector<std::int64_t>& needed);
/// Removes numbered checkpoints of later updates, which a rollback has left behind.
void remove_checkpoints_after(const RunFolder& run, std::int64_t update);

/// Throws std::filesystem::filesystem_error where a file is there, but cannot be opened: that is no
/// damage.
void require_readable(const std::filesystem::path& path);

/// The name, in the provenance of a run's files, of the checksum of the model that it started from.
inline constexpr const char* kInitFrom = "init-from";

struct FoundCheckpoint {
  std::filesystem::path path;
  ProgressRecord progress;
  std::string initial_checksum = {};              ///< of the model of --init-from; "" without one
  std::optional<SeenCharacters> characters = {};  ///< see Provenance
};
using Warn = std::function<void(const std::string&)>;
/// The readable checkpoint with the highest update. Checkpoints of later updates than
/// latest.safetensors that know of fewer rollbacks do not count: a rollback that was killed has
/// left them. Calls `warn` for each newer one that is damaged. Throws Error where there are
/// checkpoints but none is readable, and filesystem_error where one cannot be opened.
std::optional<FoundCheckpoint> find_checkpoint_to_resume(const RunFolder& run, const Warn& warn);
/// The newest checkpoint that fits, among the numbered ones and the start checkpoint.
/// latest.safetensors is none of them, so a run that was stopped rolls back as one that was not.
std::optional<FoundCheckpoint> find_checkpoint_to_return_to(
    const RunFolder& run, const Warn& warn, const std::function<bool(const ProgressRecord&)>& fits);

/// Puts weights and moments of a checkpoint into the model. Throws Error where the architecture
/// differs.
void load_checkpoint(const std::filesystem::path& path, TrainingModel& model);
/// The weights of a model file as a flat buffer like model.weights().
torch::Tensor load_flat_weights(const std::filesystem::path& path, const FlatLayout& layout,
                                torch::Device device);

/// Where `save` throws Error, for a full disk, say, warns "`name` not saved, `consequence`: ..."
/// and returns false.
bool try_to_save(std::string_view name, std::string_view consequence, TrainingObserver& observer,
                 const std::function<void()>& save);

}  // namespace dragoman
