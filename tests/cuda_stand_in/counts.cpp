// Counts, and the report of them.
#include <c10/util/Backtrace.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <map>
#include <mutex>
#include <nlohmann/json.hpp>

#include "tests/cuda_stand_in/stand_in.h"

namespace dragoman::cuda_stand_in {

namespace {

struct Launches {
  std::int64_t count = 0;
  double read = 0, written = 0;
};

struct Counts {
  std::mutex mutex;
  std::map<std::string, Launches> launches;
  std::map<std::string, std::int64_t> waits;
  std::int64_t host_launches = 0;
  std::int64_t allocations = 0;
  std::size_t most_in_use = 0;
};

/// Never destroyed: threads may count to the last.
Counts& counts() {
  static auto& counts = *new Counts;
  return counts;
}

std::string report() {
  Counts& all = counts();
  const std::lock_guard lock(all.mutex);
  nlohmann::json by_name = nlohmann::json::object();
  Launches sum;
  for (const auto& [name, launches] : all.launches) {
    by_name[name] = {
        {"count", launches.count}, {"read", launches.read}, {"written", launches.written}};
    sum.count += launches.count;
    sum.read += launches.read;
    sum.written += launches.written;
  }
  return nlohmann::json{{"launches", by_name},
                        {"launch_count", sum.count},
                        {"host_launches", all.host_launches},
                        {"bytes_read", sum.read},
                        {"bytes_written", sum.written},
                        {"waits", nlohmann::json(all.waits)},
                        {"allocations", all.allocations},
                        {"most_bytes_in_use", all.most_in_use}}
      .dump(1);
}

struct ReportAtTheEnd {
  ~ReportAtTheEnd() {
    if (counts().launches.empty()) return;  // a process that runs others
    if (const char* path = std::getenv("CUDA_STAND_IN_REPORT")) std::ofstream(path) << report();
  }
} report_at_the_end;

}  // namespace

void count_launch(const std::string& name, double bytes_read, double bytes_written) {
  const std::lock_guard lock(counts().mutex);
  Launches& launches = counts().launches[name];
  ++launches.count;
  launches.read += bytes_read;
  launches.written += bytes_written;
  if (!is_replaying()) ++counts().host_launches;
}

void count_graph_launch() {
  const std::lock_guard lock(counts().mutex);
  ++counts().host_launches;
}

void count_wait(const std::string& name) {
  refuse_to_record(name);
  bool first = false;
  {
    const std::lock_guard lock(counts().mutex);
    first = ++counts().waits[name] == 1;
  }
  if (first && std::getenv("CUDA_STAND_IN_STACKS") != nullptr)
    std::fprintf(stderr, "stand-in for CUDA: %s first at\n%s\n", name.c_str(),
                 c10::get_backtrace(1, 50).c_str());
}

void count_allocation(std::size_t in_use) {
  const std::lock_guard lock(counts().mutex);
  ++counts().allocations;
  counts().most_in_use = std::max(counts().most_in_use, in_use);
}

extern "C" void cuda_stand_in_reset() {
  Counts& all = counts();
  const std::lock_guard lock(all.mutex);
  all.launches.clear();
  all.waits.clear();
  all.host_launches = 0;
  all.allocations = 0;
  all.most_in_use = 0;
}

extern "C" const char* cuda_stand_in_report() {
  thread_local std::string text;
  text = report();
  return text.c_str();
}

}  // namespace dragoman::cuda_stand_in
