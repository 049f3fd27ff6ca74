// Work that is recorded once, and then given to a GPU as a whole: a CUDA graph. It then takes the
// host the time of one launch.
#pragma once

#include <torch/types.h>

#include <functional>
#include <memory>

namespace dragoman {

class DeviceGraph {
 public:
  /// Whether work for the device can be recorded: on a GPU, if the build has LibTorch's graphs.
  static bool is_available(torch::Device device);

  explicit DeviceGraph(torch::Device device);
  DeviceGraph(const DeviceGraph&) = delete;
  DeviceGraph& operator=(const DeviceGraph&) = delete;
  ~DeviceGraph();

  /// Records what `work` gives the device, which does not do it yet. The work must have been done
  /// once before, so that libraries are ready. It must not wait for the device, or read the host's
  /// memory. The tensors that it makes stay as long as this object; the others must stay where they
  /// are. Call it once, after is_available(). If it throws, nothing is recorded.
  void record(const std::function<void()>& work);
  /// Gives the current stream the recorded work.
  void launch();

 private:
  struct Graph;

  torch::Device device_;
  std::unique_ptr<Graph> graph_;
};

}  // namespace dragoman
