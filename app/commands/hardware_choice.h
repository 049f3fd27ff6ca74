// The flags for a command's hardware.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/fields.h"
#include "inference/cpu/packed_linear.h"

namespace dragoman {

struct HardwareChoice {
  std::string device = "auto";
  std::int64_t threads = 0;

  template <class Visit>
  void for_each_field(Visit&& visit) {
    constexpr std::string_view kHardware = "Hardware";
    visit({.name = "device",
           .help = "device to compute on: auto, cpu, cuda or cuda:N",
           .group = kHardware},
          device);
    visit({.name = "threads",
           .help = "threads on the CPU; 0: all cores that this process may use",
           .group = kHardware,
           .aliases = "cpu-threads,workers,inter-threads"},
          threads);
  }
};

/// The hardware of commands that translate.
struct EngineChoice : HardwareChoice {
  ComputeType compute_type = ComputeType::Auto;

  template <class Visit>
  void for_each_field(Visit&& visit) {
    HardwareChoice::for_each_field(visit);
    visit({.name = "compute-type",
           .help = "number type of the arithmetic on the CPU; auto: that of the weights in the "
                   "model file; bfloat16 and int8 round the weights and are faster",
           .group = "Hardware"},
          compute_type);
  }
};

}  // namespace dragoman
