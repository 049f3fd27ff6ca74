// Streams, events and the device itself. An operation is done at once. A copy from or to
// page-locked memory waits until something must see it: the next operation of its stream, an
// operation of another stream that waits for an event after it, or the host.
#include <ATen/CPUGeneratorImpl.h>
#include <ATen/core/LegacyTypeDispatch.h>
#include <ATen/detail/CUDAHooksInterface.h>
#include <c10/core/DeviceCapability.h>
#include <c10/core/impl/DeviceGuardImplInterface.h>

#include <atomic>
#include <limits>
#include <list>
#include <mutex>

#include "tests/cuda_stand_in/stand_in.h"

namespace dragoman::cuda_stand_in {

namespace {

constexpr std::int64_t kAll = std::numeric_limits<std::int64_t>::max();

/// A moment of a stream: all that was given to it before.
struct Event {
  std::int64_t stream = 0, number = -1;
};

/// What a stream has not done yet: a copy, or waiting for an event of another one.
struct Task {
  std::int64_t stream, number;
  at::Tensor to, from;
  Event after;
};

thread_local std::int64_t stream_of_thread = 0;

class Tasks {
 public:
  void add(Task task) {
    const std::lock_guard lock(mutex_);
    task.number = next_number_++;
    tasks_.push_back(std::move(task));
  }
  Event now(std::int64_t stream) {
    const std::lock_guard lock(mutex_);
    return {stream, next_number_ - 1};
  }
  /// Does all tasks of the event's stream up to the event.
  void reach(const Event& event) {
    const std::lock_guard lock(mutex_);
    for (auto task = tasks_.begin(); task != tasks_.end();) {
      if (task->stream != event.stream || task->number > event.number) {
        ++task;
        continue;
      }
      const Task due = std::move(*task);
      tasks_.erase(task);
      if (due.to.defined()) {
        const at::AutoDispatchBelowADInplaceOrView below;
        at::Tensor to = seen_by_kernels(due.to);
        to.copy_(seen_by_kernels(due.from));
      } else {
        reach(due.after);
      }
      task = tasks_.begin();  // reach() may have erased others
    }
  }

 private:
  std::recursive_mutex mutex_;
  std::list<Task> tasks_;
  std::int64_t next_number_ = 0;
};

Tasks& tasks() {
  static auto& tasks = *new Tasks;
  return tasks;
}

const c10::Device kDevice(c10::DeviceType::CUDA, 0);

c10::Stream stream_of(std::int64_t id) { return c10::Stream(c10::Stream::UNSAFE, kDevice, id); }

void reach(void* event) {
  if (event != nullptr) tasks().reach(*static_cast<Event*>(event));
}

struct Guard final : c10::impl::DeviceGuardImplInterface {
  static constexpr c10::DeviceType static_type = c10::DeviceType::CUDA;

  c10::DeviceType type() const override { return static_type; }
  c10::Device exchangeDevice(c10::Device) const override { return kDevice; }
  c10::Device getDevice() const override { return kDevice; }
  void setDevice(c10::Device) const override {}
  void uncheckedSetDevice(c10::Device) const noexcept override {}
  c10::DeviceIndex deviceCount() const noexcept override { return 1; }
  c10::DeviceCapability getDeviceCapability(c10::Device) const override { return {}; }

  c10::Stream getStream(c10::Device) const override { return stream_of(stream_of_thread); }
  c10::Stream getDefaultStream(c10::Device) const override { return stream_of(0); }
  void* getStreamNativeHandle(c10::Stream stream) const override {
    return reinterpret_cast<void*>(stream.id());
  }
  c10::Stream getStreamFromGlobalPool(c10::Device, bool) const override {
    static std::atomic<std::int64_t> taken = 0;
    return stream_of(1 + taken++ % 32);
  }
  c10::Stream getNewStream(c10::Device device, int) const override {
    return getStreamFromGlobalPool(device, false);
  }
  c10::Stream exchangeStream(c10::Stream stream) const override {
    return stream_of(std::exchange(stream_of_thread, stream.id()));
  }
  bool queryStream(const c10::Stream& stream) const override {
    tasks().reach({stream.id(), kAll});
    return true;
  }
  void synchronizeStream(const c10::Stream& stream) const override {
    count_wait("synchronizeStream");
    tasks().reach({stream.id(), kAll});
  }
  void synchronizeDevice(c10::DeviceIndex) const override {
    count_wait("synchronizeDevice");
    for (std::int64_t stream = 0; stream <= 32; ++stream) tasks().reach({stream, kAll});
  }

