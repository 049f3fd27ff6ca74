#include "model/ops/to_device.h"

#include <c10/core/Event.h>
#include <c10/core/StreamGuard.h>
#include <c10/core/impl/VirtualGuardImpl.h>

#include <optional>

namespace dragoman {

torch::Tensor copied_to_gpu(const torch::Tensor& locked, torch::Device device) {
  const c10::impl::VirtualGuardImpl gpu(device.type());
  const c10::Stream computing = gpu.getStream(device);
  thread_local std::optional<c10::Stream> of_thread;
  if (!of_thread || of_thread->device() != computing.device())
    of_thread = gpu.getStreamFromGlobalPool(computing.device());
  const c10::Stream for_copies = *of_thread;
  c10::Event copied(device.type());
  torch::Tensor copy;
  {
    const c10::StreamGuard guard(for_copies);
    copy = locked.to(device, /*non_blocking=*/true);
    copied.record(for_copies);
  }
  copied.block(computing);
  copy.record_stream(computing);  // its memory is taken again only when `computing` has read it
  return copy;
}

}  // namespace dragoman
