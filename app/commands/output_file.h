// Checks of output files: an output never replaces a file that is read, nor the work of another
// command.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace dragoman {

/// Whether the path is "-" or a pipe or device (/dev/null), which is written as it is.
bool is_stream(const std::string& path);

/// Whether both are names of one existing file, also through links.
bool same_file(const std::string& a, const std::string& b);

/// Throws UsageError that names the flag where `path` is "-", a folder or one of the files that are
/// read, and Error where its own folder does not exist. Devices are never refused.
void check_output(std::string_view flag, const std::string& path,
                  const std::vector<std::string>& inputs);

/// The same check for a page. A page may replace an existing file only if that is a page, which
/// begins with "<!doctype html".
void check_page_output(std::string_view flag, const std::string& path,
                       const std::vector<std::string>& inputs);

/// The same check for a model file. It must not replace the model or a checkpoint of a training
/// run.
void check_model_output(std::string_view flag, const std::string& path,
                        const std::vector<std::string>& inputs);

}  // namespace dragoman
