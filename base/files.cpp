#include "base/files.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <set>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/mutex.h"

namespace dragoman {

namespace {

constexpr std::string_view kTemporary = ".tmp.";

std::string reason() { return std::strerror(errno); }

/// A file that is open in a scope.
class OpenFile {
 public:
  explicit OpenFile(const std::filesystem::path& path)
      : descriptor(open(path.c_str(), O_RDONLY | O_CLOEXEC)) {
    if (descriptor < 0) refuse_to_open(path);
  }
  OpenFile(const OpenFile&) = delete;
  OpenFile& operator=(const OpenFile&) = delete;
  ~OpenFile() { close(descriptor); }

  const int descriptor;
};

}  // namespace

// ---- reading ----

void refuse_to_open(const std::filesystem::path& path) {
  const std::string why = reason();
  if (path.empty()) throw Error("cannot open a file whose name is empty: ", why);
  throw Error(path.string(), ": cannot open: ", why);
}

MappedFile::MappedFile(const std::filesystem::path& path) {
  const OpenFile file(path);
  struct stat status {};
  if (fstat(file.descriptor, &status) != 0 || !S_ISREG(status.st_mode))
    throw Error(path.string(), ": is not a regular file");
  size_ = static_cast<std::size_t>(status.st_size);
  if (size_ == 0) return;
  void* address = mmap(nullptr, size_, PROT_READ, MAP_SHARED, file.descriptor, 0);
  if (address == MAP_FAILED) throw Error(path.string(), ": cannot map: ", reason());
  data_ = static_cast<const char*>(address);
}

MappedFile::MappedFile(MappedFile&& other) noexcept
    : data_(std::exchange(other.data_, nullptr)), size_(std::exchange(other.size_, 0)) {}

MappedFile& MappedFile::operator=(MappedFile&& other) noexcept {
  std::swap(data_, other.data_);
  std::swap(size_, other.size_);
  return *this;
}

MappedFile::~MappedFile() {
  if (data_ != nullptr) munmap(const_cast<char*>(data_), size_);
}

void MappedFile::give_back(std::string_view bytes) {
  const auto page = static_cast<std::uintptr_t>(sysconf(_SC_PAGESIZE));
  const auto begin = reinterpret_cast<std::uintptr_t>(bytes.data());
  const std::size_t before = (page - begin % page) % page;  // the first whole page
  if (bytes.size() < before + page) return;
  const std::size_t whole = (bytes.size() - before) / page * page;
  madvise(const_cast<char*>(bytes.data()) + before, whole, MADV_DONTNEED);
}

bool is_device(const std::filesystem::path& path) {
  std::error_code none;
  return std::filesystem::is_other(std::filesystem::status(path, none));
}

std::string read_file(const std::filesystem::path& path) {
  if (!is_device(path)) return std::string(MappedFile(path).bytes());
  return read_all(OpenFile(path).descriptor, path.string());
}

std::string read_all(int descriptor, std::string_view name) {
  std::string bytes;
  std::vector<char> block(1 << 16);
  while (true) {
    const ssize_t size = read(descriptor, block.data(), block.size());
    if (size == 0) return bytes;
    if (size > 0)
      bytes.append(block.data(), static_cast<std::size_t>(size));
    else if (errno != EINTR)
      throw Error(name, ": cannot read: ", reason());
  }
}

namespace {

std::int64_t nanoseconds(const timespec& time) {
  return std::int64_t{time.tv_sec} * 1'000'000'000 + time.tv_nsec;
}

}  // namespace

std::optional<FileStamp> stamp_if_exists(const std::filesystem::path& path) {
  struct stat status {};
  if (stat(path.c_str(), &status) != 0) return std::nullopt;
  return FileStamp{.size = status.st_size,
                   .inode = static_cast<std::int64_t>(status.st_ino),
                   .modified = nanoseconds(status.st_mtim),
                   .changed = nanoseconds(status.st_ctim)};
}

FileStamp stamp_of(const std::filesystem::path& path) {
  if (const auto stamp = stamp_if_exists(path)) return *stamp;
  refuse_to_open(path);
}

// ---- writing ----

namespace {

/// The temporary files and folders of this process, for a signal that ends it at once. The list is
/// never destroyed, as a signal may come while main returns.
struct Unfinished {
  Mutex mutex;
  std::set<std::filesystem::path> paths GUARDED_BY(mutex);
};

Unfinished& unfinished() {
  static auto* const all = new Unfinished;
  return *all;
}

void add_unfinished(const std::filesystem::path& path) {
  Unfinished& all = unfinished();
  const MutexLock lock(all.mutex);
  all.paths.insert(path);
}

/// The path has been removed, or has got its final name.
void forget_unfinished(const std::filesystem::path& path) noexcept {
  Unfinished& all = unfinished();
  const MutexLock lock(all.mutex);
  all.paths.erase(path);
}

/// The permissions of a regular file, for the file that takes its place. Nothing if there is none.
std::optional<mode_t> mode_of(const std::filesystem::path& path) {
  struct stat status {};
  if (stat(path.c_str(), &status) != 0 || !S_ISREG(status.st_mode)) return std::nullopt;
  return status.st_mode & 0777;
}

/// The new file's descriptor, or a number below 0. At no time can anyone read the file whom `mode`
/// does not allow to.
int create(const std::filesystem::path& path, std::optional<mode_t> mode) {
  unlink(path.c_str());  // a killed process with this id may have left it
  const int descriptor =
      open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode.value_or(0644));
  if (descriptor >= 0 && mode) fchmod(descriptor, *mode);
  return descriptor;
}

}  // namespace

