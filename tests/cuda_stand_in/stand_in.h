// A stand-in for a GPU with CUDA, so that everything on the way to a GPU runs in tests where there
// is none. It is a library that is loaded before a program:
//
//   LD_PRELOAD=build/release/tests/libcuda_stand_in.so build/release/dragoman train --device cuda
//   ...
//
// A LibTorch for the CPU has no allocator, no streams and no kernels for CUDA, so the library
// brings them, under CUDA's own names (c10::kCUDA, DispatchKey::CUDA). The program does not know:
//
// - Memory of the device has addresses of its own, which the host may not access. An access prints
//   the stack and ends the process. New memory is filled with NaN.
// - An operation is the CPU's kernel, on the same memory at another address. It throws if CUDA
//   would: tensors on two devices, freed memory, memory of another stream that nobody has recorded.
// - Our own kernels (kernels/cuda) are run by the CPU, a block at a time, its threads in random
//   order (tests/kernels/cuda_on_cpu.h). Every address that they get must be memory of the device,
//   as far as they use it.
// - Copies from and to page-locked memory are made as late as streams and events allow.
// - Sums that CUDA makes by atomics come in random order.
// - A graph records operations and our kernels, and does them again on the same memory. What was
//   done while it was recorded is undone. Recording throws if the host waits, or gives an operation
//   a number of its own memory. A launch throws if memory that is not the graph's was freed.
// - Launches, bytes that they read and write, and waits of the host are counted by name. Launches
//   by the host are counted, too: that of a graph is one.
//
// What it does not show: kernels that CUDA lacks for a type, races between blocks, speed. A launch
// is a call of an operation; some of CUDA's operations, like a sort, are several kernels.
//
// Variables of the environment:
//   CUDA_STAND_IN_MIB      the device's memory; 81920 unless given
//   CUDA_STAND_IN_REPORT   a file that gets the counts, as JSON, when the process ends
//   CUDA_STAND_IN_STACKS   when set, the stack of the first wait of each kind is printed
//
// Functions for tests, to be found by dlsym (tests/cuda_stand_in/counts.h):
//   void cuda_stand_in_reset()            counts begin again from 0
//   const char* cuda_stand_in_report()    the counts as JSON, valid until the next call of a thread
#pragma once

#include <ATen/core/CachingHostAllocator.h>
#include <ATen/core/Tensor.h>
#include <c10/core/Allocator.h>

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace dragoman::cuda_stand_in {

// memory.cpp

c10::Allocator& device_allocator();
at::HostAllocator& locked_allocator();
bool is_locked(const void* address);
/// Where kernels find what stands at an address of the device, or `address` itself.
void* seen_by_kernels(const void* address);
/// The same memory as a tensor of the CPU; what is on the CPU stays as it is.
at::Tensor seen_by_kernels(const at::Tensor& tensor);
/// Throws if the current stream may not use the tensor's memory, or this many bytes from a device
/// address.
void check_use(const at::Tensor& tensor, const std::string& operation);
void check_use(const void* address, std::size_t bytes, const std::string& operation);
/// A graph is being recorded: new memory is the graph's, which all streams may use. In the end the
/// memory of others has again what it had at the beginning, and the graph's has NaN. It is freed
/// when neither tensors nor the graph use it any more.
void begin_recording_memory();
std::vector<void*> end_recording_memory();  ///< the graph's memory
void forget_graph_memory(const std::vector<void*>& blocks);
/// record_stream
void allow_use(const void* address, std::int64_t stream);

// streams.cpp

std::int64_t current_stream();
/// Does what the current stream has to do before its next operation.
void catch_up();
/// `to` becomes `from`, as late as is allowed; both have the same shape.
void copy_later(const at::Tensor& to, const at::Tensor& from);

// graph.cpp

bool is_recording();
/// Whether this thread does the work of a graph that is launched.
bool is_replaying();
/// Does the work. If a graph is being recorded, it does the work again when it is launched.
void perform(const std::function<void()>& work);
/// The same for work that has been done.
void record(std::function<void()> work);
/// Throws if a graph is being recorded.
void refuse_to_record(const std::string& what);

// counts.cpp

void count_launch(const std::string& name, double bytes_read, double bytes_written);
void count_graph_launch();
/// The host waits for the device.
void count_wait(const std::string& name);
void count_allocation(std::size_t in_use);

}  // namespace dragoman::cuda_stand_in
