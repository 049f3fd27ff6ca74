// ZIP archives (PKWARE's APPNOTE.TXT) that are mapped or in memory: stored and deflated entries,
// zip64, data descriptors. zlib inflates. The directory is read here so that gigabytes of tensors
// can be used in the map without a copy: libzip does not say where the bytes of a stored entry lie,
// and Debian 12's minizip has no zip64.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace dragoman {

/// CRC-32 of an entry's bytes.
std::uint32_t zip_checksum(std::string_view bytes);

/// The most bytes that an archive of numbers is inflated to: 64 MiB, and 32 bytes for each byte of
/// the archive. Numbers of a model shrink to a half at best, a zip bomb to a thousandth.
std::size_t plausible_inflated(std::size_t archive_bytes);

class ZipArchive {
 public:
  /// Messages begin with `name`. `bytes` are the whole file and must outlive the archive. `limit`:
  /// the most bytes that are inflated over the archive's life. Throws Error, one line, if the
  /// directory of the archive is missing or damaged, an entry lies outside the file, two entries
  /// have one name, or an entry is encrypted or compressed in another way.
  ZipArchive(std::string name, std::string_view bytes, std::size_t limit);

  /// In the order of the archive's directory, never empty.
  const std::vector<std::string>& names() const { return names_; }
  bool contains(std::string_view entry) const { return entries_.contains(entry); }

  /// The bytes of an entry: a part of the archive's own bytes if they are stored, otherwise
  /// inflated once and kept. Throws Error if there is no such entry, its checksum (CRC-32) or its
  /// size is wrong, it has more than `most` bytes, or the limit is reached. Before memory is taken,
  /// the stated size is compared with what the packed bytes can hold; then memory grows as bytes
  /// come.
  std::string_view read(std::string_view entry, std::size_t most = SIZE_MAX);

 private:
  struct Entry {
    std::string_view packed;  ///< as in the archive
    std::size_t size = 0;
    std::uint32_t checksum = 0;
    bool is_deflated = false;
    bool is_checked = false;
    std::string inflated;  ///< after it is checked
  };

  void read_directory();
  void inflate(Entry& entry);

  std::string name_;
  std::string_view bytes_;
  std::size_t limit_;  ///< bytes that may still be inflated
  std::vector<std::string> names_;
  std::map<std::string, Entry, std::less<>> entries_;
};

}  // namespace dragoman
