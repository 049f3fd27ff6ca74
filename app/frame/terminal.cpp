#include "app/frame/terminal.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstdlib>
#include <utility>
#include <vector>

#include "app/frame/log.h"
#include "base/formatted_text.h"
#include "base/utf8.h"

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

namespace {

constexpr int kWidestBar = 40;
constexpr int kNarrowestBar = 10;
constexpr std::chrono::milliseconds kRedraw{100};
constexpr std::chrono::seconds kPlainLine{30};
constexpr double kRateMemory = 15;  // seconds

/// Three significant digits.
std::string rate_text(double per_second) {
  if (per_second >= 100) return with_separators(std::llround(per_second)) + "/s";
  return fixed_text(per_second, per_second >= 10 ? 1 : per_second >= 1 ? 2 : 3) + "/s";
}

double fraction_of(const ProgressState& state) {
  return std::clamp(static_cast<double>(state.done) / static_cast<double>(state.total), 0.0, 1.0);
}

/// "52 %"; below ten percent of a large total "5.2 %".
std::string percent_text(const ProgressState& state) {
  constexpr std::int64_t kMuch = 1000;
  const double percent = 100 * fraction_of(state);
  if (state.total < kMuch || percent >= 10) return std::to_string(static_cast<int>(percent)) + " %";
  return fixed_text(std::floor(10 * percent) / 10, 1) + " %";
}

/// The fields of a text in which they stand two spaces apart.
std::vector<std::string> split_fields(std::string_view text) {
  std::vector<std::string> fields;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find("  "), text.size());
    if (end > 0) fields.emplace_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 2, text.size()));
  }
  return fields;
}

/// The fields of a progress line after the bar, in their order; "" for one that is not known.
struct ProgressFields {
  std::string percent, done, rate;
  std::vector<std::string> outlook, status;

  std::vector<std::string> in_order() const {
    std::vector<std::string> fields = {percent, done, rate};
    fields.insert(fields.end(), outlook.begin(), outlook.end());
    fields.insert(fields.end(), status.begin(), status.end());
    std::erase(fields, "");
    return fields;
  }
};

ProgressFields fields_of(const ProgressState& state) {
  ProgressFields fields;
  const std::string unit = state.unit.empty() ? "" : " " + state.unit;
  if (state.total > 0) {
    fields.percent = percent_text(state);
    fields.done = with_separators(state.done) + "/" + with_separators(state.total) + unit;
  } else if (!state.unit.empty()) {
    fields.done = with_separators(state.done) + unit;
  }
  const bool has_rate = state.per_second > 0;
  if (has_rate && !state.unit.empty()) fields.rate = rate_text(state.per_second);
  fields.outlook = split_fields(state.outlook);
  if (const std::int64_t left = state.total - state.done;
      fields.outlook.empty() && has_rate && state.total > 0 && left >= 0)
    fields.outlook = {duration_text(static_cast<double>(left) / state.per_second) + " left"};
  fields.status = split_fields(state.status);
  return fields;
}

int width_of(const std::string& text) { return static_cast<int>(count_code_points(text)); }

/// A bar of `width` columns, filled in steps of an eighth of a column (U+2588..U+258F).
std::string blocks(const ProgressState& state, int width) {
  const int eighths = static_cast<int>(fraction_of(state) * width * 8);
  std::string bar;
  for (int column = 0; column < width; ++column) {
    const int filled = std::clamp(eighths - 8 * column, 0, 8);
    if (filled == 0)
      bar += ' ';
    else
      append_utf8(bar, static_cast<char32_t>(0x2590 - filled));
  }
  return bar;
}

std::string cut(const std::string& text, int columns) {
  const std::u32string characters = code_points(text);
  if (static_cast<int>(characters.size()) <= columns) return text;
  return to_utf8(characters.substr(0, static_cast<std::size_t>(std::max(columns, 0))));
}

}  // namespace

std::string progress_bar(const ProgressState& state, int columns) {
  ProgressFields fields = fields_of(state);
  bool has_bar = state.total > 0;
  const auto text = [&] { return joined(fields.in_order(), "  "); };
  const auto room = [&] { return columns - width_of(state.title + "  " + text()); };
  const auto fits = [&] { return room() >= (has_bar ? kNarrowestBar + 1 : 0); };
  if (!fits()) fields.rate.clear();
  if (!fits() && state.total > 0) fields.done.clear();
  while (!fits() && !fields.status.empty()) fields.status.pop_back();
  if (!fits()) has_bar = false;
  while (!fits() && !fields.outlook.empty()) fields.outlook.pop_back();
  if (has_bar && fits())
    return state.title + " " + blocks(state, std::min(kWidestBar, room() - 1)) + "  " + text();
  const std::string right = text();
  return cut(right.empty() ? state.title : state.title + "  " + right, columns);
}

std::string progress_text(const ProgressState& state) {
  const std::string fields = joined(fields_of(state).in_order(), ", ");
  return fields.empty() ? state.title : state.title + ": " + fields;
}

void RateEstimate::observe(double seconds, std::int64_t done) {
  if (begin_ < 0) {
    begin_ = last_ = seconds;
    begin_done_ = last_done_ = done;
    return;
  }
  const double elapsed = seconds - last_;
  if (elapsed <= 0) return;
  const double recent = static_cast<double>(done - last_done_) / elapsed;
  const double average = static_cast<double>(done - begin_done_) / (seconds - begin_);
  // The average over all counts until there is enough past to weigh.
  const bool young = seconds - begin_ < kRateMemory;
  rate_ = young ? average : rate_ + (1 - std::exp(-elapsed / kRateMemory)) * (recent - rate_);
  last_ = seconds;
  last_done_ = done;
}

Progress::Progress(std::string title, std::string unit, std::int64_t total, PlainLines plain_lines,
                   std::int64_t done)
    : start_(Clock::now()) {
  const bool quiet = log_verbosity() == Verbosity::Quiet;
  bar_ = !quiet && log_format() == LogFormat::Text && Terminal::standard_error().is_interactive();
  plain_lines_ = !quiet && !bar_ && plain_lines == PlainLines::Every30Seconds;
  next_ = bar_ ? start_ : start_ + kPlainLine;
  state_.title = std::move(title);
  state_.unit = std::move(unit);
  state_.total = total;
  state_.done = done;
  rate_.observe(0, done);
  update(done);
}

Progress::~Progress() {
  if (bar_) Terminal::standard_error().erase_bar();
}

void Progress::update(std::int64_t done) {
  if (!shows()) return;
  const MutexLock lock(mutex_);
  show(done, "");
}

void Progress::update(const Estimate& estimate) {
  if (!shows()) return;
  const MutexLock lock(mutex_);
  state_.total = estimate.total;
  state_.outlook = estimate.outlook;
  show(estimate.done, estimate.status);
}

void Progress::show(std::int64_t done, std::string_view status) {
  state_.done = done;
  const auto now = Clock::now();
  if (now < next_) return;
  next_ = now + (bar_ ? std::chrono::nanoseconds(kRedraw) : std::chrono::nanoseconds(kPlainLine));
  rate_.observe(std::chrono::duration<double>(now - start_).count(), done);
  state_.per_second = rate_.per_second();
  state_.status = printable(status);
  if (bar_) {
    Terminal& terminal = Terminal::standard_error();
    terminal.show_bar(progress_bar(state_, terminal.columns() - 1));
  } else {
    log_info(progress_text(state_));
  }
}

}  // namespace dragoman
