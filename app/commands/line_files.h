// Files of lines that a command reads and writes, or what stands for them: pipes, devices, "-".
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace dragoman {

/// An open file descriptor of our own, or a standard one.
class Descriptor {
 public:
  /// `standard` for "-"; flags as open(2) takes them. Throws Error.
  Descriptor(const std::string& path, int standard, int flags);
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  ~Descriptor();
  operator int() const { return number_; }

 private:
  bool own_;
  int number_;
};

/// Where lines go.
class Output {
 public:
  virtual ~Output() = default;
  virtual void write_line(const std::string& line) = 0;
  virtual void flush() {}
  virtual void finish() {}  ///< all is written
  /// How many lines of input are answered by what an earlier run has written.
  virtual std::int64_t done() const { return 0; }
  /// The file that keeps what is written until finish(); empty where there is none, or nothing in
  /// it.
  virtual std::string kept() { return ""; }
};

/// Standard output for "-"; what is no plain file (a named pipe, /dev/null) is written as it comes.
std::unique_ptr<Output> open_stream(const std::string& path);

/// Whether open_stream() is for this path.
bool is_stream(const std::string& path);

/// How a plain file comes about. Lines are kept in a file beside it, which takes its place when it
/// is whole, and from which a later run can go on.
struct PartFile {
  std::filesystem::path path;  ///< of the whole file
  std::uint64_t work;          ///< a hash of all that decides its lines; names the file beside it
  bool goes_on = false;        ///< with what is there
  bool is_numbered = false;    ///< lines begin with the number of their line of input
};

/// How many lines of input the whole file answers where it is there and no part of it beside it, so
/// that there is nothing to go on with. Throws as open_part() does for lines without numbers.
std::optional<std::int64_t> finished_lines(const PartFile& part);

/// Throws Error where the file cannot be made, or another process is at it, or where it is to go on
/// and only other work's part is there.
std::unique_ptr<Output> open_part(const PartFile& part);

}  // namespace dragoman
