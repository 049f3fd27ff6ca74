#include "app/commands/line_files.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <cstring>

#include "app/frame/log.h"
#include "base/error.h"
#include "base/files.h"
#include "base/hash.h"
#include "base/line_stream.h"

namespace dragoman {

namespace {

namespace fs = std::filesystem;

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
    if (rename(path_.c_str(), target_.c_str()) != 0) fail("cannot take its name");
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
    // Of the last line of input, some numbered lines may be missing.
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
    throw Error(path_.string(),
                ": is of another input: its last lines are not the translations of this one; the "
                "command that it was begun with resumes it (--resume); for this one give another "
                "-o, or remove the file");
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
  std::string expected_;  // the lines that are there and must come once more
  bool is_empty_ = true, finished_ = false;
};

}  // namespace

Descriptor::Descriptor(const std::string& path, int standard, int flags)
    : own_(path != "-"), number_(own_ ? open(path.c_str(), flags | O_CLOEXEC, 0644) : standard) {
  if (number_ < 0) throw Error(path, ": cannot open: ", std::strerror(errno));
}

Descriptor::~Descriptor() {
  if (own_) close(number_);
}

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
      throw Error(other.string(),
                  ": an unfinished output of another input, model or search; the command that it "
                  "was begun with resumes it (--resume); for this one give another -o, or remove "
                  "the file");
  return std::make_unique<PartOutput>(part);
}

}  // namespace dragoman
