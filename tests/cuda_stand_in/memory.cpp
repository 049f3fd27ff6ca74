// Memory of the device: each block has two addresses. The one that tensors know may not be touched;
// kernels use the other one, at a constant distance.
#include <ATen/ops/from_blob.h>
#include <c10/core/CachingDeviceAllocator.h>
#include <c10/util/Backtrace.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <mutex>
#include <set>
#include <utility>
#include <vector>

#include "tests/cuda_stand_in/stand_in.h"

namespace dragoman::cuda_stand_in {

namespace {

constexpr std::size_t kAddresses = std::size_t{1} << 38;
constexpr std::size_t kPage = 4096;
/// The pages of a larger block are given back to the system when it is freed.
constexpr std::size_t kSmall = std::size_t{1} << 26;

char* reserve(int protection) {
  void* address =
      mmap(nullptr, kAddresses, protection, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (address == MAP_FAILED) {
    std::perror("stand-in for CUDA");
    std::abort();
  }
  return static_cast<char*>(address);
}

class DeviceMemory {
 public:
  DeviceMemory() {
    if (const char* mib = std::getenv("CUDA_STAND_IN_MIB"))
      size_ = static_cast<std::size_t>(std::atoll(mib)) << 20;
  }

  bool has(const void* address) const { return address >= begin_ && address < begin_ + kAddresses; }
  void* seen_by_kernels(const void* address) const {
    return has(address) ? seen_ + (static_cast<const char*>(address) - begin_)
                        : const_cast<void*>(address);
  }

  void* take(std::size_t bytes) {
    const std::size_t size = (bytes + kPage - 1) / kPage * kPage;
    const std::lock_guard lock(mutex_);
    TORCH_CHECK_WITH(OutOfMemoryError, in_use_ + size <= size_,
                     "CUDA out of memory. Tried to allocate ", bytes, " bytes; ", in_use_, " of ",
                     size_, " are in use (stand-in)");
    in_use_ += size;
    peak_ = std::max(peak_, in_use_);
    count_allocation(in_use_);
    std::vector<char*>& free = free_[size];
    char* address = nullptr;
    if (free.empty()) {
      address = begin_ + used_;
      used_ += size;
      TORCH_CHECK(used_ <= kAddresses, "stand-in for CUDA: no addresses left");
    } else {
      address = free.back();
      free.pop_back();
    }
    taken_[address] = {.size = size,
                       .users = {is_recording() ? kAllStreams : current_stream()},
                       .is_of_graph = is_recording()};
    if (is_recording()) of_graph_.push_back(address);
    std::memset(seen_by_kernels(address), 0xFF, size);  // not a number, in each type
    return address;
  }

  void give_back(void* address) {
    if (address == nullptr) return;
    const std::lock_guard lock(mutex_);
    const auto block = taken_.find(static_cast<char*>(address));
    if (block == taken_.end()) {
      std::fputs("stand-in for CUDA: memory is freed twice\n", stderr);
      std::abort();
    }
    block->second.is_left = true;
    if (!block->second.is_of_graph) free_block(block);
  }

  /// Throws unless the stream may use this many bytes from `address` on.
  void check_use(const void* address, std::size_t bytes, std::int64_t stream,
                 const std::string& operation) {
    const auto* begin = static_cast<const char*>(address);
    const std::lock_guard lock(mutex_);
    auto block = taken_.upper_bound(const_cast<char*>(begin));
    const bool is_taken =
        block != taken_.begin() && begin + bytes <= (--block)->first + block->second.size;
    TORCH_CHECK(is_taken, "stand-in for CUDA: ", operation, " uses freed memory, or not its own");
    const std::set<std::int64_t>& users = block->second.users;
    TORCH_CHECK(is_recording() || users.contains(stream) || users.contains(kAllStreams),
                "stand-in for CUDA: ", operation,
                " uses memory of another stream, which nobody has recorded");
  }
  void begin_recording() {
    const std::lock_guard lock(mutex_);
    for (const auto& [address, block] : taken_)
      before_[address].assign(static_cast<char*>(seen_by_kernels(address)), block.size);
  }
  std::vector<void*> end_recording() {
    const std::lock_guard lock(mutex_);
    for (const auto& [address, block] : taken_) {
      void* seen = seen_by_kernels(address);
      const auto content = before_.find(address);
      if (content != before_.end() && content->second.size() == block.size)
        std::memcpy(seen, content->second.data(), block.size);
      else
        std::memset(seen, 0xFF, block.size);
    }
    before_.clear();
    return std::exchange(of_graph_, {});
  }
  void forget_graph(const std::vector<void*>& blocks) {
    const std::lock_guard lock(mutex_);
    for (void* address : blocks) {
      const auto block = taken_.find(static_cast<char*>(address));
      block->second.is_of_graph = false;
      if (block->second.is_left) free_block(block);
    }
  }
  c10::CachingDeviceAllocator::DeviceStats stats() {
    const std::lock_guard lock(mutex_);
    c10::CachingDeviceAllocator::DeviceStats stats;
    auto& all = stats.reserved_bytes[static_cast<std::size_t>(
        c10::CachingDeviceAllocator::StatType::AGGREGATE)];
    all.current = static_cast<std::int64_t>(in_use_);
    all.peak = static_cast<std::int64_t>(peak_);
    return stats;
  }
  void reset_peak() {
    const std::lock_guard lock(mutex_);
    peak_ = in_use_;
  }
  /// Free, and all.
  std::pair<std::size_t, std::size_t> sizes() {
    const std::lock_guard lock(mutex_);
    return {size_ - in_use_, size_};
  }
  void allow_use(const void* address, std::int64_t stream) {
    const std::lock_guard lock(mutex_);
    const auto block = taken_.find(static_cast<char*>(const_cast<void*>(address)));
    if (block != taken_.end()) block->second.users.insert(stream);
  }

 private:
  struct Block {
    std::size_t size;
    std::set<std::int64_t> users;  // streams
    bool is_of_graph = false;      // which uses it again when it is launched
    bool is_left = false;          // by its tensors
  };
  static constexpr std::int64_t kAllStreams = -1;

  void free_block(std::map<char*, Block>::iterator block) {
    const std::size_t size = block->second.size;
    in_use_ -= size;
    if (size > kSmall) madvise(seen_by_kernels(block->first), size, MADV_DONTNEED);
    free_[size].push_back(block->first);
    taken_.erase(block);
  }

  char* const begin_ = reserve(PROT_NONE);
  char* const seen_ = reserve(PROT_READ | PROT_WRITE);
  std::size_t size_ = std::size_t{80} << 30;
  std::mutex mutex_;
  std::map<std::size_t, std::vector<char*>> free_;  // by size
  std::map<char*, Block> taken_;
  std::map<char*, std::string> before_;  // what they had when a recording began
  std::vector<void*> of_graph_;          // taken since then
  std::size_t used_ = 0, in_use_ = 0, peak_ = 0;
};

/// Never destroyed: tensors may outlive everything.
DeviceMemory& memory() {
  static auto& memory = *new DeviceMemory;
  return memory;
}

void give_back(void* address) { memory().give_back(address); }

struct DeviceAllocator final : c10::DeviceAllocator {
  c10::DataPtr allocate(std::size_t bytes) override {
    void* address = bytes == 0 ? nullptr : memory().take(bytes);
    return {address, address, &give_back, c10::Device(c10::kCUDA, 0)};
  }
  c10::DeleterFnPtr raw_deleter() const override { return &give_back; }
  void copy_data(void* to, const void* from, std::size_t bytes) const override {
    std::memcpy(seen_by_kernels(to), seen_by_kernels(from), bytes);
  }
  bool initialized() override { return true; }
  void emptyCache(c10::MempoolId_t) override {}  // it keeps no memory that is free
  void recordStream(const c10::DataPtr& block, c10::Stream stream) override {
    memory().allow_use(block.get(), stream.id());
  }
  c10::CachingDeviceAllocator::DeviceStats getDeviceStats(c10::DeviceIndex) override {
    return memory().stats();
  }
  void resetAccumulatedStats(c10::DeviceIndex) override {}
  void resetPeakStats(c10::DeviceIndex) override { memory().reset_peak(); }
  std::pair<std::size_t, std::size_t> getMemoryInfo(c10::DeviceIndex) override {
    return memory().sizes();
  }
};

/// Page-locked memory of the host.
class LockedAllocator final : public at::HostAllocator {
 public:
  c10::DataPtr allocate(std::size_t bytes) override;
  c10::DeleterFnPtr raw_deleter() const override { return &free_block; }
  void copy_data(void* to, const void* from, std::size_t bytes) const override {
    std::memcpy(to, from, bytes);
  }
  bool record_event(void*, void*, c10::Stream) override { return true; }
  void empty_cache() override {}
  at::HostStats get_stats() override { return {}; }
  void reset_accumulated_stats() override {}
  void reset_peak_stats() override {}

  bool has(const void* address) {
    const std::lock_guard lock(mutex_);
    auto next = blocks_.upper_bound(static_cast<const char*>(address));
    return next != blocks_.begin() && address <= (--next)->first + next->second;
  }

 private:
  static void free_block(void* address);

  std::mutex mutex_;
  std::map<const char*, std::size_t> blocks_;
};

LockedAllocator& locked() {
  static auto& locked = *new LockedAllocator;
  return locked;
}

c10::DataPtr LockedAllocator::allocate(std::size_t bytes) {
  void* address = std::aligned_alloc(64, (bytes + 64) / 64 * 64);
  const std::lock_guard lock(mutex_);
  blocks_[static_cast<char*>(address)] = bytes;
  return {address, address, &free_block, c10::kCPU};
}

void LockedAllocator::free_block(void* address) {
  {
    const std::lock_guard lock(locked().mutex_);
    locked().blocks_.erase(static_cast<char*>(address));
  }
  std::free(address);
}

void on_fault(int, siginfo_t* info, void*) {
  std::fprintf(stderr, "stand-in for CUDA: %s %p\n%s\n",
               memory().has(info->si_addr) ? "the host touches memory of the device at"
                                           : "segmentation fault at",
               info->si_addr, c10::get_backtrace(2, 50).c_str());
  _exit(128 + SIGSEGV);
}

struct Registration {
  Registration() {
    c10::SetAllocator(c10::kCUDA, &device_allocator(), 1);
    at::setHostAllocator(c10::kCUDA, &locked(), 1);
    struct sigaction action = {};
    action.sa_sigaction = on_fault;
    action.sa_flags = SA_SIGINFO;
    sigaction(SIGSEGV, &action, nullptr);
  }
} registration;

}  // namespace

c10::Allocator& device_allocator() {
  static auto& allocator = *new DeviceAllocator;
  return allocator;
}
at::HostAllocator& locked_allocator() { return locked(); }
bool is_locked(const void* address) { return locked().has(address); }

void* seen_by_kernels(const void* address) { return memory().seen_by_kernels(address); }

at::Tensor seen_by_kernels(const at::Tensor& tensor) {
  if (!tensor.defined() || !tensor.is_cuda()) return tensor;
  // Not data_ptr(): an empty tensor has none.
  auto* begin = static_cast<char*>(seen_by_kernels(tensor.storage().data()));
  if (begin != nullptr) begin += tensor.storage_offset() * tensor.element_size();
  return at::from_blob(begin, tensor.sizes(), tensor.strides(),
                       tensor.options().device(at::kCPU).requires_grad(false));
}

void check_use(const at::Tensor& tensor, const std::string& operation) {
  const void* address = tensor.storage().data();
  if (address != nullptr) check_use(address, 1, operation);
}

void check_use(const void* address, std::size_t bytes, const std::string& operation) {
  memory().check_use(address, bytes, current_stream(), operation);
}

void allow_use(const void* address, std::int64_t stream) { memory().allow_use(address, stream); }

void begin_recording_memory() { memory().begin_recording(); }
std::vector<void*> end_recording_memory() { return memory().end_recording(); }
void forget_graph_memory(const std::vector<void*>& blocks) { memory().forget_graph(blocks); }

}  // namespace dragoman::cuda_stand_in
