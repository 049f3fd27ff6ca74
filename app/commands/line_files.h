// Files of lines that a command reads and writes; pipes, devices and "-" count as files.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace dragoman {

/// An open file descriptor, which is closed at the end unless it is a standard one.
class Descriptor {
 public:
  /// `standard` for "-"; flags as open(2) takes them. Throws Error.
  Descriptor(const std::string& path, int standard, int flags);
  explicit Descriptor(int owned) : own_(true), number_(owned) {}
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  ~Descriptor();
  operator int() const { return number_; }

 private:
  bool own_;
  int number_;
};

/// The destination of lines.
class Output {
 public:
  virtual ~Output() = default;
  /// Throws Error where the line can't be written, or is not the one that was expected again.
  virtual void write_line(const std::string& line) = 0;
  virtual void flush() {}
  virtual void finish() {}  ///< called when all lines are written; throws Error
  /// The number of lines of input that an earlier call has answered and that are not expected
  /// again.
  virtual std::int64_t done() const { return 0; }
  /// The file that keeps the lines until finish(); empty where there is no such file, or no line in
  /// it.
  virtual std::string kept() { return ""; }
};

/// Standard output for "-", or a pipe or device (is_stream()), which gets each line at once.
std::unique_ptr<Output> open_stream(const std::string& path);

/// A plain file in the making. Lines are kept in a part file beside it, which takes its place when
/// it is whole. A later call with the same work resumes from the part file.
struct PartFile {
  std::filesystem::path path;  ///< the whole file
  std::uint64_t work;          ///< hash of flags, model and input; names the part file
  bool is_numbered = false;    ///< lines begin with the number of their line of input
  /// The input may be another one than before (a pipe). So the last lines that are there are
  /// expected once more, and must be the same.
  bool expects_last_lines_again = false;
};

/// The number of lines of input that the whole file answers; nothing where it is not there, or has
/// a part file beside it. Throws Error where lines should have numbers and have none.
std::optional<std::int64_t> finished_lines(const PartFile& part);

/// Throws Error if the part file cannot be made, if another process writes it, or if other work has
/// left its part file.
std::unique_ptr<Output> open_part(const PartFile& part);

}  // namespace dragoman
