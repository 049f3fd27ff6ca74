// Files of lines that a command reads and writes, or what stands for them: pipes, devices, "-".
#pragma once

#include <memory>
#include <string>

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
};

/// "-" is standard output; what is no plain file (a named pipe, /dev/null) is written as it comes;
/// a plain file is there when it is whole.
std::unique_ptr<Output> open_output(const std::string& path);

}  // namespace dragoman
