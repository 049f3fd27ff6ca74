// The files that a command reads and writes; pipes, devices and "-" count as files. An output never
// replaces a file that is read, nor the work of another command.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/files.h"
#include "base/lines.h"

namespace dragoman {

/// A flag and the name of the file that it reads or writes.
struct FileFlag {
  std::string flag;
  std::string file;
};

/// Throws UsageError if several files are "-", as standard input can be read only once.
void check_standard_input(const std::vector<FileFlag>& inputs);

/// Throws Error that names the input if it has no lines.
void require_lines(const std::string& path, std::size_t lines);

/// Whether the path is "-" or a pipe or device (/dev/null), which is written to directly.
bool is_stream(const std::string& path);

/// Whether the file begins like a safetensors file, as no text can.
bool is_safetensors(const std::string& path);

/// Throws UsageError that names the flag if `path` is "-", a folder, one of the files that are
/// read, or the model, a checkpoint, the log or the settings of a training run. Throws Error if its
/// own folder does not exist, or takes no new file. Devices are never refused.
void check_output(std::string_view flag, const std::string& path,
                  const std::vector<std::string>& inputs);

/// The same check for text. Text never replaces a model file, nor any other safetensors file, and
/// its name has no ending of compressed text (.gz, .zst, .xz).
void check_text_output(std::string_view flag, const std::string& path,
                       const std::vector<std::string>& inputs);

/// Throws UsageError that names the flag if the file is there and is not of the kind that takes its
/// place: "a page of this program". A file without a byte has nothing to lose. For files that a
/// command writes beside its result, which are easily confused with its inputs.
void check_replaced(std::string_view flag, const std::string& path, std::string_view kind,
                    const std::function<bool(const std::string& path)>& is_of_kind);

/// check_output() for a model file, which replaces only a safetensors file.
void check_model_output(std::string_view flag, const std::string& path,
                        const std::vector<std::string>& inputs);

/// Throws UsageError that names two flags if both write one file, also through links. Streams and
/// empty names are left alone. The files have passed check_output().
void require_different_outputs(const std::vector<FileFlag>& outputs);

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

/// Text that appears as a file when it is whole. A stream (is_stream()) gets it as it comes.
class TextOutput {
 public:
  explicit TextOutput(const std::string& path);
  void write(std::string_view text);
  /// Throws Error, as write() does. Without it no file appears.
  void finish();

 private:
  std::optional<Descriptor> stream_;
  std::optional<LineWriter> writer_;
  std::optional<AtomicFile> file_;
};

/// The destination of lines.
class Output {
 public:
  virtual ~Output() = default;
  /// Throws Error if the line cannot be written, or is not the one that was expected again.
  virtual void write_line(const std::string& line) = 0;
  virtual void flush() {}
  virtual void finish() {}  ///< called when all lines are written; throws Error
  /// The number of lines of input that an earlier call has answered, without those that are
  /// expected again.
  virtual std::int64_t done() const { return 0; }
  /// The file that keeps the lines until finish(); empty if there is no such file, or no line in
  /// it.
  virtual std::string kept() { return ""; }
};

/// Standard output for "-", or a pipe or device (is_stream()), which gets each line at once.
std::unique_ptr<Output> open_stream(const std::string& path);

/// A plain file in the making. Lines are kept in a part file beside it, which takes its place when
/// it is whole. A later call with the same work resumes from it.
struct PartFile {
  std::filesystem::path path;  ///< the whole file
  std::uint64_t work;          ///< hash of flags, model and input; names the part file
  bool is_numbered = false;    ///< lines begin with the number of their line of input
  /// The input may differ from that of the earlier call (a pipe). So the last lines that are there
  /// are expected again, and must be the same.
  bool expects_last_lines_again = false;
};

/// The number of lines of input that the whole file answers; nothing if it is not there, or has a
/// part file beside it. Throws Error if lines should have numbers and have none.
std::optional<std::int64_t> finished_lines(const PartFile& part);

/// Throws Error if the part file cannot be made, if another process writes it, or if other work has
/// left its part file.
std::unique_ptr<Output> open_part(const PartFile& part);

}  // namespace dragoman
