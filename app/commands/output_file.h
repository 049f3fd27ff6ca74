// What an output may replace: never what is read, never another's work.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace dragoman {

/// Whether both are names of one file that is there, through links too.
bool same_file(const std::string& a, const std::string& b);

/// Throws UsageError naming the flag where `path` is a folder or one of the files that are read,
/// Error where the folder that it should lie in is not there. "-" and devices are never refused.
void check_output(std::string_view flag, const std::string& path,
                  const std::vector<std::string>& inputs);

/// Likewise; and of the files that are there a page replaces only a page, which begins with
/// "<!doctype html".
void check_page_output(std::string_view flag, const std::string& path,
                       const std::vector<std::string>& inputs);

/// Likewise; and the model and the checkpoints of a training run are only the run's to write.
void check_model_output(std::string_view flag, const std::string& path,
                        const std::vector<std::string>& inputs);

}  // namespace dragoman
