#include "app/frame/progress.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <utility>
#include <vector>

#include "app/frame/log.h"
#include "app/frame/terminal.h"
#include "base/amounts.h"
#include "base/joined.h"
#include "base/utf8.h"

namespace dragoman {

namespace {

constexpr int kWidestBar = 40;
constexpr int kNarrowestBar = 10;
constexpr std::chrono::milliseconds kRedraw{100};
constexpr std::chrono::seconds kPlainLine{30};
constexpr double kRateMemory = 15;  // seconds

/// Three significant digits.
std::string rate_text(double per_second) {
  if (per_second >= 100) return with_separators(std::llround(per_second)) + "/s";
  char text[32];
  const int decimals = per_second >= 10 ? 1 : per_second >= 1 ? 2 : 3;
  std::snprintf(text, sizeof text, "%.*f/s", decimals, per_second);
  return text;
}

/// "52 %"; below ten percent of a large total "5.2 %".
std::string percent_text(const ProgressState& state) {
  constexpr std::int64_t kMuch = 1000;
  const double fraction = static_cast<double>(state.done) / static_cast<double>(state.total);
  const double percent = 100 * std::clamp(fraction, 0.0, 1.0);
  if (state.total < kMuch || percent >= 10) return std::to_string(static_cast<int>(percent)) + " %";
  char text[16];
  std::snprintf(text, sizeof text, "%.1f %%", std::floor(10 * percent) / 10);
  return text;
}

/// The fields of a status, which stand two spaces apart.
std::vector<std::string> fields_of(std::string_view status) {
  std::vector<std::string> fields;
  while (!status.empty()) {
    const std::size_t end = std::min(status.find("  "), status.size());
    if (end > 0) fields.emplace_back(status.substr(0, end));
    status.remove_prefix(std::min(end + 2, status.size()));
  }
  return fields;
}

/// The fields behind the bar, in their order.
std::vector<std::string> facts(const ProgressState& state) {
  std::vector<std::string> parts;
  if (state.total > 0) {
    parts.push_back(percent_text(state));
    parts.push_back(with_separators(state.done) + "/" + with_separators(state.total) + " " +
                    state.unit);
  } else if (!state.unit.empty()) {
    parts.push_back(with_separators(state.done) + " " + state.unit);
  }
  if (state.per_second > 0) {
    parts.push_back(rate_text(state.per_second));
    if (!state.left.empty())
      parts.push_back(state.left);
    else if (const std::int64_t left = state.total - state.done; state.total > 0 && left >= 0)
      parts.push_back(duration_text(static_cast<double>(left) / state.per_second) + " left");
  }
  for (std::string& field : fields_of(state.status)) parts.push_back(std::move(field));
  return parts;
}

int width_of(const std::string& text) { return static_cast<int>(count_code_points(text)); }

/// A bar of `width` columns, filled in steps of an eighth of a column (U+2588..U+258F).
std::string blocks(const ProgressState& state, int width) {
  const double fraction =
      std::clamp(static_cast<double>(state.done) / static_cast<double>(state.total), 0.0, 1.0);
  const int eighths = static_cast<int>(fraction * width * 8);
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
  std::vector<std::string> parts = facts(state);
  const int least = state.total > 0 ? kNarrowestBar + 1 : 0;
  const auto room = [&] { return columns - width_of(state.title + "  " + joined(parts, "  ")); };
  while (!parts.empty() && room() < least) parts.pop_back();
  const std::string right = parts.empty() ? "" : "  " + joined(parts, "  ");
  if (state.total <= 0 || parts.empty()) return cut(state.title + right, columns);
  return state.title + " " + blocks(state, std::min(kWidestBar, room() - 1)) + right;
}

std::string progress_text(const ProgressState& state) {
  return state.title + ": " + joined(facts(state), ", ");
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

void Progress::update(std::int64_t done, std::string_view status) {
  if (!shows()) return;
  const MutexLock lock(mutex_);
  show(done, status);
}

void Progress::update(const Estimate& estimate) {
  if (!shows()) return;
  const MutexLock lock(mutex_);
  state_.total = estimate.total;
  state_.left = estimate.left;
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
