#include "app/commands/output_file.h"

#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>

#include "base/error.h"
#include "base/utf8.h"
#include "model/file/run_folder.h"

namespace dragoman {

namespace {

namespace fs = std::filesystem;

/// The first `count` bytes of a file, with zeros for those that it lacks.
std::string beginning_of(const std::string& path, std::size_t count) {
  std::string text(count, '\0');
  std::ifstream(path, std::ios::binary).read(text.data(), static_cast<std::streamsize>(count));
  return text;
}

/// "the model of the training run en-de", or nothing where no run has such a file.
std::string role_in_run(const std::string& path) {
  std::error_code none;
  const fs::path file = fs::weakly_canonical(fs::absolute(path), none), folder = file.parent_path();
  const RunFolder beside{folder}, run{folder.parent_path()};
  const std::string of_run = " of the training run " + folder.string();
  const bool has_checkpoints = fs::is_directory(beside.checkpoints(), none);
  if (file == beside.model() && (has_checkpoints || fs::exists(beside.log(), none)))
    return "the model" + of_run;
  if (has_checkpoints && file == beside.log()) return "the log" + of_run;
  if (has_checkpoints && file == beside.config()) return "the configuration" + of_run;
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

// Eight bytes with the length of the header, which is far below 2^56, then an object of JSON. No
// text has a zero byte before it.
bool is_safetensors(const std::string& path) {
  const std::string begin = beginning_of(path, 9);
  return begin[7] == '\0' && begin[8] == '{';
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
  if (const std::string role = role_in_run(path); !role.empty())
    throw UsageError(flag, ": ", path, " is ", role, "; name another file");
  const fs::path folder = fs::path(path).parent_path();
  if (!folder.empty() && !fs::is_directory(folder, none))
    throw Error(folder.string(), ": no such folder; make it, or name another with ", flag);
  if (!fs::exists(path, none) && access(folder.empty() ? "." : folder.c_str(), W_OK) != 0)
    throw Error(path, ": cannot write: ", std::strerror(errno));
}

void check_text_output(std::string_view flag, const std::string& path,
                       const std::vector<std::string>& inputs) {
  check_output(flag, path, inputs);
  if (!is_stream(path) && is_safetensors(path))
    throw UsageError(flag, ": ", path, " is a model; name another file");
}

void check_model_output(std::string_view flag, const std::string& path,
                        const std::vector<std::string>& inputs) {
  check_output(flag, path, inputs);
  std::error_code none;
  if (!is_stream(path) && fs::exists(path, none) && fs::file_size(path, none) > 0 &&
      !is_safetensors(path))
    throw UsageError(flag, ": ", path,
                     " is there and is no model, and a model replaces no other file; name another");
}

}  // namespace dragoman
