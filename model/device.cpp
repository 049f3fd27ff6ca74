#include "model/device.h"

#include <ATen/Context.h>
#include <ATen/Parallel.h>
#include <torch/cuda.h>

#include "base/error.h"
#include "base/threads.h"

namespace dragoman {

torch::Device parse_device(const std::string& text, int local_rank) {
  if (text == "cpu" || text == "auto") return torch::kCPU;
  const bool numbered = text.starts_with("cuda:");
  if (text != "cuda" && !numbered)
    throw UsageError("--device: '", text, "' is none of auto, cpu, cuda, cuda:N");
  const std::string digits = numbered ? text.substr(5) : "0";
  if (digits.empty() || digits.size() > 3 ||
      digits.find_first_not_of("0123456789") != std::string::npos)
    throw UsageError("--device: '", text, "' is none of auto, cpu, cuda, cuda:N");
  const auto devices = static_cast<std::int64_t>(torch::cuda::device_count());
  if (devices == 0)
    throw Error("--device ", text,
                at::globalContext().hasCUDART()
                    ? ": there is no GPU here that CUDA can use"
                    : ": this LibTorch was built without CUDA (scripts/setup --cuda gets one)",
                "; use --device cpu or auto");
  const std::int64_t number = numbered ? std::stoll(digits) : local_rank % devices;
  if (number >= devices)
    throw Error("--device ", text, ": there are ", devices, " CUDA devices, numbered from 0");
  // cuDNN's attention makes a plan for each shape, which takes longer than the attention does.
  at::globalContext().setSDPUseCuDNN(false);
  return {torch::kCUDA, static_cast<torch::DeviceIndex>(number)};
}

std::string unused_gpu_notice(const std::string& text) {
  if (text != "auto" || !torch::cuda::is_available()) return "";
  return "working on the CPU; --device cuda works on the GPU that is here, which is little tested";
}

int use_threads(std::int64_t threads, int processes) {
  const int count = threads_to_use(threads, processes);
  at::set_num_threads(count);
  return count;
}

}  // namespace dragoman
