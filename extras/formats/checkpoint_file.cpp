#include "extras/formats/checkpoint_file.h"

#include "base/error.h"

namespace dragoman {

CheckpointFile::CheckpointFile(const std::filesystem::path& path)
    : name_(path.string()),
      file_(path),
      checkpoint_(name_, file_.bytes(), plausible_inflated(file_.bytes().size())) {}

const PickleValue& CheckpointFile::get(std::string_view key, std::string_view what) const {
  const PickleValue* value = find(key);
  if (value == nullptr) throw Error(name_, ": has no \"", key, "\", so it is no ", what);
  return *value;
}

std::map<std::string, StridedTensor> CheckpointFile::tensors(const PickleValue& state_dict) const {
  std::map<std::string, StridedTensor> views;
  try {
    for (const auto& [name, tensor] : tensors_of(state_dict)) views[name] = *tensor;
  } catch (const Error& error) {
    throw Error(name_, ": ", error.what());
  }
  return views;
}

}  // namespace dragoman
