// Graphs of the device, as LibTorch asks for them: 2.12 and newer by an interface for any
// device, 2.11 by a class of CUDA's part, whose header needs CUDA's headers.
#if __has_include(<ATen/core/GraphImplInterface.h>)
#include <ATen/core/GraphImplInterface.h>
#elif __has_include(<cuda_runtime_api.h>)
#include <ATen/cuda/CUDAGeneratorImpl.h>
#include <ATen/cuda/CUDAGraph.h>
#endif

#include <atomic>
#include <map>
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
thread_local bool replaying = false;

}  // namespace

bool is_recording() { return recording; }
bool is_replaying() { return replaying; }

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

namespace {

void set_recorded(Works* works) {
  const std::lock_guard lock(mutex);
  recorded = works;
  recording = works != nullptr;
}

class Recording {
 public:
  Recording() = default;
  Recording(const Recording&) = delete;
  Recording& operator=(const Recording&) = delete;
  ~Recording() { reset(); }

  void begin() {
    TORCH_CHECK(current_stream() != 0, "CUDA graphs must be captured on a non-default stream");
    catch_up();
    begin_recording_memory();
    set_recorded(&works_);
  }
  void end() {
    set_recorded(nullptr);
    memory_ = end_recording_memory();
  }
  void replay() const {
    const struct Replaying {
      Replaying() { replaying = true; }
      ~Replaying() { replaying = false; }
    } during;
    count_graph_launch();
    catch_up();
    for (const auto& work : works_) work();
  }
  void reset() {
    works_.clear();
    forget_graph_memory(std::exchange(memory_, {}));
  }

 private:
  Works works_;
  std::vector<void*> memory_;
};

#if __has_include(<ATen/core/GraphImplInterface.h>)

class Graph final : public at::GraphImplInterface {
 public:
  explicit Graph(const at::GraphImplArgs&) {}

  void capture_begin(at::MempoolId_t, at::GraphCaptureMode) override { recording_.begin(); }
  void capture_end() override { recording_.end(); }
  void instantiate() override {}
  void replay() override { recording_.replay(); }
  void reset() override { recording_.reset(); }
  at::MempoolId_t pool() const override { return {0, 0}; }
  void enable_debug_mode() override {}
  void debug_dump(const std::string&) override {}

 private:
  Recording recording_;
};

#elif __has_include(<cuda_runtime_api.h>)

// CUDA's class has no member for it.
std::map<const at::cuda::CUDAGraph*, Recording> recordings;

#endif

}  // namespace

}  // namespace dragoman::cuda_stand_in

#if __has_include(<ATen/core/GraphImplInterface.h>)
namespace at {
using StandInGraph = dragoman::cuda_stand_in::Graph;
REGISTER_GRAPH_IMPL(CUDA, StandInGraph)
}  // namespace at
#elif __has_include(<cuda_runtime_api.h>)
namespace at::cuda {
using dragoman::cuda_stand_in::recordings;
CUDAGraph::CUDAGraph(bool)
    : capture_stream_(CUDAStream::UNCHECKED, c10::Stream(c10::Stream::DEFAULT, {c10::kCUDA, 0})) {}
CUDAGraph::~CUDAGraph() { recordings.erase(this); }
void CUDAGraph::capture_begin(MempoolId_t, cudaStreamCaptureMode) { recordings[this].begin(); }
void CUDAGraph::capture_end() { recordings.at(this).end(); }
void CUDAGraph::replay() { recordings.at(this).replay(); }
}  // namespace at::cuda
#endif
