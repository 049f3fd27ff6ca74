#include "base/lines.h"

#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <utility>

#include "base/compressed_text.h"
#include "base/error.h"
#include "base/files.h"
#include "base/formatted_text.h"
#include "base/utf8.h"

namespace dragoman {

std::string input_name(const std::string& path) { return path == "-" ? "standard input" : path; }

std::vector<std::string> read_lines(const std::string& path, ByteOrderMark mark) {
  const std::string name = input_name(path);
  const std::string text =
      plain_text(path == "-" ? read_all(STDIN_FILENO, name) : read_file(path), name);
  std::vector<std::string> lines;
  const bool skips = mark == ByteOrderMark::LeftOut && text.starts_with(kByteOrderMark);
  for (LineCursor rest(std::string_view(text).substr(skips ? kByteOrderMark.size() : 0));
       !rest.at_end();) {
    const std::string& line = lines.emplace_back(rest.next());
    if (find_invalid_utf8(line) != std::string::npos)
      throw Error(name, ":", lines.size(), ": invalid UTF-8", kWayToUtf8);
  }
  return lines;
}

void require_same_lines(const std::string& first, std::size_t first_lines,
                        const std::string& second, std::size_t second_lines) {
  if (first_lines == second_lines) return;
  const bool are_files = first != "-" && second != "-";
  throw Error(
      input_name(first), " has ", counted(static_cast<std::int64_t>(first_lines), "line"), " but ",
      input_name(second), " has ", counted(static_cast<std::int64_t>(second_lines), "line"),
      "; the two must match line for line",
      are_files ? join_text(": paste ", first, " ", second, " | less shows where they part") : "");
}

std::string_view LineCursor::next() {
  const std::size_t end = std::min(rest_.find('\n'), rest_.size());
  std::string_view line = rest_.substr(0, end);
  rest_.remove_prefix(std::min(end + 1, rest_.size()));
  if (line.ends_with('\r')) line.remove_suffix(1);
  return line;
}

// ---- streams ----

namespace {

constexpr std::size_t kBlockBytes = 1 << 16;

}  // namespace

LineReader::LineReader(int descriptor, std::string name)
    : descriptor_(descriptor), name_(std::move(name)) {}

std::optional<std::string> LineReader::next_line() {
  const std::size_t found = buffer_.find('\n', scanned_);
  std::size_t end = found;
  if (found == std::string::npos) {
    scanned_ = buffer_.size();
    if (!at_end_ || begin_ == buffer_.size()) return std::nullopt;
    end = buffer_.size();
  }
  std::string line = buffer_.substr(begin_, end - begin_);
  begin_ = scanned_ = found == std::string::npos ? end : end + 1;
  if (!line.empty() && line.back() == '\r') line.pop_back();
  if (lines_ == 0 && line.starts_with(kByteOrderMark)) line.erase(0, kByteOrderMark.size());
  ++lines_;
  return line;
}

bool LineReader::receive(std::chrono::milliseconds wait, int other) {
  if (at_end_) return false;
  pollfd ready[] = {{.fd = descriptor_, .events = POLLIN, .revents = 0},
                    {.fd = other, .events = POLLIN, .revents = 0}};
  const int count = poll(ready, 2, static_cast<int>(wait.count()));
  if ((count < 0 && errno == EINTR) || (count >= 0 && ready[0].revents == 0)) return false;

  char block[kBlockBytes];
  const ssize_t got = count < 0 ? -1 : read(descriptor_, block, kBlockBytes);
  if (got < 0) {
    if (errno == EINTR || errno == EAGAIN) return false;
    throw Error(name_, ": cannot read: ", std::strerror(errno));
  }
  at_end_ = got == 0;
  take({block, static_cast<std::size_t>(got)});
  return got > 0;
}

void LineReader::take(std::string_view bytes) {
  buffer_.erase(0, begin_);
  scanned_ -= begin_;
  begin_ = 0;
  if (coding_ == TextCoding::Undecided) {
    undecided_ += bytes;
    coding_ = coding_of(undecided_, at_end_, name_);
    if (coding_ == TextCoding::Undecided) return;
    decompressor_ = make_decompressor(coding_, name_);
    bytes = undecided_;
  }
  if (decompressor_ == nullptr) {
    buffer_ += bytes;
  } else {
    decompressor_->add(bytes, [this](std::string_view text) { buffer_ += text; });
    if (at_end_) decompressor_->finish();
  }
}

LineWriter::LineWriter(int descriptor, std::string name)
    : descriptor_(descriptor), name_(std::move(name)) {}

void LineWriter::write_line(std::string_view line) {
  buffer_ += line;
  write("\n");
}

void LineWriter::write(std::string_view text) {
  buffer_ += text;
  if (buffer_.size() >= kBlockBytes) flush();
}

void LineWriter::flush() {
  std::size_t sent = 0;
  while (sent < buffer_.size()) {
    const ssize_t written = ::write(descriptor_, buffer_.data() + sent, buffer_.size() - sent);
    if (written > 0) {
      sent += static_cast<std::size_t>(written);
    } else if (written < 0 && errno == EAGAIN) {
      pollfd ready{.fd = descriptor_, .events = POLLOUT, .revents = 0};
      poll(&ready, 1, -1);
    } else if (written < 0 && errno != EINTR) {
      const int error = errno;
      buffer_.clear();
      if (error == EPIPE) throw ClosedPipe(name_, ": closed before all was written");
      throw Error(name_, ": cannot write: ", std::strerror(error));
    }
  }
  buffer_.clear();
}

}  // namespace dragoman
