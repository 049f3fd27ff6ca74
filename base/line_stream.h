// Lines in and out of file descriptors, for pipes with a program or a person at either end. A
// reader gives the lines that have come without waiting. A writer can send its text on at once.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/compressed_text.h"
#include "base/error.h"

namespace dragoman {

/// Text compressed with gzip or zstd is read as if it were plain. Only '\n' ends a line; a '\r'
/// before it is dropped, and so is a byte order mark at the start. A last line without '\n' counts.
/// Lines may hold any bytes.
class LineReader {
 public:
  /// `name` is for messages. The descriptor stays the caller's.
  LineReader(int descriptor, std::string name);

  /// The next line that has come whole.
  std::optional<std::string> next_line();
  /// Waits until more has come, at most this long (below 0: as long as it takes), and takes it in.
  /// Returns false where nothing came: the time was over, the descriptor `other` became readable
  /// before, or the input has ended. Throws Error where reading fails or the input is no text
  /// (coding_of).
  bool receive(std::chrono::milliseconds wait, int other = -1);
  /// Whether the input has ended; next_line() may still have lines.
  bool at_end() const { return at_end_; }
  std::int64_t lines() const { return lines_; }  ///< given by next_line() so far

 private:
  void take(std::string_view bytes);

  int descriptor_;
  std::string name_;
  TextCoding coding_ = TextCoding::Undecided;
  std::string undecided_;  // bytes, until the coding is known
  std::unique_ptr<Decompressor> decompressor_;
  std::string buffer_;
  std::size_t begin_ = 0;    // of the next line
  std::size_t scanned_ = 0;  // no '\n' in [begin_, scanned_)
  std::int64_t lines_ = 0;
  bool at_end_ = false;
};

/// The reader of the output has gone.
class ClosedPipe : public Error {
 public:
  using Error::Error;
};

class LineWriter {
 public:
  /// `name` is for messages. The descriptor stays the caller's.
  LineWriter(int descriptor, std::string name);

  /// Adds '\n'. The text goes out in large blocks, and the rest with flush(). All calls throw Error
  /// where writing fails, and ClosedPipe where nobody reads any more (with SIGPIPE ignored).
  void write_line(std::string_view line);
  void write(std::string_view text);  ///< without '\n'
  void flush();

 private:
  int descriptor_;
  std::string name_;
  std::string buffer_;
};

}  // namespace dragoman
