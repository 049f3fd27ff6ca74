// Checkpoints of PyTorch (torch.save): a ZIP archive with a pickle (NAME/data.pkl) and the memory
// of each storage (NAME/data/KEY), or the older format, pickles in a row followed by the storages
// (torch/serialization.py). No code of the checkpoint is run.
#pragma once

#include <cstddef>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "base/files.h"
#include "extras/formats/strided_tensor.h"
#include "extras/formats/unpickler.h"
#include "extras/formats/zip_archive.h"
#include "model/file/safetensors.h"

namespace dragoman {

class PyTorchCheckpoint {
 public:
  /// Messages begin with `name`. `bytes` are the whole file and must outlive the checkpoint:
  /// tensors are views of them. `limit`: ZipArchive's. Throws Error, one line, for other files
  /// (TorchScript, the tar files of 2016), big-endian ones, and damage of every kind.
  PyTorchCheckpoint(const std::string& name, std::string_view bytes, std::size_t limit);

  /// The saved value. Values and tensors are valid as long as the checkpoint.
  const PickleValue& root() const { return *pickle_.root; }

 private:
  void read_zip(const std::string& name, std::string_view bytes, std::size_t limit);
  void read_legacy(std::string_view bytes);

  std::optional<ZipArchive> archive_;
  Pickle pickle_;
};

/// A checkpoint on disk, of a system that saves more than weights.
class CheckpointFile {
 public:
  /// Throws Error if the file cannot be read, or is not a sound checkpoint.
  explicit CheckpointFile(const std::filesystem::path& path);

  const std::string& name() const { return name_; }
  /// The value that was saved.
  const PickleValue& root() const { return checkpoint_.root(); }
  const PickleValue* find(std::string_view key) const { return root().find(key); }
  /// Throws Error that names the file and the key: "FILE: has no KEY, so it is not a WHAT".
  const PickleValue& get(std::string_view key, std::string_view what) const;
  /// The tensors of a state dict in it, by name. Views, valid as long as the file. Throws Error.
  std::map<std::string, StridedTensor> tensors(const PickleValue& state_dict) const;

 private:
  std::string name_;
  MappedFile file_;
  PyTorchCheckpoint checkpoint_;
};

/// A file of weights by name, as PyTorch's libraries write them: safetensors, or a checkpoint of a
/// state dict.
class WeightFile {
 public:
  /// Chooses by the ending of the name: .safetensors, .index.json (which names files that each have
  /// some of the tensors), or a checkpoint. Throws Error if the file cannot be read, or is damaged.
  explicit WeightFile(const std::filesystem::path& path);
  WeightFile(const WeightFile&) = delete;

  /// Views, valid as long as the file.
  const std::map<std::string, StridedTensor>& tensors() const { return tensors_; }

 private:
  static bool is_index(const std::filesystem::path& path);
  void read_shards(const std::filesystem::path& path);

  // One of these three owns the bytes.
  std::optional<SafetensorsFile> safetensors_;
  std::optional<CheckpointFile> checkpoint_;
  std::map<std::string, WeightFile> shards_;  // by file name
  std::map<std::string, StridedTensor> tensors_;
};

}  // namespace dragoman
