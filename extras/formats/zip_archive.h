// ZIP archives that are mapped or in memory, read by libzip. Stored entries, which PyTorch's
// tensors are, are used where they lie: gigabytes need no copy.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace dragoman {

/// The most bytes that an archive of numbers is inflated to: 64 MiB, and 32 bytes for each byte of
/// the archive. Numbers of a model shrink to a half at best, a zip bomb to a thousandth.
std::size_t plausible_inflated(std::size_t archive_bytes);

class ZipArchive {
 public:
  /// Messages begin with `name`. `bytes` are the whole file and must outlive the archive. `limit`:
  /// the most bytes that are inflated over the archive's life. Throws Error, one line, if the bytes
  /// are not a ZIP archive, its directory is damaged, or two entries have one name.
  ZipArchive(std::string name, std::string_view bytes, std::size_t limit);
  ~ZipArchive();

  /// In the order of the archive's directory, never empty.
  const std::vector<std::string>& names() const { return names_; }
  bool contains(std::string_view entry) const { return entries_.contains(entry); }

  /// The bytes of an entry: a part of the archive's own bytes if they are stored, otherwise
  /// inflated once and kept. Throws Error if there is no such entry, it is encrypted or compressed
  /// in another way, its checksum (CRC-32) or its size is wrong, it has more than `most` bytes, or
  /// the limit is reached. Memory grows as bytes come, whatever size is stated.
  std::string_view read(std::string_view entry, std::size_t most = SIZE_MAX);

 private:
  struct Entry {
    std::uint64_t index = 0;  ///< in the directory
    std::uint64_t size = 0;
    bool is_stored = false;
    std::string inflated = {};
    std::optional<std::string_view> bytes = {};  ///< after they are checked
  };
  struct File;  ///< libzip's view of the archive

  void read_entry(Entry& entry);

  std::string name_;
  std::unique_ptr<File> file_;
  std::size_t limit_;  ///< bytes that may still be inflated
  std::vector<std::string> names_;
  std::map<std::string, Entry, std::less<>> entries_;
};

}  // namespace dragoman
