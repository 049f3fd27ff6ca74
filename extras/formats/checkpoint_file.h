// A checkpoint of PyTorch on disk, of a system that keeps more in it than weights.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <string_view>

#include "base/files.h"
#include "extras/formats/pytorch_checkpoint.h"

namespace dragoman {

class CheckpointFile {
 public:
  /// Throws Error where the file cannot be read, or is no sound checkpoint.
  explicit CheckpointFile(const std::filesystem::path& path);

  const std::string& name() const { return name_; }
  /// Of all that was saved.
  const PickleValue& root() const { return checkpoint_.root(); }
  const PickleValue* find(std::string_view key) const { return root().find(key); }
  /// Throws Error that names the file and the key: "FILE: has no KEY, so it is no WHAT".
  const PickleValue& get(std::string_view key, std::string_view what) const;
  /// The tensors of a state dict in it, by name. Views, valid as long as the file. Throws Error.
  std::map<std::string, StridedTensor> tensors(const PickleValue& state_dict) const;

 private:
  std::string name_;
  MappedFile file_;
  PyTorchCheckpoint checkpoint_;
};

}  // namespace dragoman
