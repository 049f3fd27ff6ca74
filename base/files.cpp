#include "base/files.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstring>
#include <optional>
#include <utility>

#include "base/error.h"
#include "base/read_all.h"
#include "base/unfinished.h"

namespace dragoman {

namespace {

constexpr std::string_view kTemporary = ".tmp.";

std::string reason() { return std::strerror(errno); }

/// Whether it is a device or a pipe. Text is written through it, and no file may take its place.
bool is_device(const std::filesystem::path& path) {
  std::error_code none;
  const auto status = std::filesystem::status(path, none);
  return std::filesystem::is_other(status);
}

/// The permissions of a regular file that is there. The file that takes its place gets them.
std::optional<mode_t> mode_of(const std::filesystem::path& path) {
  struct stat status {};
  if (stat(path.c_str(), &status) != 0 || !S_ISREG(status.st_mode)) return std::nullopt;
  return status.st_mode & 0777;
}

/// The file's descriptor, or below 0. At no time may more read it than `mode` says.
int create(const std::filesystem::path& path, std::optional<mode_t> mode) {
  unlink(path.c_str());  // a file that a killed process of this number may have left
  const int descriptor =
      open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode.value_or(0644));
  if (descriptor >= 0 && mode) fchmod(descriptor, *mode);
  return descriptor;
}

}  // namespace

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

MappedFile::MappedFile(const std::filesystem::path& path) {
  const int descriptor = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor < 0) throw Error(path.string(), ": cannot open: ", reason());
  struct stat status {};
  if (fstat(descriptor, &status) != 0 || !S_ISREG(status.st_mode)) {
    close(descriptor);
    throw Error(path.string(), ": is not a regular file");
  }
  size_ = static_cast<std::size_t>(status.st_size);
  if (size_ > 0) {
    void* address = mmap(nullptr, size_, PROT_READ, MAP_SHARED, descriptor, 0);
    const std::string why = reason();
    close(descriptor);
    if (address == MAP_FAILED) throw Error(path.string(), ": cannot map: ", why);
    data_ = static_cast<const char*>(address);
  } else {
    close(descriptor);
  }
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
  const char* next = static_cast<const char*>(bytes);
  for (std::size_t left = size; left > 0;) {
    const ssize_t written = ::write(descriptor_, next, left);
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) throw Error(path_.string(), ": cannot write: ", reason());
    next += written;
    left -= static_cast<std::size_t>(written);
  }
  size_ += size;
}

void AtomicFile::commit() {
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

void write_file(const std::filesystem::path& path, std::string_view text, Links links) {
  AtomicFile file(path, links);
  file.write(text);
  file.commit();
}

std::string read_file(const std::filesystem::path& path) {
  if (!is_device(path)) return std::string(MappedFile(path).bytes());
  const int descriptor = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor < 0) throw Error(path.string(), ": cannot open: ", reason());
  std::string text;
  try {
    text = read_all(descriptor, path.string());
  } catch (...) {
    close(descriptor);
    throw;
  }
  close(descriptor);
  return text;
}

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
