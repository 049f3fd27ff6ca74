// Graphs of the device, as LibTorch (2.12 or newer) asks for them.
#if __has_include(<ATen/core/GraphImplInterface.h>)
#include <ATen/core/GraphImplInterface.h>
#endif

#include <atomic>
#include <mutex>
#include <utility>
#include <vector>

#include "tests/cuda_stand_in/stand_in.h"

namespace dragoman::cuda_stand_in {

namespace {

using Works = std::vector<std::function<void()>>;

std::mutex mutex;  // a backward pass runs on a thread of its own
Works* recorded = nullptr;
std::atomic<bool> recording = false;

}  // namespace

bool is_recording() { return recording; }

void record(std::function<void()> work) {
  const std::lock_guard lock(mutex);
  if (recorded != nullptr) recorded->push_back(std::move(work));
}

void perform(const std::function<void()>& work) {
  work();
  if (is_recording()) record(work);
}

void refuse_to_record(const std::string& what) {
  TORCH_CHECK(!is_recording(), "stand-in for CUDA: ", what, " while a graph is recorded");
}

#if __has_include(<ATen/core/GraphImplInterface.h>)

namespace {

void set_recorded(Works* works) {
  const std::lock_guard lock(mutex);
  recorded = works;
  recording = works != nullptr;
}

class Graph final : public at::GraphImplInterface {
 public:
  explicit Graph(const at::GraphImplArgs&) {}

  void capture_begin(at::MempoolId_t, at::GraphCaptureMode) override {
    TORCH_CHECK(current_stream() != 0, "CUDA graphs must be captured on a non-default stream");
    catch_up();
    begin_recording_memory();
    set_recorded(&works_);
  }
  void capture_end() override {
    set_recorded(nullptr);
    end_recording_memory();
  }
  void instantiate() override {}
  void replay() override {
    catch_up();
    for (const auto& work : works_) work();
  }
  void reset() override { works_.clear(); }
  at::MempoolId_t pool() const override { return {0, 0}; }
  void enable_debug_mode() override {}
  void debug_dump(const std::string&) override {}

 private:
  Works works_;
};

}  // namespace

#endif

}  // namespace dragoman::cuda_stand_in

#if __has_include(<ATen/core/GraphImplInterface.h>)
namespace at {
using StandInGraph = dragoman::cuda_stand_in::Graph;
REGISTER_GRAPH_IMPL(CUDA, StandInGraph)
}  // namespace at
#endif
