// The files of a training run (train -o), and the model file that -m names:
//
//   model.safetensors                          the one to ship: the best model, or at the end the
//                                              average if that is better
//   checkpoints/start.safetensors              before the first update; removed when a rollback
//                                              has a later checkpoint to go to
//   checkpoints/update-00001000.safetensors    every --save-every updates; the last --keep-last
//                                              stay, and those that a rollback may need
//   checkpoints/latest.safetensors             written by the clock and on a signal; only for
//                                              resume
//   trained-pairs.bin                          hashes of the pairs that the run has trained on
//                                              (data/trained_pairs.h)
//   checkpoints/best.safetensors               the same as model.safetensors, which is restored
//                                              from it if it is lost; none without a validation
//                                              text
#pragma once

#include <cstdint>
#include <filesystem>
#include <vector>

namespace dragoman {

struct RunFolder {
  std::filesystem::path root;

  std::filesystem::path model() const { return root / "model.safetensors"; }
  std::filesystem::path checkpoints() const { return root / "checkpoints"; }
  std::filesystem::path best() const { return checkpoints() / "best.safetensors"; }
  std::filesystem::path latest() const { return checkpoints() / "latest.safetensors"; }
  std::filesystem::path start() const { return checkpoints() / "start.safetensors"; }
  /// For update 0: start().
  std::filesystem::path at_update(std::int64_t update) const;
  std::filesystem::path log() const { return root / "log.jsonl"; }
  std::filesystem::path tensorboard() const { return root / "tensorboard"; }
  std::filesystem::path config() const { return root / "config.toml"; }
  std::filesystem::path corpus() const { return root / "corpus"; }
  std::filesystem::path trained_pairs() const { return root / "trained-pairs.bin"; }

  /// The run that a model file belongs to: the file is in the run's folder or among its
  /// checkpoints.
  static RunFolder of_model(const std::filesystem::path& model);

  /// Checkpoints at update counts above 0, by rising update; none if the folder does not exist.
  /// Files of other names do not belong to the run. Throws Error if it cannot be listed.
  std::vector<std::filesystem::path> numbered() const;
  /// The same, but none if the folder cannot be listed.
  std::vector<std::filesystem::path> numbered_if_listed() const;
};

/// The model file that `-m` names: a file, or the model.safetensors of a run folder. Throws Error
/// if neither exists.
std::filesystem::path resolve_model_path(const std::filesystem::path& path);

}  // namespace dragoman
