// Steps of a search as graphs: the host's time for a step is then that of one launch. All that
// steps with the same number of columns pass on is in tensors that stay where they are. The first
// such step is taken without a graph, which gets libraries ready. The second one is recorded, and
// all later ones are launched. When a tensor has moved because a new sentence needs more room,
// graphs that know its old place are dropped.
#pragma once

#include <torch/types.h>

#include <cstdint>
#include <map>
#include <memory>

#include "inference/device/device_search.h"
#include "model/ops/device_graph.h"

namespace dragoman {

class RecordedSteps {
 public:
  /// Whether steps on the device can be recorded: if there are graphs (DeviceGraph), and the search
  /// keeps its numbers on the device.
  static bool is_available(torch::Device device);

  /// After is_available(). Both must outlive this object; DeviceModel::shape() has been called.
  RecordedSteps(DeviceModel& model, DeviceSearch& search) : model_(model), search_(search) {}

  /// Takes a step: DeviceSearch::advance() by the model's results.
  void take();

 private:
  struct Recorded {
    TensorPlaces places;
    std::unique_ptr<DeviceGraph> graph;  // null after the first step
  };
  TensorPlaces places() const;

  DeviceModel& model_;
  DeviceSearch& search_;
  std::map<std::int64_t, Recorded> by_columns_;
};

}  // namespace dragoman
