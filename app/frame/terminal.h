// Standard error, for log lines and the progress bar. A line that is written while a bar is shown
// stands above it, so the two never mix.
#pragma once

#include <string>
#include <string_view>

#include "base/mutex.h"

namespace dragoman {

class Terminal {
 public:
  static Terminal& standard_error();

  bool is_interactive() const { return interactive_; }
  int columns() const;  ///< asked anew on each call; 80 where the terminal does not say

  /// Writes `text` and a line end in one system call; a bar is erased before and drawn again after.
  void write_line(std::string_view text);

  /// Shows `text`, one line of at most columns() - 1 columns, at the bottom in place of the last
  /// bar. Does nothing where there is no terminal.
  void show_bar(std::string_view text);
  void erase_bar();

 private:
  explicit Terminal(int descriptor);
  void write(std::string_view bytes);

  int descriptor_;
  bool interactive_;
  Mutex mutex_;
  std::string bar_ GUARDED_BY(mutex_);
};

}  // namespace dragoman
