#include "base/cpu.h"

#include <fstream>
#include <string>

#include "base/cpu_architecture.h"

namespace dragoman {

namespace {

std::string processor_model() {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);)
    if (line.starts_with("model name")) {
      const std::size_t colon = line.find(": ");
      return colon == std::string::npos ? "" : line.substr(colon + 2);
    }
  return "unknown processor";
}

CpuFeatures detect() {
  CpuFeatures features = find_cpu_features();
  features.model = processor_model();
  return features;
}

}  // namespace

const CpuFeatures& cpu_features() {
  static const CpuFeatures features = detect();
  return features;
}

bool supports_all(std::string_view options,
                  const std::function<bool(std::string_view instructions)>& supports) {
  while (!options.empty()) {
    const std::size_t end = options.find_first_of(",+");
    if (end != 0 && !supports(options.substr(0, end))) return false;
    options.remove_prefix(end == std::string_view::npos ? options.size() : end + 1);
  }
  return true;
}

}  // namespace dragoman
