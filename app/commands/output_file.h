// Checks of output files: an output never replaces a file that is read, nor the work of another
// command.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace dragoman {

/// Whether the path is "-" or a pipe or device (/dev/null), which is written as it is.
bool is_stream(const std::string& path);

/// Whether the file begins as one of safetensors does, which no text can.
bool is_safetensors(const std::string& path);

/// Whether both are names of one existing file, also through links.
bool same_file(const std::string& a, const std::string& b);

/// Throws UsageError that names the flag where `path` is "-", a folder, one of the files that are
/// read, or the model, a checkpoint, the log or the settings of a training run. Throws Error where
/// its own folder does not exist, or takes no new file. Devices are never refused.
void check_output(std::string_view flag, const std::string& path,
                  const std::vector<std::string>& inputs);

/// The same check for text. Text never replaces a model file, nor any other of safetensors.
void check_text_output(std::string_view flag, const std::string& path,
                       const std::vector<std::string>& inputs);

/// The same check for a model file, which replaces only a file of safetensors.
void check_model_output(std::string_view flag, const std::string& path,
                        const std::vector<std::string>& inputs);

}  // namespace dragoman
