#include "inference/device/recorded_steps.h"

#include <utility>

namespace dragoman {

bool RecordedSteps::is_available(torch::Device device) {
  return DeviceGraph::is_available(device) && DeviceSearch::place_of_numbers(device) == device;
}

void RecordedSteps::take() {
  const auto step = [this] { search_.advance(model_.step(search_.next_step())); };
  std::erase_if(by_columns_,
                [now = places()](const auto& steps) { return steps.second.places != now; });
  const auto [found, is_first] = by_columns_.try_emplace(search_.step_columns());
  Recorded& recorded = found->second;
  if (is_first) {
    step();
    recorded.places = places();  // it may have made room
    return;
  }
  if (recorded.graph) {
    search_.count_step();
  } else {
    auto graph = std::make_unique<DeviceGraph>(model_.device());
    graph->record(step);
    recorded.graph = std::move(graph);
  }
  recorded.graph->launch();
}

TensorPlaces RecordedSteps::places() const {
  TensorPlaces places = search_.places();
  model_.add_places(places);
  return places;
}

}  // namespace dragoman
