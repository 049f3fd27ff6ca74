#include "model/ops/device_graph.h"

#include <c10/core/Event.h>
#include <c10/core/StreamGuard.h>
#include <c10/core/impl/VirtualGuardImpl.h>

#include <exception>

// LibTorch 2.11 has graphs for CUDA alone, whose header needs CUDA's headers. Later versions have
// them for any device.
#ifdef DRAGOMAN_HAS_CUDA_HEADERS
#include <ATen/cuda/CUDAGraph.h>
#elif __has_include(<ATen/core/GraphImplInterface.h>)
#include <ATen/core/GraphImplInterface.h>
#endif

namespace dragoman {

#ifdef DRAGOMAN_HAS_CUDA_HEADERS

struct DeviceGraph::Graph {
  explicit Graph(torch::Device) {}
  void begin() { recorded.capture_begin({0, 0}, cudaStreamCaptureModeThreadLocal); }
  at::cuda::CUDAGraph recorded;
  at::cuda::CUDAGraph* operator->() { return &recorded; }
};

bool DeviceGraph::is_available(torch::Device device) { return device.is_cuda(); }

#elif __has_include(<ATen/core/GraphImplInterface.h>)

struct DeviceGraph::Graph {
  explicit Graph(torch::Device device) : recorded(at::create_graph_impl(device.type())) {}
  void begin() { recorded->capture_begin({0, 0}, at::GraphCaptureMode::ThreadLocal); }
  std::unique_ptr<at::GraphImplInterface> recorded;
  at::GraphImplInterface* operator->() { return recorded.get(); }
};

bool DeviceGraph::is_available(torch::Device device) {
  return device.is_cuda() && at::has_graph_impl(device.type());
}

#else

struct NoGraph {
  void capture_end() {}
  void replay() {}
};

struct DeviceGraph::Graph {
  explicit Graph(torch::Device) {}
  void begin() {}
  NoGraph none;
  NoGraph* operator->() { return &none; }
};

bool DeviceGraph::is_available(torch::Device) { return false; }

#endif

DeviceGraph::DeviceGraph(torch::Device device) : device_(device) {}
DeviceGraph::~DeviceGraph() = default;

void DeviceGraph::record(const std::function<void()>& work) {
  TORCH_CHECK(is_available(device_), "graphs are not available");
  const c10::impl::VirtualGuardImpl gpu(device_.type());
  // One for a thread, which works on one device: LibTorch keeps a workspace of cuBLAS for each.
  thread_local const c10::Stream recorder = gpu.getStreamFromGlobalPool(device_);
  c10::Event before(device_.type());
  before.record(gpu.getStream(device_));
  before.block(recorder);
  const c10::StreamGuard guard(recorder);  // the default stream cannot record
  graph_ = std::make_unique<Graph>(device_);
  graph_->begin();  // other threads may use the device meanwhile
  std::exception_ptr problem;
  try {
    work();
  } catch (...) {
    problem = std::current_exception();
  }
  try {
    (*graph_)->capture_end();
  } catch (...) {
    if (!problem) problem = std::current_exception();
  }
  if (!problem) return;
  graph_.reset();
  std::rethrow_exception(problem);
}

void DeviceGraph::launch() { (*graph_)->replay(); }

}  // namespace dragoman
