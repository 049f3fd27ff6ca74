#include "base/files.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <utility>

#include "base/error.h"

namespace dragoman {

namespace {

constexpr std::string_view kTemporary = ".tmp.";

std::string reason() { return std::strerror(errno); }

/// fsync on a folder makes a rename in it durable.
void sync_folder(const std::filesystem::path& folder) {
  const int descriptor = open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (descriptor < 0) throw Error(folder.string(), ": cannot open the folder: ", reason());
  const int result = fsync(descriptor);
  const std::string why = reason();
  close(descriptor);
  if (result != 0) throw Error(folder.string(), ": cannot sync the folder: ", why);
}

std::filesystem::path folder_of(const std::filesystem::path& path) {
  const auto folder = path.parent_path();
  return folder.empty() ? std::filesystem::path(".") : folder;
}

/// Writes all of it; errors name `path`.
void write_whole(int descriptor, const void* bytes, std::size_t size,
                 const std::filesystem::path& path) {
  const char* next = static_cast<const char*>(bytes);
  for (std::size_t left = size; left > 0;) {
    const ssize_t written = ::write(descriptor, next, left);
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) throw Error(path.string(), ": cannot write: ", reason());
    next += written;
    left -= static_cast<std::size_t>(written);
  }
}

std::int64_t nanoseconds(const timespec& time) {
  return std::int64_t{time.tv_sec} * 1'000'000'000 + time.tv_nsec;
}

}  // namespace

MappedFile::MappedFile(const std::filesystem::path& path) {
  const int descriptor = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor < 0) throw Error(path.string(), ": cannot open: ", reason());
  try {
    *this = MappedFile(descriptor, path.string());
  } catch (...) {
    close(descriptor);
    throw;
  }
  close(descriptor);
}

MappedFile::MappedFile(int descriptor, const std::string& name) {
  struct stat status {};
  if (fstat(descriptor, &status) != 0 || !S_ISREG(status.st_mode))
    throw Error(name, ": is not a regular file");
  stamp_ = {.size = status.st_size,
            .inode = static_cast<std::int64_t>(status.st_ino),
            .modified = nanoseconds(status.st_mtim),
            .changed = nanoseconds(status.st_ctim)};
  size_ = static_cast<std::size_t>(status.st_size);
  if (size_ == 0) return;
  void* address = mmap(nullptr, size_, PROT_READ, MAP_SHARED, descriptor, 0);
  if (address == MAP_FAILED) throw Error(name, ": cannot map: ", reason());
  data_ = static_cast<const char*>(address);
}

MappedFile::MappedFile(MappedFile&& other) noexcept
    : data_(std::exchange(other.data_, nullptr)),
      size_(std::exchange(other.size_, 0)),
      stamp_(other.stamp_) {}

MappedFile& MappedFile::operator=(MappedFile&& other) noexcept {
  std::swap(data_, other.data_);
  std::swap(size_, other.size_);
  std::swap(stamp_, other.stamp_);
  return *this;
}

MappedFile::~MappedFile() {
  if (data_ != nullptr) munmap(const_cast<char*>(data_), size_);
}

AtomicFile::AtomicFile(std::filesystem::path path) : path_(std::move(path)) {
  temporary_ = path_;
  temporary_ += std::string(kTemporary) + std::to_string(getpid());
  descriptor_ = open(temporary_.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
  if (descriptor_ < 0) throw Error(path_.string(), ": cannot write: ", reason());
}

AtomicFile::~AtomicFile() {
  if (descriptor_ >= 0) close(descriptor_);
  if (!temporary_.empty()) unlink(temporary_.c_str());
}

void AtomicFile::write(const void* bytes, std::size_t size) {
  write_whole(descriptor_, bytes, size, path_);
  size_ += size;
}

void AtomicFile::commit() {
  if (fsync(descriptor_) != 0) throw Error(path_.string(), ": cannot sync: ", reason());
  if (close(std::exchange(descriptor_, -1)) != 0)
    throw Error(path_.string(), ": cannot close: ", reason());
  if (rename(temporary_.c_str(), path_.c_str()) != 0)
    throw Error(path_.string(), ": cannot put the new file in place: ", reason());
  temporary_.clear();
  sync_folder(folder_of(path_));
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

void write_file(const std::filesystem::path& path, std::string_view text) {
  AtomicFile file(path);
  file.write(text);
  file.commit();
}

std::string read_file(const std::filesystem::path& path) {
  const MappedFile file(path);
  return std::string(file.bytes());
}

ScratchFile::ScratchFile(const std::filesystem::path& folder) : folder_(folder) {
  std::string name = (folder / "scratch.XXXXXX").string();
  descriptor_ = mkostemp(name.data(), O_CLOEXEC);
  if (descriptor_ < 0) throw Error(folder.string(), ": cannot write: ", reason());
  unlink(name.c_str());
}

ScratchFile::~ScratchFile() { close(descriptor_); }

void ScratchFile::append(const void* bytes, std::size_t size) {
  write_whole(descriptor_, bytes, size, folder_);
}

MappedFile ScratchFile::map() const { return MappedFile(descriptor_, folder_.string()); }

FolderLock::FolderLock(const std::filesystem::path& folder, std::string_view in_use)
    : descriptor_(open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)) {
  if (descriptor_ < 0) throw Error(folder.string(), ": cannot open the folder: ", reason());
  if (flock(descriptor_, LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK) return;
  close(descriptor_);
  throw Error(folder.string(), ": ", in_use);
}

FolderLock::~FolderLock() { close(descriptor_); }

void create_folders(const std::filesystem::path& folder) {
  std::error_code code;
  std::filesystem::create_directories(folder, code);
  if (code) throw Error(folder.string(), ": cannot create the folder: ", code.message());
}

}  // namespace dragoman