AtomicFile::AtomicFile(std::filesystem::path path, Links links)
    : path_(links == Links::Follow && !is_device(path) ? resolved_links(std::move(path))
                                                       : std::move(path)) {
  if (is_device(path_)) {
    descriptor_ = open(path_.c_str(), O_WRONLY | O_CLOEXEC);
  } else {
    temporary_ = path_;
    temporary_ += std::string(kTemporary) + std::to_string(getpid());
    add_unfinished(temporary_);
    descriptor_ = create(temporary_, mode_of(path_));
  }
  if (descriptor_ >= 0) return;
  const Error error(path_.string(), ": cannot write: ", reason());
  forget_unfinished(temporary_);
  throw error;
}

AtomicFile::~AtomicFile() {
  if (descriptor_ >= 0) close(descriptor_);
  if (temporary_.empty()) return;
  unlink(temporary_.c_str());
  forget_unfinished(temporary_);
}

void AtomicFile::write(const void* bytes, std::size_t size) {
  constexpr std::size_t kBlock = std::size_t{1} << 18;
  const char* text = static_cast<const char*>(bytes);
  size_ += size;
  if (buffer_.size() + size > kBlock) flush();
  if (size > kBlock) return send(text, size);
  buffer_.append(text, size);
}

void AtomicFile::send(const char* bytes, std::size_t size) {
  while (size > 0) {
    const ssize_t written = ::write(descriptor_, bytes, size);
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) throw Error(path_.string(), ": cannot write: ", reason());
    bytes += written;
    size -= static_cast<std::size_t>(written);
  }
}

void AtomicFile::flush() {
  send(buffer_.data(), buffer_.size());
  buffer_.clear();
}

void AtomicFile::commit() {
  flush();
  if (temporary_.empty()) {
    if (close(std::exchange(descriptor_, -1)) != 0)
      throw Error(path_.string(), ": cannot close: ", reason());
    return;
  }
  if (fsync(descriptor_) != 0) throw Error(path_.string(), ": cannot sync: ", reason());
  if (close(std::exchange(descriptor_, -1)) != 0)
    throw Error(path_.string(), ": cannot close: ", reason());
  if (rename(temporary_.c_str(), path_.c_str()) != 0)
    throw Error(path_.string(), ": cannot put the new file in place: ", reason());
  forget_unfinished(temporary_);
  temporary_.clear();
  sync_folder(folder_of(path_));
}

void write_file(const std::filesystem::path& path, std::string_view text, Links links) {
  AtomicFile file(path, links);
  file.write(text);
  file.commit();
}

void remove_leftovers(const std::filesystem::path& folder) {
  std::error_code ignored;
  for (const auto& entry : std::filesystem::directory_iterator(folder, ignored)) {
    const std::string name = entry.path().filename().string();
    const auto mark = name.rfind(kTemporary);
    if (mark != std::string::npos &&
        name.find_first_not_of("0123456789", mark + kTemporary.size()) == std::string::npos)
      std::filesystem::remove(entry.path(), ignored);
  }
}

namespace {

int opened(const std::filesystem::path& path, int flags) {
  const int descriptor = open(path.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC | flags, 0644);
  if (descriptor < 0) throw Error(path.string(), ": cannot write: ", reason());
  return descriptor;
}

}  // namespace

AppendFile::AppendFile(const std::filesystem::path& path)
    : descriptor_(opened(path, O_APPEND)),
      is_shared_(true),
      bytes_(lseek(descriptor_, 0, SEEK_END)) {}

AppendFile::AppendFile(const std::filesystem::path& path, std::int64_t keep_bytes)
    : descriptor_(opened(path, 0)), is_shared_(false) {
  const off_t size = lseek(descriptor_, 0, SEEK_END);
  bytes_ = std::min<std::int64_t>(keep_bytes, size);
  if (ftruncate(descriptor_, bytes_) != 0 || lseek(descriptor_, bytes_, SEEK_SET) < 0) {
    const std::string why = reason();
    close(descriptor_);
    throw Error(path.string(), ": cannot cut back: ", why);
  }
}

