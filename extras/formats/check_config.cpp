#include "extras/formats/check_config.h"

#include "base/error.h"

namespace dragoman {

void check_config(const ModelConfig& config, const std::string& file,
                  std::span<const NamePair> keys) {
  try {
    config.check();
  } catch (const UsageError& error) {
    std::string message = error.what();
    for (const auto& [flag, key] : keys) {
      const std::string written = join_text("--", flag);
      for (std::size_t at = 0; (at = message.find(written, at)) != message.npos; at += key.size())
        message.replace(at, written.size(), key);
    }
    throw Error(file, ": ", message);
  }
}

}  // namespace dragoman
