#include "model/file/run_folder.h"

#include <algorithm>
#include <cstdio>
#include <system_error>

#include "base/error.h"

namespace dragoman {

std::filesystem::path RunFolder::at_update(std::int64_t update) const {
  if (update == 0) return start();
  char name[64];
  std::snprintf(name, sizeof name, "update-%08lld.safetensors", static_cast<long long>(update));
  return checkpoints() / name;
}

RunFolder RunFolder::of_model(const std::filesystem::path& model) {
  const std::filesystem::path folder =
      std::filesystem::absolute(model).lexically_normal().parent_path();
  return {folder.filename() == "checkpoints" ? folder.parent_path() : folder};
}

std::vector<std::filesystem::path> RunFolder::numbered() const {
  std::vector<std::filesystem::path> paths;
  std::error_code problem;
  for (std::filesystem::directory_iterator entry(checkpoints(), problem), end;
       !problem && entry != end; entry.increment(problem)) {
    long long update = 0;
    if (std::sscanf(entry->path().filename().c_str(), "update-%lld", &update) == 1 && update > 0 &&
        entry->path() == at_update(update))
      paths.push_back(entry->path());
  }
  if (problem && problem != std::errc::no_such_file_or_directory)
    throw Error(checkpoints().string(), ": cannot be listed: ", problem.message());
  std::ranges::sort(paths);
  return paths;
}

std::vector<std::filesystem::path> RunFolder::numbered_if_listed() const {
  try {
    return numbered();
  } catch (const Error&) {
    return {};
  }
}

std::filesystem::path resolve_model_path(const std::filesystem::path& path) {
  std::error_code fault;
  const auto status = std::filesystem::status(path, fault);
  const auto refuse_fault = [&] {
    if (fault && fault != std::errc::no_such_file_or_directory)
      throw Error(path.string(), ": ", fault.message());
  };
  if (!std::filesystem::exists(status)) {
    refuse_fault();
    throw Error(path.empty() ? "a model whose name is empty" : path.string(),
                ": no such model file or folder");
  }
  if (!std::filesystem::is_directory(status)) return path;
  const RunFolder run{path};
  if (std::filesystem::exists(run.model(), fault)) return run.model();
  refuse_fault();
  if (std::filesystem::is_directory(run.checkpoints(), fault))
    throw Error(path.string(),
                ": no model.safetensors yet; let the training end, or name a file of ",
                run.checkpoints().string());
  throw Error(path.string(), ": the folder holds no model.safetensors");
}

}  // namespace dragoman
