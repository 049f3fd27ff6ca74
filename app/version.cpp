#include "app/version.h"

#include <ATen/Version.h>
#include <c10/core/DeviceType.h>
#include <torch/version.h>

#include "base/cpu.h"
#include "base/error.h"
#include "base/threads.h"

namespace dragoman {

namespace {

/// "CUDA 12.8, 1 device" or "CPU only", from the one place where LibTorch tells how it was built.
std::string cuda_text() {
  const std::string configuration = at::show_config();
  constexpr std::string_view kRuntime = "CUDA Runtime ";
  const std::size_t found = configuration.find(kRuntime);
  if (found == std::string::npos) return "CPU only";
  const std::size_t begin = found + kRuntime.size();
  const std::string version =
      configuration.substr(begin, configuration.find_first_of(" \n", begin) - begin);
  const auto devices =
      at::globalContext().hasCUDA()
          ? at::globalContext().getAcceleratorHooksInterface(at::kCUDA).deviceCount()
          : 0;
  return join_text("CUDA ", version, ", ", int{devices}, devices == 1 ? " device" : " devices");
}

}  // namespace

std::string version_text() {
  return join_text("dragoman ", DRAGOMAN_VERSION, "\nLibTorch ", TORCH_VERSION, " (", cuda_text(),
                   ")\nprocessor ", cpu_features().model, ": ", cpu_features_text(), ", ",
                   available_cores(), available_cores() == 1 ? " core\n" : " cores\n");
}

}  // namespace dragoman
