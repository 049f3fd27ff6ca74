#include "app/commands/input_output.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <map>

#include "base/bytes.h"
#include "base/compressed_text.h"
#include "base/error.h"
#include "model/file/run_folder.h"

namespace dragoman {

namespace {

namespace fs = std::filesystem;

/// The first `count` bytes of a file, with zeros for those that it lacks.
std::string beginning_of(const std::string& path, std::size_t count) {
  std::string text(count, '\0');
  std::ifstream(path, std::ios::binary).read(text.data(), static_cast<std::streamsize>(count));
  return text;
}

/// Whether both are names of one existing file, also through links.
bool same_file(const std::string& a, const std::string& b) {
  std::error_code none;
  return fs::equivalent(a, b, none);
}

/// The one path of a file that need not exist.
fs::path canonical_path(const std::string& path) {
  std::error_code none;
  return fs::weakly_canonical(fs::absolute(resolved_links(path)), none);
}

/// "the model of the training run en-de", or nothing if no run has such a file.
std::string role_in_run(const std::string& path) {
  std::error_code none;
  const fs::path file = canonical_path(path), folder = file.parent_path();
  const RunFolder beside{folder}, run{folder.parent_path()};
  const std::string of_run = " of the training run " + folder.string();
  const bool has_checkpoints = fs::is_directory(beside.checkpoints(), none);
  if (file == beside.model() && (has_checkpoints || fs::exists(beside.log(), none)))
    return "the model" + of_run;
  if (has_checkpoints && file == beside.log()) return "the log" + of_run;
  if (has_checkpoints && file == beside.config()) return "the configuration" + of_run;
  long long update = 0;
  const bool is_numbered =
      std::sscanf(file.filename().c_str(), "update-%lld.safetensors", &update) == 1 &&
      file == run.at_update(update);
  if (is_numbered || file == run.best() || file == run.latest() || file == run.start())
    return "a checkpoint of the training run " + run.root.string();
  return "";
}

}  // namespace

void require_lines(const std::string& path, std::size_t lines) {
  if (lines == 0) throw Error(input_name(path), " has no lines");
}

bool is_stream(const std::string& path) { return path == "-" || is_device(path); }

// Eight bytes with the length of the header, which is far below 2^56, then an object of JSON. No
// text has a zero byte before it.
bool is_safetensors(const std::string& path) {
  const std::string begin = beginning_of(path, 9);
  return begin[7] == '\0' && begin[8] == '{';
}

void check_output(std::string_view flag, const std::string& path,
                  const std::vector<std::string>& inputs) {
  if (path == "-") throw UsageError(flag, ": - stands for standard output; name a file");
  if (is_stream(path)) return;
  std::error_code none;
  if (fs::is_directory(path, none))
    throw UsageError(flag, ": ", path, " is a folder; name the file to write in it");
  for (const std::string& input : inputs)
    if (same_file(path, input))
      throw UsageError(flag, ": ", path, " is ", path == input ? "" : input + ", ",
                       "a file that is read; name another file");
  if (const std::string role = role_in_run(path); !role.empty())
    throw UsageError(flag, ": ", path, " is ", role, "; name another file");
  const fs::path folder = fs::path(path).parent_path();
  if (!folder.empty() && !fs::is_directory(folder, none))
    throw Error(folder.string(), ": no such folder; make it, or name another with ", flag);
  if (!fs::exists(path, none) && access(folder.empty() ? "." : folder.c_str(), W_OK) != 0)
    throw Error(path, ": cannot write: ", std::strerror(errno));
}

void check_text_output(std::string_view flag, const std::string& path,
                       const std::vector<std::string>& inputs) {
  check_output(flag, path, inputs);
  if (!is_stream(path) && is_safetensors(path))
    throw UsageError(flag, ": ", path, " is a model; name another file");
  const std::string name = fs::path(path).filename().string();
  if (!is_stream(path) && plain_name(path) != name)
    throw UsageError(flag, ": text is not written compressed; name ", plain_name(path), ", not ",
                     name);
}

void check_replaced(std::string_view flag, const std::string& path, std::string_view kind,
                    const std::function<bool(const std::string& path)>& is_of_kind) {
  std::error_code none;
  if (!is_stream(path) && fs::exists(path, none) && !fs::is_empty(path, none) && !is_of_kind(path))
    throw UsageError(flag, ": ", path, " exists and is not ", kind,
                     ", so it is not replaced; name another file");
}

void check_model_output(std::string_view flag, const std::string& path,
                        const std::vector<std::string>& inputs) {
  check_output(flag, path, inputs);
  check_replaced(flag, path, "a model", is_safetensors);
}

void require_different_outputs(const std::vector<FileFlag>& outputs) {
  std::map<fs::path, std::string> written;  // the flag that names it
  for (const auto& [flag, file] : outputs) {
    if (file.empty() || is_stream(file)) continue;
    const auto [other, is_new] = written.emplace(canonical_path(file), flag);
    if (!is_new)
      throw UsageError(flag, ": ", file, " is written by ", other->second,
                       ", too; name another file");
  }
}

Descriptor::Descriptor(const std::string& path, int standard, int flags)
    : own_(path != "-"), number_(own_ ? open(path.c_str(), flags | O_CLOEXEC, 0644) : standard) {
  if (number_ < 0) refuse_to_open(path);
}

Descriptor::~Descriptor() {
  if (own_) close(number_);
}

void check_standard_input(const std::vector<FileFlag>& inputs) {
  int readers = 0;
  std::string flags;
  for (const auto& [flag, file] : inputs) {
    if (file != "-") continue;
    flags += (readers++ == 0 ? "" : ", ") + flag;
  }
  if (readers > 1) throw UsageError(flags, ": only one of them can be standard input (-)");
}

TextOutput::TextOutput(const std::string& path) {
  if (!is_stream(path)) {
    file_.emplace(path);
    return;
  }
  stream_.emplace(path, STDOUT_FILENO, O_WRONLY);
  writer_.emplace(*stream_, path == "-" ? "standard output" : path);
}

void TextOutput::write(std::string_view text) { file_ ? file_->write(text) : writer_->write(text); }

void TextOutput::finish() { file_ ? file_->commit() : writer_->flush(); }

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

fs::path part_path(const fs::path& target, std::uint64_t work) {
  return target.string() + "." + hex16(work) + ".part";
}

/// A part file of the output, by any work, that has something in it; empty if there is none.
fs::path any_part(const fs::path& target) {
  const std::string begin = target.filename().string() + ".";
  std::error_code unreadable;
  for (const auto& entry : fs::directory_iterator(folder_of(target), unreadable)) {
    const std::string name = entry.path().filename().string();
    if (name.starts_with(begin) && name.ends_with(".part") &&
        name.size() == begin.size() + 16 + std::string_view(".part").size() &&
        entry.file_size(unreadable) > 0)
      return entry.path();
  }
  return {};
}

struct Kept {
  std::size_t bytes = 0;
  std::int64_t lines = 0;  ///< of input
};

/// The number that a line begins with.
std::int64_t number_of(std::string_view line, const fs::path& path) {
  std::int64_t number = 0;
  const auto [end, code] = std::from_chars(line.data(), line.data() + line.size(), number);
  if (code != std::errc{}) throw Error(path.string(), ": has lines without numbers");
  return number;
}

/// The most lines of input that are expected again.
constexpr std::int64_t kExpectedAgain = 10;

/// The whole lines of a part file without those of its last `again` lines of input.
Kept kept_before(std::string_view text, std::int64_t again, bool is_numbered,
                 const fs::path& path) {
  Kept kept{.bytes = text.size(),
            .lines = is_numbered ? 0 : std::count(text.begin(), text.end(), '\n')};
  std::int64_t last = -1;  // the number of the last line of input that is left out
  while (kept.bytes > 0) {
    const std::size_t begin = kept.bytes < 2 ? 0 : text.rfind('\n', kept.bytes - 2) + 1;
    const std::int64_t number =
        is_numbered ? number_of(text.substr(begin, kept.bytes - begin), path) : kept.lines - 1;
    if (number != last && again-- == 0) break;
    kept = {.bytes = begin, .lines = last = number};
  }
  return kept;
}

class PartOutput : public Output {
 public:
  explicit PartOutput(const PartFile& part)
      : target_(resolved_links(part.path)),
        path_(part_path(target_, part.work)),
        descriptor_(path_.string(), -1, O_RDWR | O_CREAT),
        writer_(descriptor_, path_.string()) {
    if (flock(descriptor_, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK)
      throw Error(path_.string(), ": another process is writing it");
    cut_back(take_kept(part));
    keep_permissions();
  }

  ~PartOutput() override {
    if (!finished_ && is_empty_) unlink(path_.c_str());
  }

  void write_line(const std::string& line) override {
    const std::string_view expected = std::string_view(expected_).substr(0, line.size() + 1);
    if (!expected.empty() && (expected.back() != '\n' || !expected.starts_with(line)))
      fail_as_of_another_input();
    expected_.erase(0, expected.size());
    if (!expected.empty()) return;
    is_empty_ = false;
    writer_.write_line(line);
  }
  void flush() override { writer_.flush(); }

  void finish() override {
    if (!expected_.empty()) fail_as_of_another_input();
    writer_.flush();
    if (fsync(descriptor_) != 0) fail("cannot sync");
    if (rename(path_.c_str(), target_.c_str()) != 0) fail("cannot put the new file in place");
    finished_ = true;
    sync_folder(folder_of(target_));
  }

  std::int64_t done() const override { return done_; }
  std::string kept() override {
    writer_.flush();
    return is_empty_ ? "" : path_.string();
  }

 private:
  /// Notes the lines that an earlier call has left. Returns the number of bytes that stay.
  std::size_t take_kept(const PartFile& part) {
    const MappedFile file(path_);
    const std::string_view text = file.bytes().substr(0, file.bytes().rfind('\n') + 1);
    // Some numbered lines of the last line of input may be missing.
    const Kept whole = kept_before(text, part.is_numbered ? 1 : 0, part.is_numbered, path_);
    const std::string_view kept = text.substr(0, whole.bytes);
    const Kept done = kept_before(kept, part.expects_last_lines_again ? kExpectedAgain : 0,
                                  part.is_numbered, path_);
    done_ = part.expects_last_lines_again ? done.lines : whole.lines;
    if (part.expects_last_lines_again) expected_ = kept.substr(done.bytes);
    is_empty_ = kept.empty();
    return kept.size();
  }
  void cut_back(std::size_t bytes) {
    if (ftruncate(descriptor_, static_cast<off_t>(bytes)) != 0 ||
        lseek(descriptor_, 0, SEEK_END) < 0)
      throw Error(path_.string(), ": cannot cut back: ", std::strerror(errno));
  }
  [[noreturn]] void fail_as_of_another_input() const {
    throw Error(
        path_.string(),
        ": belongs to another input: its last lines are not the translations of this one; the "
        "command that began it resumes it; for this input give another -o, or remove the file");
  }
  [[noreturn]] void fail(std::string_view what) const {
    throw Error(path_.string(), ": ", what, ": ", std::strerror(errno));
  }
  /// Takes the permissions of the file that is replaced.
  void keep_permissions() const {
    struct stat status {};
    if (stat(target_.c_str(), &status) == 0) fchmod(descriptor_, status.st_mode & 07777);
  }

  fs::path target_, path_;
  Descriptor descriptor_;
  LineWriter writer_;
  std::int64_t done_ = 0;
  std::string expected_;  // the lines that are there and must come again
  bool is_empty_ = true, finished_ = false;
};

}  // namespace

std::unique_ptr<Output> open_stream(const std::string& path) {
  return std::make_unique<StreamOutput>(path);
}

std::optional<std::int64_t> finished_lines(const PartFile& part) {
  const fs::path target = resolved_links(part.path);
  if (!fs::exists(target) || !any_part(target).empty()) return std::nullopt;
  const MappedFile file(target);
  const std::string_view text = file.bytes();
  if (!part.is_numbered) return std::count(text.begin(), text.end(), '\n');
  if (text.size() < 2) return 0;
  return number_of(text.substr(text.rfind('\n', text.size() - 2) + 1), target) + 1;
}

std::unique_ptr<Output> open_part(const PartFile& part) {
  const fs::path target = resolved_links(part.path);
  if (!fs::exists(part_path(target, part.work)))
    if (const fs::path other = any_part(target); !other.empty())
      throw Error(
          other.string(),
          ": an unfinished output of another input, model or search; the command that began it "
          "resumes it; for this command give another -o, or remove the file");
  return std::make_unique<PartOutput>(part);
}

}  // namespace dragoman
