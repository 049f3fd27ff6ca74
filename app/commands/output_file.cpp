#include "app/commands/output_file.h"

#include <cstdio>
#include <filesystem>
#include <fstream>

#include "base/error.h"
#include "base/utf8.h"
#include "model/file/run_folder.h"

namespace dragoman {

namespace {

namespace fs = std::filesystem;

bool is_page(const std::string& path) {
  constexpr std::string_view kBegin = "<!doctype html";
  std::string text(kBegin.size(), '\0');
  std::ifstream(path, std::ios::binary)
      .read(text.data(), static_cast<std::streamsize>(text.size()));
  return ascii_lower(text) == kBegin;
}

bool is_run(const RunFolder& run) {
  std::error_code none;
  return fs::exists(run.log(), none) || fs::is_directory(run.checkpoints(), none);
}

/// "the model of the training run en-de", or nothing where no run has such a file.
std::string role_in_run(const std::string& path) {
  std::error_code none;
  const fs::path file = fs::weakly_canonical(fs::absolute(path), none), folder = file.parent_path();
  if (const RunFolder run{folder}; file == run.model() && is_run(run))
    return "the model of the training run " + folder.string();
  const RunFolder run{folder.parent_path()};
  long long update = 0;
  const bool is_numbered =
      std::sscanf(file.filename().c_str(), "update-%lld.safetensors", &update) == 1 &&
      file == run.at_update(update);
  if (is_numbered || file == run.best() || file == run.latest() || file == run.start())
    return "a checkpoint of the training run " + run.root.string();
  return "";
}

}  // namespace

bool is_stream(const std::string& path) {
  std::error_code none;
  return path == "-" || fs::is_other(fs::status(path, none));
}

bool same_file(const std::string& a, const std::string& b) {
  std::error_code none;
  return fs::equivalent(a, b, none);
}

void check_output(std::string_view flag, const std::string& path,
                  const std::vector<std::string>& inputs) {
  if (path == "-") throw UsageError(flag, ": - stands for standard output; name a file");
  if (is_stream(path)) return;
  std::error_code none;
  if (fs::is_directory(path, none))
    throw UsageError(flag, ": ", path, " is a folder; name the file to write in it");
  for (const std::string& input : inputs)
    if (same_file(path, input))
      throw UsageError(flag, ": ", path, " is ", path == input ? "" : input + ", ",
                       "a file that is read; name another file");
  const fs::path folder = fs::path(path).parent_path();
  if (!folder.empty() && !fs::is_directory(folder, none))
    throw Error(folder.string(), ": no such folder; make it, or name another with ", flag);
}

void check_page_output(std::string_view flag, const std::string& path,
                       const std::vector<std::string>& inputs) {
  check_output(flag, path, inputs);
  std::error_code none;
  if (!is_stream(path) && fs::exists(path, none) && !is_page(path))
    throw UsageError(
        flag, ": ", path,
        " is there and is no page, and a page replaces only a page; name another file");
}

void check_model_output(std::string_view flag, const std::string& path,
                        const std::vector<std::string>& inputs) {
  check_output(flag, path, inputs);
  if (is_stream(path)) return;
  if (const std::string role = role_in_run(path); !role.empty())
    throw UsageError(flag, ": ", path, " is ", role, "; name another file");
}

}  // namespace dragoman
