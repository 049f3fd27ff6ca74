// What the stand-in for CUDA has counted in this process.
#pragma once

#include <dlfcn.h>

#include <nlohmann/json.hpp>
#include <string>

namespace dragoman {

class StandInCounts {
 public:
  /// Counts from now on.
  StandInCounts() {
    if (is_loaded()) call<void>("cuda_stand_in_reset");
  }

  static bool is_loaded() { return dlsym(RTLD_DEFAULT, "cuda_stand_in_reset") != nullptr; }

  /// {"launches": {name: {"count", "read", "written"}}, "waits": {name: count}, "host_launches",
  /// ...}: all launches, those in a graph included, and how many of them the host has made.
  nlohmann::json report() const {
    return nlohmann::json::parse(call<const char*>("cuda_stand_in_report"));
  }
  /// How often the operation was launched.
  std::int64_t launches_of(const std::string& operation) const {
    const nlohmann::json launches = report()["launches"];
    return launches.contains(operation) ? launches[operation]["count"].get<std::int64_t>() : 0;
  }
  std::int64_t host_launches() const { return report()["host_launches"].get<std::int64_t>(); }
  /// {name: count}
  nlohmann::json waits() const { return report()["waits"]; }

 private:
  template <class Result>
  static Result call(const char* name) {
    return reinterpret_cast<Result (*)()>(dlsym(RTLD_DEFAULT, name))();
  }
};

}  // namespace dragoman