  void record(void** event, const c10::Stream& stream, c10::DeviceIndex,
              c10::EventFlag) const override {
    if (*event == nullptr) *event = new Event;
    *static_cast<Event*>(*event) = tasks().now(stream.id());
  }
  void block(void* event, const c10::Stream& stream) const override {
    if (event == nullptr) return;
    tasks().add({.stream = stream.id(),
                 .number = 0,
                 .to = {},
                 .from = {},
                 .after = *static_cast<Event*>(event)});
  }
  bool queryEvent(void* event) const override {
    reach(event);
    return true;
  }
  void synchronizeEvent(void* event) const override {
    count_wait("synchronizeEvent");
    reach(event);
  }
  void destroyEvent(void* event, c10::DeviceIndex) const noexcept override {
    delete static_cast<Event*>(event);
  }
  void recordDataPtrOnStream(const c10::DataPtr& data, const c10::Stream& stream) const override {
    allow_use(data.get(), stream.id());
  }
};
C10_REGISTER_GUARD_IMPL(CUDA, Guard)

}  // namespace

std::int64_t current_stream() { return stream_of_thread; }

void catch_up() { tasks().reach({stream_of_thread, kAll}); }

void copy_later(const at::Tensor& to, const at::Tensor& from) {
  tasks().add({.stream = stream_of_thread, .number = 0, .to = to, .from = from, .after = {}});
}

}  // namespace dragoman::cuda_stand_in

namespace at {

/// The device, as LibTorch asks for it.
struct CUDAHooks final : CUDAHooksInterface {
  explicit CUDAHooks(CUDAHooksArgs) {}
  void init() const override {}
  bool isBuilt() const override { return true; }
  bool isAvailable() const override { return true; }
  bool hasCUDA() const override { return true; }
  bool hasCUDART() const override { return true; }
  bool hasPrimaryContext(DeviceIndex) const override { return true; }
  int getNumGPUs() const override { return 1; }
  DeviceIndex deviceCount() const override { return 1; }
  DeviceIndex current_device() const override { return 0; }
  DeviceIndex getCurrentDevice() const override { return 0; }
  void setCurrentDevice(DeviceIndex) const override {}
  DeviceIndex exchangeDevice(DeviceIndex) const override { return 0; }
  DeviceIndex maybeExchangeDevice(DeviceIndex) const override { return 0; }
  Device getDeviceFromPtr(void*) const override { return {kCUDA, 0}; }
  const Generator& getDefaultGenerator(DeviceIndex) const override {
    return at::detail::getDefaultCPUGenerator();
  }
  Generator getNewGenerator(DeviceIndex) const override { return at::detail::createCPUGenerator(); }
  bool isPinnedPtr(const void* address) const override {
    return dragoman::cuda_stand_in::is_locked(address);
  }
  Allocator* getPinnedMemoryAllocator() const override {
    return &dragoman::cuda_stand_in::locked_allocator();
  }
  Allocator* getCUDADeviceAllocator() const override {
    return &dragoman::cuda_stand_in::device_allocator();
  }
  void deviceSynchronize(DeviceIndex) const override {
    c10::impl::getDeviceGuardImpl(kCUDA)->synchronizeDevice(0);
  }
  std::string showConfig() const override { return "CUDA_VERSION=stand-in"; }
};
REGISTER_CUDA_HOOKS(CUDAHooks)

}  // namespace at
