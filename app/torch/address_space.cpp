// LibTorch's static initialisers end the process with std::terminate where `ulimit -v` leaves too
// little for them, before main() can print a message. A function in .preinit_array runs before
// those of all libraries (ELF gABI, "Initialization and Termination Functions").
#include <sys/resource.h>
#include <unistd.h>

#include <string_view>

namespace {

/// Measured with LibTorch 2.13 for the CPU: below 430 MiB `dragoman --version` fails.
constexpr rlim_t kFloor = rlim_t{440} << 20;

/// The C++ library cannot be used yet.
void require_address_space() {
  constexpr std::string_view kText =
      "dragoman: error: not enough memory to load LibTorch: ulimit -v must leave 440 MiB or more; "
      "raise it, or use dragoman-lite, which needs less\n";
  rlimit limit{};
  if (getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur >= kFloor) return;
  [[maybe_unused]] const ssize_t written = write(STDERR_FILENO, kText.data(), kText.size());
  _exit(1);
}

__attribute__((section(".preinit_array"),
               used)) void (*const kBeforeLibraries)() = require_address_space;

}  // namespace
