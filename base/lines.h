// Lines of text: whole files, and lines in and out of file descriptors for pipes with a program or
// a person at either end. gzip and zstd are read as plain text (compressed_text.h). Only "\n" ends
// a line; a "\r" before it belongs to the end.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/compressed_text.h"
#include "base/error.h"

namespace dragoman {

// ---- whole files ----

/// A byte order mark at the beginning of a file. sacreBLEU takes it as a character of the first
/// line.
enum class ByteOrderMark { LeftOut, Text };

/// The name of an input for messages: "standard input" for "-".
std::string input_name(const std::string& path);

/// The lines of a file, or of standard input for "-". Throws Error, with file and line, if it is
/// unreadable or has invalid UTF-8.
std::vector<std::string> read_lines(const std::string& path,
                                    ByteOrderMark mark = ByteOrderMark::LeftOut);

/// The end of a message about text that is not UTF-8.
inline constexpr std::string_view kWayToUtf8 =
    "; if the text is in another encoding, convert it: iconv -f latin1 -t UTF-8";

/// Throws Error if the numbers of lines differ: it names both files ("-": standard input) and says
/// where to look.
void require_same_lines(const std::string& first, std::size_t first_lines,
                        const std::string& second, std::size_t second_lines);

/// Gives the lines of a text one after the other.
class LineCursor {
 public:
  explicit LineCursor(std::string_view text) : rest_(text) {}

  bool at_end() const { return rest_.empty(); }
  /// The next line, without its end; an empty one at the end.
  std::string_view next();

 private:
  std::string_view rest_;
};

// ---- streams ----

/// Gives the lines that have come without waiting. A byte order mark at the start is dropped. A
/// last line without '\n' counts. Lines may hold any bytes.
class LineReader {
 public:
  /// `name` is for messages. The descriptor stays the caller's.
  LineReader(int descriptor, std::string name);

  /// The next line that has come whole.
  std::optional<std::string> next_line();
  /// Waits until more has come, at most this long (below 0: as long as it takes), and takes it in.
  /// Returns false if nothing came: the time ran out, the descriptor `other` became readable first,
  /// or the input has ended. Throws Error if reading fails or the input is not text (coding_of).
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
  /// if writing fails, and ClosedPipe if nobody reads any more (with SIGPIPE ignored).
  void write_line(std::string_view line);
  void write(std::string_view text);  ///< without '\n'
  void flush();

 private:
  int descriptor_;
  std::string name_;
  std::string buffer_;
};

}  // namespace dragoman
