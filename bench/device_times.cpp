#include "bench/device_times.h"

#include <torch/csrc/autograd/profiler_kineto.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "model/device.h"
#include "tests/cuda_stand_in/counts.h"

namespace dragoman {

namespace {

struct KernelTime {
  double milliseconds = 0;
  std::int64_t launches = 0;

  void add(double more, std::int64_t times) {
    milliseconds += more;
    launches += times;
  }
  nlohmann::ordered_json json() const { return {{"ms", milliseconds}, {"launches", launches}}; }
};

std::map<std::string, KernelTime> profile(const std::function<void()>& work) {
  namespace profiler = torch::autograd::profiler;
  const torch::profiler::impl::ProfilerConfig config(torch::profiler::impl::ProfilerState::KINETO);
  const std::set<torch::profiler::impl::ActivityType> activities = {
      torch::profiler::impl::ActivityType::CUDA};
  profiler::prepareProfiler(config, activities);
  profiler::enableProfiler(config, activities);
  work();
  const auto result = profiler::disableProfiler();
  std::map<std::string, KernelTime> by_name;
  for (const auto& event : result->events()) {
    if (event.deviceType() != c10::DeviceType::CUDA) continue;
    by_name[event.name()].add(1e-6 * static_cast<double>(event.durationNs()), 1);
  }
  return by_name;
}

}  // namespace

nlohmann::ordered_json time_by_kernel(const std::function<void()>& work) {
  constexpr std::size_t kNames = 30, kNameLength = 160;
  const auto by_name = profile(work);
  std::vector<std::pair<std::string, KernelTime>> sorted(by_name.begin(), by_name.end());
  std::ranges::sort(sorted, [](const auto& a, const auto& b) {
    return a.second.milliseconds > b.second.milliseconds;
  });
  KernelTime all, rest;
  auto kernels = nlohmann::ordered_json::array();
  for (const auto& [name, time] : sorted) {
    all.add(time.milliseconds, time.launches);
    if (kernels.size() == kNames) {
      rest.add(time.milliseconds, time.launches);
      continue;
    }
    kernels.push_back({{"name", name.substr(0, kNameLength)}});
    kernels.back().update(time.json());
  }
  return {{"all", all.json()}, {"kernels", kernels}, {"rest", rest.json()}};
}

nlohmann::ordered_json launches_by_kernel(const std::function<void()>& work) {
  const StandInCounts counts;
  work();
  return counts.report()["launches"];
}

double peak_device_memory_gib(torch::Device device) {
  return device.is_cpu() ? 0 : static_cast<double>(peak_device_memory(device)) / (1 << 30);
}

}  // namespace dragoman