AppendFile::~AppendFile() { close(descriptor_); }

bool AppendFile::append(std::string_view record) {
  if (!is_shared_) return write_record(record);
  // Only taking back part of a record needs the lock. Without one (some file systems have none),
  // whole records still follow each other.
  if (flock(descriptor_, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK)
    throw FileLocked("another process has the file locked");
  bytes_ = lseek(descriptor_, 0, SEEK_END);
  const bool is_whole = write_record(record);
  flock(descriptor_, LOCK_UN);
  return is_whole;
}

bool AppendFile::write_record(std::string_view record) {
  if (write(descriptor_, record.data(), record.size()) == static_cast<ssize_t>(record.size())) {
    bytes_ += static_cast<std::int64_t>(record.size());
    return true;
  }
  if (ftruncate(descriptor_, bytes_) == 0) lseek(descriptor_, bytes_, SEEK_SET);
  return false;
}

void AppendFile::sync() { fdatasync(descriptor_); }

// ---- folders ----

void create_folders(const std::filesystem::path& folder) {
  std::error_code code;
  std::filesystem::create_directories(folder, code);
  if (code) throw Error(folder.string(), ": cannot create the folder: ", code.message());
}

std::filesystem::path folder_of(const std::filesystem::path& path) {
  const auto folder = path.parent_path();
  return folder.empty() ? std::filesystem::path(".") : folder;
}

std::filesystem::path resolved_links(std::filesystem::path path) {
  std::error_code none;
  for (int links = 0; links < 40 && std::filesystem::is_symlink(path, none); ++links)
    path = path.parent_path() / std::filesystem::read_symlink(path);
  return path;
}

void sync_folder(const std::filesystem::path& folder) {
  const int descriptor = open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (descriptor < 0) throw Error(folder.string(), ": cannot open the folder: ", reason());
  const int fault = fsync(descriptor) == 0 ? 0 : errno;
  close(descriptor);
  // Some file systems (of FUSE, CIFS) cannot sync a folder.
  if (fault != 0 && fault != EINVAL)
    throw Error(folder.string(), ": cannot sync the folder: ", std::strerror(fault));
}

FolderLock::FolderLock(const std::filesystem::path& folder, std::string_view in_use)
    : descriptor_(open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)) {
  if (descriptor_ < 0) throw Error(folder.string(), ": cannot open the folder: ", reason());
  if (flock(descriptor_, LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK) return;
  close(descriptor_);
  throw Error(folder.string(), ": ", in_use);
}

FolderLock::~FolderLock() { close(descriptor_); }

// ---- temporary files and folders ----

ScratchFolder::ScratchFolder(const std::filesystem::path& begin) {
  std::string name = begin.string() + "XXXXXX";
  if (mkdtemp(name.data()) == nullptr) throw Error(name, ": cannot create the folder: ", reason());
  path_ = name;
  add_unfinished(path_);
}

ScratchFolder::~ScratchFolder() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
  forget_unfinished(path_);
}

UnnamedFile::UnnamedFile(const std::filesystem::path& folder) : folder_(folder) {
  std::string name = (folder / "unnamed.XXXXXX").string();
  const int descriptor = mkostemp(name.data(), O_CLOEXEC);
  if (descriptor < 0) throw Error(folder.string(), ": cannot write: ", reason());
  unlink(name.c_str());
  file_ = fdopen(descriptor, "w+");
  if (file_ == nullptr) {
    const int why = errno;
    close(descriptor);
    throw Error(folder.string(), ": cannot write: ", std::strerror(why));
  }
}

UnnamedFile::~UnnamedFile() { std::fclose(file_); }

void UnnamedFile::append(const void* bytes, std::size_t size) {
  if (std::fwrite(bytes, 1, size, file_) != size)
    throw Error(folder_.string(), ": cannot write: ", reason());
}

MappedFile UnnamedFile::map() {
  if (std::fflush(file_) != 0) throw Error(folder_.string(), ": cannot write: ", reason());
  return MappedFile("/proc/self/fd/" + std::to_string(fileno(file_)));
}

void remove_unfinished() noexcept {
  Unfinished& all = unfinished();
  const MutexLock lock(all.mutex);
  std::error_code ignored;
  constexpr int kTries = 100;  // another thread may be writing to a folder
  for (const auto& path : all.paths)
    for (int i = 0; i < kTries && std::filesystem::exists(path, ignored); ++i)
      std::filesystem::remove_all(path, ignored);
  all.paths.clear();
}

}  // namespace dragoman
