#include "app/frame/terminal.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>

namespace dragoman {

namespace {

// Carriage return, then "erase to the end of the line" (ECMA-48).
constexpr std::string_view kEraseLine = "\r\x1b[K";

}  // namespace

// Never destroyed, like the log that writes to it.
Terminal& Terminal::standard_error() {
  static Terminal& terminal = *new Terminal(STDERR_FILENO);
  return terminal;
}

Terminal::Terminal(int descriptor) : descriptor_(descriptor) {
  const char* kind = std::getenv("TERM");
  interactive_ = isatty(descriptor) == 1 && kind != nullptr && std::string_view(kind) != "dumb";
}

int Terminal::columns() const {
  winsize size{};
  if (ioctl(descriptor_, TIOCGWINSZ, &size) != 0 || size.ws_col == 0) return 80;
  return size.ws_col;
}

void Terminal::write_line(std::string_view text) {
  const MutexLock lock(mutex_);
  std::string bytes;
  if (!bar_.empty()) bytes += kEraseLine;
  bytes += text;
  bytes += '\n';
  bytes += bar_;
  write(bytes);
}

void Terminal::show_bar(std::string_view text) {
  const MutexLock lock(mutex_);
  if (!interactive_) return;
  bar_ = text;
  // The rest of a longer last bar is erased after the new one is drawn, so nothing flickers.
  write("\r" + bar_ + "\x1b[K");
}

void Terminal::erase_bar() {
  const MutexLock lock(mutex_);
  if (bar_.empty()) return;
  bar_.clear();
  write(kEraseLine);
}

void Terminal::write(std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(descriptor_, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return;  // an error cannot be shown anywhere
    bytes.remove_prefix(static_cast<std::size_t>(written));
  }
}

}  // namespace dragoman
