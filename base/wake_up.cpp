#include "base/wake_up.h"

#include <sys/eventfd.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "base/error.h"

namespace dragoman {

WakeUp::WakeUp() : descriptor_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
  if (descriptor_ < 0) throw Error("cannot open an event: ", std::strerror(errno));
}

WakeUp::~WakeUp() { close(descriptor_); }

void WakeUp::wake() const { eventfd_write(descriptor_, 1); }

void WakeUp::clear() const {
  eventfd_t count = 0;
  eventfd_read(descriptor_, &count);
}

}  // namespace dragoman
