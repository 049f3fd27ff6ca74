#include "app/line_files.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "base/error.h"
#include "base/files.h"
#include "inference/line_stream.h"

namespace dragoman {

namespace {

class StreamOutput : public Output {
 public:
  explicit StreamOutput(const std::string& path)
      : descriptor_(path, STDOUT_FILENO, O_WRONLY),
        writer_(descriptor_, path == "-" ? "standard output" : path) {}
  void write_line(const std::string& line) override { writer_.write_line(line); }
  void flush() override { writer_.flush(); }

 private:
  Descriptor descriptor_;
  LineWriter writer_;
};

class FileOutput : public Output {
 public:
  explicit FileOutput(const std::string& path) : file_(path) {}
  void write_line(const std::string& line) override {
    buffer_ += line;
    buffer_ += '\n';
    if (buffer_.size() < kBlock) return;
    file_.write(buffer_);
    buffer_.clear();
  }
  void finish() override {
    file_.write(buffer_);
    file_.commit();
  }

 private:
  static constexpr std::size_t kBlock = 1 << 16;
  AtomicFile file_;
  std::string buffer_;
};

}  // namespace

Descriptor::Descriptor(const std::string& path, int standard, int flags)
    : own_(path != "-"), number_(own_ ? open(path.c_str(), flags | O_CLOEXEC) : standard) {
  if (number_ < 0) throw Error(path, ": cannot open: ", std::strerror(errno));
}

Descriptor::~Descriptor() {
  if (own_) close(number_);
}

std::unique_ptr<Output> open_output(const std::string& path) {
  struct stat status {};
  const bool special = stat(path.c_str(), &status) == 0 && !S_ISREG(status.st_mode);
  if (path == "-" || special) return std::make_unique<StreamOutput>(path);
  return std::make_unique<FileOutput>(path);
}

}  // namespace dragoman
