// Reading files by memory maps, and writing that leaves either the old file or the whole new one.
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <string_view>

namespace dragoman {

/// A file mapped read-only. Throws Error where it cannot be opened or is not a regular file.
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

/// The fate of a symbolic link in the place of a new file.
enum class Links {
  Follow,   ///< the file takes the place of the link's target
  Replace,  ///< the file takes the place of the link
};

/// Writes to PATH.tmp.PROCESS. commit() puts the file in place: fsync, rename, fsync of the folder.
/// Without commit() the destructor removes it; a killed process leaves it (remove_leftovers()).
/// Devices and pipes are written directly. Every error names the file and the system's reason.
class AtomicFile {
 public:
  explicit AtomicFile(std::filesystem::path path, Links links = Links::Follow);
  AtomicFile(const AtomicFile&) = delete;
  AtomicFile& operator=(const AtomicFile&) = delete;
  ~AtomicFile();

  void write(const void* bytes, std::size_t size);
  void write(std::string_view text) { write(text.data(), text.size()); }
  std::size_t size() const { return size_; }  ///< bytes written so far
  void commit();

 private:
  std::filesystem::path path_, temporary_;
  int descriptor_ = -1;
  std::size_t size_ = 0;
};

/// Removes the unfinished AtomicFiles that killed processes have left in a folder. The caller must
/// hold the folder (FolderLock): the unfinished files of a living process would be removed, too.
void remove_leftovers(const std::filesystem::path& folder);

/// Writes the whole text through AtomicFile.
void write_file(const std::filesystem::path& path, std::string_view text,
                Links links = Links::Follow);

/// Reads the whole file or pipe; "-" is not special.
std::string read_file(const std::filesystem::path& path);

/// Locks a folder for this process while the object lives. At most one process has the lock of a
/// folder, and a dead process has none. A file system without locks keeps nobody out.
class FolderLock {
 public:
  /// Throws Error where another process has the lock: the folder's name, then `in_use`.
  FolderLock(const std::filesystem::path& folder, std::string_view in_use);
  FolderLock(const FolderLock&) = delete;
  FolderLock& operator=(const FolderLock&) = delete;
  ~FolderLock();

 private:
  int descriptor_;
};

/// Creates the folder and its parents. An error names the folder.
void create_folders(const std::filesystem::path& folder);

/// The folder that a file is in; "." for a bare name.
std::filesystem::path folder_of(const std::filesystem::path& path);

/// The path that symbolic links lead to. It need not exist.
std::filesystem::path resolved_links(std::filesystem::path path);

/// Makes renames in the folder durable. Errors name the folder.
void sync_folder(const std::filesystem::path& folder);

}  // namespace dragoman
