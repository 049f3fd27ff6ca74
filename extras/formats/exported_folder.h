// Folders that are written for other systems: how one is made, and which of our search settings its
// format supports.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/files.h"
#include "inference/search/decode_config.h"
#include "model/file/model_file.h"

namespace dragoman {

/// A folder that gets its name when it is complete. Files are written into path(), and commit()
/// puts the folder in place. Without commit() the destructor removes it. A link to an empty folder
/// stays a link.
class NewFolder {
 public:
  /// Throws Error if `folder` exists and is not empty, or cannot be made.
  explicit NewFolder(std::filesystem::path folder);
  NewFolder(const NewFolder&) = delete;
  NewFolder& operator=(const NewFolder&) = delete;

  const std::filesystem::path& path() const { return part_->path(); }
  void commit();  ///< throws Error

 private:
  std::filesystem::path folder_;
  std::optional<ScratchFolder> part_;  ///< removes nothing after it has its name
};

/// The search settings that a format supports.
struct FormatSearch {
  const char* system;                   ///< for messages
  std::vector<std::string_view> flags;  ///< ours, without "stop"
  std::vector<Stop> stops;
};

/// What happens to the settings that a format does not support.
enum class Unsupported { Refused, LeftOut };

/// The search that a model file asks for. Throws Error that names a setting whose text in the model
/// file is not one of its values.
DecodeConfig exported_search(const DecodeDefaults& defaults);

/// The settings that the model file asks for and the format does not support, as "--FLAG VALUE".
/// A setting with our default value asks for nothing, except "stop". Throws Error that names them
/// if there are any and they are refused, and as exported_search() does.
std::vector<std::string> unsupported_settings(const DecodeDefaults& defaults,
                                              const FormatSearch& format, Unsupported unsupported);

}  // namespace dragoman
