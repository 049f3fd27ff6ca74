// Standard error: log lines, and the progress of a task below them, so that the two never mix. The
// progress is a bar on a terminal and otherwise a log line now and then; with --quiet there is
// none.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/mutex.h"

namespace dragoman {

/// A line that is written while a bar is shown stands above the bar.
class Terminal {
 public:
  static Terminal& standard_error();

  bool is_interactive() const { return interactive_; }
  int columns() const;  ///< asked on each call; 80 if the terminal does not say

  /// Writes `text` and a line end in one system call; a bar is erased before and drawn again after.
  void write_line(std::string_view text);

  /// Shows `text`, one line of at most columns() - 1 columns, at the bottom in place of the last
  /// bar. Does nothing without a terminal.
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

/// The content of a progress line.
struct ProgressState {
  std::string title;       ///< "translate"
  std::string unit;        ///< "lines"
  std::int64_t done = 0;   ///< units
  std::int64_t total = 0;  ///< units; 0: unknown
  double per_second = 0;   ///< units; 0: not known yet
  /// What a narrow line shows, too: "6:30 left  validation in 1:20". Empty: the time left,
  /// calculated from total and rate. In this and in `status` fields stand two spaces apart.
  std::string outlook;
  std::string status;  ///< at the end
};

/// "train ███████▌       52 %  5,200/10,000 updates  12.3/s  6:30 left  loss 2.31", at most
/// `columns` columns wide. If that is too little, these are left out, in this order: the rate, the
/// units done, the fields of the status from the last, the bar, and the rest from the last. Without
/// a total there is no bar, and the units done stay.
std::string progress_bar(const ProgressState& state, int columns);

/// The same without a bar: "train: 52 %, 5,200/10,000 updates, 12.3/s, 6:30 left, loss 2.31".
std::string progress_text(const ProgressState& state);

/// Units per second. The recent past weighs more: the rate 15 s ago has 1/e of the weight of the
/// present one.
class RateEstimate {
 public:
  void observe(double seconds, std::int64_t done);  ///< `seconds` never falls
  double per_second() const { return rate_; }

 private:
  double begin_ = -1, last_ = 0, rate_ = 0;
  std::int64_t begin_done_ = 0, last_done_ = 0;
};

enum class PlainLines {
  Every30Seconds,  ///< without a terminal
  None,            ///< for commands that log their own lines
};

/// Shows the progress of a task as long as the object lives; its destruction erases the bar. Log
/// lines may be written meanwhile. A command whose results go to the same terminal shows no bar.
class Progress {
 public:
  /// `total` 0: not known. `done`: units that an earlier run did; they do not count for the rate.
  Progress(std::string title, std::string unit, std::int64_t total,
           PlainLines plain_lines = PlainLines::Every30Seconds, std::int64_t done = 0);
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;
  ~Progress();

  /// Cheap: draws at most 10 times a second. Any thread may call it.
  void update(std::int64_t done);
  /// For a task whose end moves: `total` (0: unknown) and the outlook are new each time.
  struct Estimate {
    std::int64_t done, total;
    std::string outlook = "", status = "";
  };
  void update(const Estimate& estimate);

 private:
  using Clock = std::chrono::steady_clock;

  bool shows() const { return bar_ || plain_lines_; }
  void show(std::int64_t done, std::string_view status) REQUIRES(mutex_);

  Mutex mutex_;
  ProgressState state_ GUARDED_BY(mutex_);
  RateEstimate rate_ GUARDED_BY(mutex_);
  bool bar_, plain_lines_;
  Clock::time_point start_;
  Clock::time_point next_ GUARDED_BY(mutex_);
};

}  // namespace dragoman
