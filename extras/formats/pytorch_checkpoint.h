// Checkpoints of PyTorch (torch.save): a ZIP archive with a pickle (NAME/data.pkl) and the memory
// of each storage (NAME/data/KEY), or the older format, pickles in a row and the storages behind
// them (torch/serialization.py). No code of the checkpoint is run.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "extras/formats/unpickler.h"
#include "extras/formats/zip_archive.h"

namespace dragoman {

class PyTorchCheckpoint {
 public:
  /// `name` stands at the front of messages. `bytes` are the whole file and must outlive the
  /// checkpoint: tensors are views of them. `limit`: ZipArchive's. Throws Error, one line, for
  /// other files (TorchScript, the tar files of 2016), big-endian ones, and damage of every kind.
  PyTorchCheckpoint(const std::string& name, std::string_view bytes, std::size_t limit);

  /// The saved value. Values and tensors are valid as long as the checkpoint.
  const PickleValue& root() const { return *pickle_.root; }

 private:
  void read_zip(const std::string& name, std::string_view bytes, std::size_t limit);
  void read_legacy(std::string_view bytes);

  std::optional<ZipArchive> archive_;
  Pickle pickle_;
};

}  // namespace dragoman
