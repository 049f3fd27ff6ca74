// Checkpoints of a run folder: model files with the optimizer's moments and the progress record.
//
//   checkpoints/update-00001000.safetensors  every --save-every updates; the last --keep-last stay
//   checkpoints/latest.safetensors           by the clock and on a signal; serves resume alone
//   checkpoints/best.safetensors             weights of the best validation so far
//   model.safetensors                        the one to ship: the best, at the end perhaps the
//   average
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "model/file/model_file.h"
#include "training/progress_record.h"
#include "training/training_model.h"

namespace dragoman {

struct RunFolder {
  std::filesystem::path root;

  std::filesystem::path model() const { return root / "model.safetensors"; }
  std::filesystem::path checkpoints() const { return root / "checkpoints"; }
  std::filesystem::path best() const { return checkpoints() / "best.safetensors"; }
  std::filesystem::path latest() const { return checkpoints() / "latest.safetensors"; }
  std::filesystem::path at_update(std::int64_t update) const;
  std::filesystem::path log() const { return root / "log.jsonl"; }
  std::filesystem::path tensorboard() const { return root / "tensorboard"; }
  std::filesystem::path config() const { return root / "config.toml"; }
  std::filesystem::path corpus() const { return root / "corpus"; }

  /// Checkpoints at update counts, by rising update.
  std::vector<std::filesystem::path> numbered() const;
};

/// The tokenizers' bytes and how the model was made: what every file of the run carries.
struct ModelOrigin {
  std::string tokenizer_source, tokenizer_target;  ///< target empty: the same
  Provenance provenance;
};

/// Weights alone.
void write_weights(const std::filesystem::path& path, TrainingModel& model,
                   const torch::Tensor& flat_weights, const ModelOrigin& origin);
/// Averaged weights, moments and progress; where a moving average is kept, the weights themselves
/// as `training.weights`.
void write_checkpoint(const std::filesystem::path& path, TrainingModel& model,
                      const ModelOrigin& origin, const ProgressRecord& progress);
/// Removes numbered checkpoints but the newest `keep`.
void remove_old_checkpoints(const RunFolder& run, std::int64_t keep);
/// Removes numbered checkpoints of later updates, which a rollback has left behind.
void remove_checkpoints_after(const RunFolder& run, std::int64_t update);

struct FoundCheckpoint {
  std::filesystem::path path;
  ProgressRecord progress;
};
/// The readable checkpoint with the highest update of those that `fits` allows (all, without it)
/// and that no rollback has left behind. Newer ones that are damaged are told to `warn`; throws
/// Error where there are checkpoints but none is readable.
std::optional<FoundCheckpoint> find_checkpoint(
    const RunFolder& run, const std::function<void(const std::string&)>& warn,
    const std::function<bool(const ProgressRecord&)>& fits = {});

/// Puts weights and moments of a checkpoint into the model. Throws Error where the architecture
/// differs.
void load_checkpoint(const std::filesystem::path& path, TrainingModel& model);
/// The weights of a model file as a flat buffer like model.weights().
torch::Tensor load_flat_weights(const std::filesystem::path& path, const FlatLayout& layout,
                                torch::Device device);

}  // namespace dragoman
