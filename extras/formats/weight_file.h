// A file of weights by name, as PyTorch's libraries write them: safetensors, or a checkpoint of
// torch.save with a state dict.
#pragma once

#include <filesystem>
#include <map>
#include <memory>
#include <string>

#include "extras/formats/strided_tensor.h"

namespace dragoman {

class WeightFile {
 public:
  /// By the ending of the name: .safetensors, .index.json (which names files with a share of the
  /// tensors each), or a checkpoint. Throws Error if the file cannot be read, or is damaged.
  explicit WeightFile(const std::filesystem::path& path);
  WeightFile(WeightFile&&) noexcept;
  ~WeightFile();

  /// Views, valid as long as the file.
  const std::map<std::string, StridedTensor>& tensors() const { return tensors_; }

 private:
  static bool is_index(const std::filesystem::path& path);
  void read_shards(const std::filesystem::path& path);

  struct Source;  ///< owns the bytes
  std::unique_ptr<Source> source_;
  std::map<std::string, StridedTensor> tensors_;
};

}  // namespace dragoman
