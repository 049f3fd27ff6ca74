// Files and folders: read by memory maps, replaced as a whole, appended to, locked, temporary. An
// error names the file and the system's reason.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

#include "base/error.h"

namespace dragoman {

// ---- reading ----

/// Throws Error that names the file and the reason, errno, for which the system has not opened it.
[[noreturn]] void refuse_to_open(const std::filesystem::path& path);

/// A file mapped read-only. Throws Error if it cannot be opened or is not a regular file.
class MappedFile {
 public:
  MappedFile() = default;
  explicit MappedFile(const std::filesystem::path& path);
  MappedFile(MappedFile&& other) noexcept;
  MappedFile& operator=(MappedFile&& other) noexcept;
  ~MappedFile();

  const char* data() const { return data_; }  ///< null for an empty file
  std::size_t size() const { return size_; }
  std::string_view bytes() const { return {data_, size_}; }
  /// The pages that lie within these bytes leave memory until they are read again.
  static void give_back(std::string_view bytes);

 private:
  const char* data_ = nullptr;
  std::size_t size_ = 0;
};

/// Whether the path is a device or a pipe. Text is written through it, and no file may take its
/// place.
bool is_device(const std::filesystem::path& path);

/// Reads the whole file or pipe; "-" is not special.
std::string read_file(const std::filesystem::path& path);

/// Reads an open file, pipe or device to its end, from where the descriptor stands. `name` is for
/// messages. Throws Error if reading fails.
std::string read_all(int descriptor, std::string_view name);

/// Facts about a file that show, without reading it, whether it is the file that was seen before.
struct FileStamp {
  std::int64_t size = 0, inode = 0;
  std::int64_t modified = 0;  ///< nanoseconds since 1970
  std::int64_t changed = 0;   ///< likewise; a rename or changed permissions change it, too

  bool operator==(const FileStamp&) const = default;
};

/// Nothing if the file does not exist or cannot be asked for; errno says why.
std::optional<FileStamp> stamp_if_exists(const std::filesystem::path& path);

/// The same, but throws Error.
FileStamp stamp_of(const std::filesystem::path& path);

// ---- writing ----

/// The fate of a symbolic link in the place of a new file.
enum class Links {
  Follow,   ///< the file takes the place of the link's target
  Replace,  ///< the file takes the place of the link
};

/// Leaves either the old file or the whole new one. Writes to PATH.tmp.PROCESS; commit() puts the
/// file in place: fsync, rename, fsync of the folder. Without commit() the destructor removes it; a
/// killed process leaves it (remove_leftovers()). Devices and pipes are written to directly. Small
/// writes are gathered into large ones.
class AtomicFile {
 public:
  explicit AtomicFile(std::filesystem::path path, Links links = Links::Follow);
  AtomicFile(const AtomicFile&) = delete;
  AtomicFile& operator=(const AtomicFile&) = delete;
  ~AtomicFile();

  void write(const void* bytes, std::size_t size);
  void write(std::string_view text) { write(text.data(), text.size()); }
  /// Adds '\n'.
  void write_line(std::string_view line) {
    write(line);
    write(std::string_view("\n"));
  }
  std::size_t size() const { return size_; }  ///< bytes written so far
  void commit();

 private:
  void send(const char* bytes, std::size_t size);
  void flush();

  std::filesystem::path path_, temporary_;
  int descriptor_ = -1;
  std::size_t size_ = 0;
  std::string buffer_;
};

/// Writes the whole text through AtomicFile.
void write_file(const std::filesystem::path& path, std::string_view text,
                Links links = Links::Follow);

/// Removes the unfinished AtomicFiles that killed processes have left in a folder. The caller must
/// hold the folder (FolderLock): the unfinished files of a living process would be removed, too.
void remove_leftovers(const std::filesystem::path& folder);

/// Another process has the file locked. The caller may try again later.
class FileLocked : public Error {
 public:
  using Error::Error;
};

/// A file that grows by whole records, for logs. A record that cannot be written whole (disk full)
/// is taken back, so that the next one starts in the right place.
class AppendFile {
 public:
  /// Appends to all that is there. Other processes may append to the same file: no record is lost
  /// or divided.
  explicit AppendFile(const std::filesystem::path& path);
  /// Appends to the first `keep_bytes` bytes; all bytes after them are cut off.
  AppendFile(const std::filesystem::path& path, std::int64_t keep_bytes);
  AppendFile(const AppendFile&) = delete;
  AppendFile& operator=(const AppendFile&) = delete;
  ~AppendFile();

  /// Returns false if the record could not be written: a log is no reason to end a run. Waits for
  /// no other process: throws FileLocked, and writes nothing, while one has the file locked.
  bool append(std::string_view record);
  std::int64_t bytes() const { return bytes_; }
  void sync();

 private:
  bool write_record(std::string_view record);

  int descriptor_;
  bool is_shared_;
  std::int64_t bytes_;
};

// ---- folders ----

/// Creates the folder and its parents.
void create_folders(const std::filesystem::path& folder);

/// The folder that a file is in; "." for a bare name.
std::filesystem::path folder_of(const std::filesystem::path& path);

/// The path that symbolic links lead to. It need not exist.
std::filesystem::path resolved_links(std::filesystem::path path);

/// Makes renames in the folder durable.
void sync_folder(const std::filesystem::path& folder);

/// Locks a folder for this process while the object lives. At most one process has the lock of a
/// folder, and a dead process has none. A file system without locks keeps nobody out.
class FolderLock {
 public:
  /// Throws Error if another process has the lock: the folder's name, then `in_use`.
  FolderLock(const std::filesystem::path& folder, std::string_view in_use);
  FolderLock(const FolderLock&) = delete;
  FolderLock& operator=(const FolderLock&) = delete;
  ~FolderLock();

 private:
  int descriptor_;
};

// ---- temporary files and folders ----

/// A new folder, which is removed with all that is in it when the object dies.
class ScratchFolder {
 public:
  /// The folder did not exist before. Its name is `begin` and six more characters, and only this
  /// user may read it.
  explicit ScratchFolder(const std::filesystem::path& begin);
  ScratchFolder(const ScratchFolder&) = delete;
  ScratchFolder& operator=(const ScratchFolder&) = delete;
  ~ScratchFolder();

  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

/// A file without a name, for data that do not fit into memory. It disappears when its process
/// ends, however that happens.
class UnnamedFile {
 public:
  /// Creates the file in this folder, which errors name.
  explicit UnnamedFile(const std::filesystem::path& folder);
  UnnamedFile(const UnnamedFile&) = delete;
  UnnamedFile& operator=(const UnnamedFile&) = delete;
  ~UnnamedFile();

  void append(const void* bytes, std::size_t size);
  /// All that was appended, mapped.
  MappedFile map();

 private:
  std::filesystem::path folder_;
  std::FILE* file_;
};

/// Removes the temporary files and folders of this process, with their contents. For a signal that
/// ends it at once, as destructors do not run then.
void remove_unfinished() noexcept;

}  // namespace dragoman
