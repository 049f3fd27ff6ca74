#include "model/ops/to_device.h"

#include <c10/core/Event.h>
#include <c10/core/StreamGuard.h>
#include <c10/core/impl/VirtualGuardImpl.h>

namespace dragoman {

torch::Tensor copied_to_gpu(const torch::Tensor& locked, torch::Device device) {
  const c10::impl::VirtualGuardImpl gpu(device.type());
  thread_local const c10::Stream for_copies = gpu.getStreamFromGlobalPool(device);
  const c10::Stream computing = gpu.getStream(device);
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
