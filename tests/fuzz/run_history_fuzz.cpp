#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include "extras/report/run_history.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  const dragoman::RunHistory history =
      dragoman::read_history({reinterpret_cast<const char*>(bytes), size});
  for (std::size_t u = 1; u < history.updates.size(); ++u)
    if (history.updates[u].update <= history.updates[u - 1].update) std::abort();
  return 0;
}
