#include "app/torch/chosen_device.h"

#include <mutex>

#include "app/frame/log.h"
#include "model/device.h"

namespace dragoman {

torch::Device chosen_device(const std::string& text, int local_rank) {
  static std::once_flag said;
  std::call_once(said, [&] {
    const std::string notice = local_rank == 0 ? unused_gpu_notice(text) : "";
    if (!notice.empty()) log_info(notice);
  });
  return parse_device(text, local_rank);
}

}  // namespace dragoman
