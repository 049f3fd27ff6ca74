#include "model/device.h"

#include <ATen/Context.h>
#include <ATen/Parallel.h>
#include <c10/core/CachingDeviceAllocator.h>
#include <torch/cuda.h>

#include <algorithm>

#include "base/error.h"
#include "kernels/kernels.h"

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
  return "working on the CPU; --device cuda would use the GPU of this machine, but is little "
         "tested";
}

int use_threads(std::int64_t threads, int processes) {
  const int count = threads_to_use(threads, processes);
  at::set_num_threads(count);
  return count;
}

namespace {

/// Restores the number of LibTorch's threads at the end. Otherwise threads that start later would
/// have the number of a worker.
class ThreadCountGuard {
 public:
  ThreadCountGuard() : threads_(at::get_num_threads()) {}
  ThreadCountGuard(const ThreadCountGuard&) = delete;
  ThreadCountGuard& operator=(const ThreadCountGuard&) = delete;
  ~ThreadCountGuard() { at::set_num_threads(threads_); }

  int of_each(std::size_t count) const { return std::max(1, threads_ / static_cast<int>(count)); }

 private:
  int threads_;
};

}  // namespace

void run_side_by_side(ThreadTeam& team, std::size_t count,
                      const std::function<void(std::size_t)>& task) {
  const ThreadCountGuard threads;
  team.run(count, [&](std::size_t i) {
    at::set_num_threads(threads.of_each(count));  // this worker's
    task(i);
  });
}

// The memory of a GPU

namespace {

c10::CachingAllocator::Stat taken_of(torch::Device device) {
  return c10::getDeviceAllocator(device.type())
      ->getDeviceStats(device.index())
      .reserved_bytes[static_cast<std::size_t>(c10::CachingAllocator::StatType::AGGREGATE)];
}

}  // namespace

std::int64_t device_memory(torch::Device device) {
  const auto [free, all] = c10::getDeviceAllocator(device.type())->getMemoryInfo(device.index());
  return static_cast<std::int64_t>(free) + taken_of(device).current;
}

void reset_peak_device_memory(torch::Device device) {
  c10::DeviceAllocator* const allocator = c10::getDeviceAllocator(device.type());
  allocator->emptyCache();
  allocator->resetPeakStats(device.index());
}

std::int64_t peak_device_memory(torch::Device device) { return taken_of(device).peak; }

// The memory of attention on the CPU

namespace {

std::int64_t longest(std::span<const std::int32_t> starts) {
  std::int64_t length = 0;
  for (std::size_t b = 0; b + 1 < starts.size(); ++b)
    length = std::max<std::int64_t>(length, starts[b + 1] - starts[b]);
  return length;
}

/// The scores of all heads and sentences, padded to the longest; 0 if the packed kernel has room
/// for the keys of each.
std::int64_t padded_scores(const ModelConfig& config, std::span<const std::int32_t> queries,
                           std::span<const std::int32_t> keys) {
  const std::int64_t T = longest(queries), S = longest(keys);
  if (fits_packed_attention(S, config.d_k())) return 0;
  return static_cast<std::int64_t>(keys.size() - 1) * config.heads * T * S;  // B H T S
}

}  // namespace

std::int64_t attention_memory(const ModelConfig& config, const SentenceStarts& starts,
                              std::int64_t element_size, Pass pass) {
  const std::int64_t encoder = padded_scores(config, starts.source, starts.source),
                     decoder = padded_scores(config, starts.target, starts.target),
                     cross = padded_scores(config, starts.target, starts.source);
  const std::int64_t largest = std::max({encoder, decoder, cross});
  if (pass == Pass::Forward) return 2 * largest * element_size;
  const std::int64_t all =
      config.encoder_layers * encoder + config.decoder_layers * (decoder + cross);
  const std::int64_t kept = config.attention_dropout > 0 ? 2 : 1;  // weights, before it and after
  return (kept * all + largest) * element_size;
}

}  // namespace dragoman
