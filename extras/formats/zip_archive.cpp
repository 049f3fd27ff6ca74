#include "extras/formats/zip_archive.h"

#include <zlib.h>

#include <algorithm>
#include <limits>
#include <utility>

#include "base/error.h"
#include "extras/formats/byte_reader.h"

namespace dragoman {

namespace {

constexpr std::string_view kEnd = "PK\5\6", kEnd64 = "PK\6\6", kLocator64 = "PK\6\7",
                           kDirectory = "PK\1\2", kLocal = "PK\3\4";
constexpr std::size_t kEndSize = 22, kLocatorSize = 20;
constexpr std::uint16_t kStored = 0, kDeflated = 8;
constexpr std::uint32_t kIn64 = 0xFFFFFFFF;   // the number is in the extra field
constexpr std::size_t kMostExpansion = 1032;  // deflate's: a match of 258 bytes from 2 bits
constexpr std::string_view kRestore = "; restore the file from a copy";

/// The `size` bytes at `offset`. Throws Error if the file ends before them.
std::string_view part_of(std::string_view bytes, std::uint64_t offset, std::uint64_t size,
                         std::string_view what) {
  if (offset > bytes.size() || size > bytes.size() - offset)
    throw Error(what, " lies outside the file, which is damaged or cut off");
  return bytes.substr(offset, size);
}

struct Directory {
  std::uint64_t entries = 0, size = 0, offset = 0;
};

/// The record at the end of the file, before a comment of up to 65,535 bytes.
std::size_t find_end(std::string_view bytes) {
  constexpr std::size_t kMaxComment = 0xFFFF;
  for (std::size_t rest = kEndSize; rest <= std::min(bytes.size(), kEndSize + kMaxComment);
       ++rest) {
    const std::size_t offset = bytes.size() - rest;
    if (!bytes.substr(offset).starts_with(kEnd)) continue;
    ByteReader reader(bytes.substr(bytes.size() - rest + kEndSize - 2));
    if (reader.number<std::uint16_t>("the comment") == rest - kEndSize) return offset;
  }
  throw Error("not a ZIP archive, or only the beginning of one");
}

Directory read_end64(std::string_view bytes, std::uint64_t offset) {
  constexpr std::uint64_t kSize = 56, kSkipped = 28;  // size, versions, disks, entries of this disk
  ByteReader reader(part_of(bytes, offset, kSize, "the end of the archive's directory"));
  if (reader.take(4, "") != kEnd64) throw Error("the end of the archive's directory is damaged");
  reader.take(kSkipped, "");
  Directory directory;
  directory.entries = reader.number<std::uint64_t>("");
  directory.size = reader.number<std::uint64_t>("");
  directory.offset = reader.number<std::uint64_t>("");
  return directory;
}

Directory find_directory(std::string_view bytes) {
  const std::size_t end = find_end(bytes);
  if (end >= kLocatorSize) {
    ByteReader locator(bytes.substr(end - kLocatorSize, kLocatorSize));
    if (locator.take(4, "") == kLocator64) {
      locator.number<std::uint32_t>("");  // a disk
      return read_end64(bytes, locator.number<std::uint64_t>(""));
    }
  }
  ByteReader reader(bytes.substr(end, kEndSize));
  reader.take(10, "");  // signature, disks, entries of this disk
  Directory directory;
  directory.entries = reader.number<std::uint16_t>("");
  directory.size = reader.number<std::uint32_t>("");
  directory.offset = reader.number<std::uint32_t>("");
  return directory;
}

/// An entry of the directory.
struct Record {
  std::uint16_t flags = 0, method = 0;
  std::uint32_t checksum = 0;
  std::uint64_t packed_size = 0, size = 0, offset = 0;
  std::string_view name;
};

/// Reads the numbers that need 64 bits from the extra field.
void read_extra(Record& record, std::string_view extra) {
  constexpr std::uint16_t kZip64 = 1;
  ByteReader fields(extra);
  while (fields.left() > 0) {
    const auto kind = fields.number<std::uint16_t>("the extra field");
    const auto size = fields.number<std::uint16_t>("the extra field");
    ByteReader field(fields.take(size, "the extra field"));
    if (kind != kZip64) continue;
    for (std::uint64_t* number : {&record.size, &record.packed_size, &record.offset})
      if (*number == kIn64) *number = field.number<std::uint64_t>("the extra field");
  }
}

Record read_record(ByteReader& reader) {
  constexpr std::string_view kWhat = "the directory";
  if (reader.take(4, kWhat) != kDirectory) throw Error("the archive's directory is damaged");
  reader.number<std::uint32_t>(kWhat);  // versions
  Record record;
  record.flags = reader.number<std::uint16_t>(kWhat);
  record.method = reader.number<std::uint16_t>(kWhat);
  reader.number<std::uint32_t>(kWhat);  // time
  record.checksum = reader.number<std::uint32_t>(kWhat);
  record.packed_size = reader.number<std::uint32_t>(kWhat);
  record.size = reader.number<std::uint32_t>(kWhat);
  const auto name = reader.number<std::uint16_t>(kWhat),
             extra = reader.number<std::uint16_t>(kWhat),
             comment = reader.number<std::uint16_t>(kWhat);
  reader.take(8, kWhat);  // disk, attributes
  record.offset = reader.number<std::uint32_t>(kWhat);
  record.name = reader.take(name, kWhat);
  read_extra(record, reader.take(extra, kWhat));
  reader.take(comment, kWhat);
  return record;
}

/// The packed bytes, which follow the local header. That must name the same entry.
std::string_view packed_bytes(std::string_view bytes, const Record& record) {
  constexpr std::uint64_t kHeader = 30, kSkipped = 22;  // repeated from the directory
  ByteReader reader(part_of(bytes, record.offset, kHeader, "it"));
  if (reader.take(4, "") != kLocal) throw Error("its header in the archive is damaged");
  reader.take(kSkipped, "");
  const auto name = reader.number<std::uint16_t>(""), extra = reader.number<std::uint16_t>("");
  const std::uint64_t behind = record.offset + kHeader;
  if (part_of(bytes, behind, name, "it") != record.name)
    throw Error("its header in the archive is damaged");
  return part_of(bytes, behind + name + extra, record.packed_size, "it");
}

void check_record(const Record& record) {
  constexpr std::uint16_t kEncrypted = 1;
  if ((record.flags & kEncrypted) != 0) throw Error("is encrypted; unpack and pack it without");
  if (record.method != kStored && record.method != kDeflated)
    throw Error("is compressed by method ", record.method,
                " of ZIP; only stored and deflated entries are read");
  if (record.method == kStored && record.size != record.packed_size)
    throw Error("states two sizes (", record.size, " and ", record.packed_size, " bytes)");
  if (record.method == kDeflated && record.size / kMostExpansion > record.packed_size)
    throw Error("states ", record.size, " bytes, more than its ", record.packed_size,
                " compressed bytes can hold");
}

/// A stream of zlib that inflates raw deflated data.
class Inflater {
 public:
  Inflater() {
    if (inflateInit2(&stream_, -MAX_WBITS) != Z_OK) throw std::bad_alloc();
  }
  Inflater(const Inflater&) = delete;
  Inflater& operator=(const Inflater&) = delete;
  ~Inflater() { inflateEnd(&stream_); }

  /// Inflates the data, which must have `size` bytes. Memory grows with the bytes that come,
  /// whatever size is stated.
  std::string run(std::string_view packed, std::size_t size) {
    constexpr std::size_t kMostIn = std::numeric_limits<uInt>::max();  // zlib counts in 32 bits
    constexpr std::size_t kFirstBlock = std::size_t{1} << 20, kLargestBlock = std::size_t{1} << 30;
    std::string result;
    char none = 0;
    std::size_t taken = 0, made = 0;
    for (int code = Z_OK; code != Z_STREAM_END;) {
      if (made == result.size())
        result.resize(made + std::min(size - made, std::clamp(made, kFirstBlock, kLargestBlock)));
      const std::size_t in = std::min(kMostIn, packed.size() - taken), out = result.size() - made;
      stream_.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(packed.data() + taken));
      stream_.avail_in = static_cast<uInt>(in);
      stream_.next_out = reinterpret_cast<Bytef*>(out > 0 ? result.data() + made : &none);
      stream_.avail_out = static_cast<uInt>(out);
      code = ::inflate(&stream_, Z_NO_FLUSH);
      taken += in - stream_.avail_in;
      made += out - stream_.avail_out;
      if (code == Z_BUF_ERROR && made == size && taken < packed.size())
        throw Error("states ", size, " bytes but holds more");
      if (code != Z_OK && code != Z_STREAM_END)
        throw Error("its compressed bytes are damaged", kRestore);
    }
    if (made < size) throw Error("states ", size, " bytes but holds only ", made);
    if (taken < packed.size()) throw Error("its compressed bytes end too early", kRestore);
    return result;
  }

 private:
  z_stream stream_{};
};

}  // namespace

std::uint32_t zip_checksum(std::string_view bytes) {
  const auto* data = reinterpret_cast<const Bytef*>(bytes.data());
  return static_cast<std::uint32_t>(crc32_z(0, data, bytes.size()));
}

std::size_t plausible_inflated(std::size_t archive_bytes) {
  constexpr std::size_t kAlways = std::size_t{1} << 26, kForEach = 32;
  return kAlways + kForEach * archive_bytes;
}

ZipArchive::ZipArchive(std::string name, std::string_view bytes, std::size_t limit)
    : name_(std::move(name)), bytes_(bytes), limit_(limit) {
  try {
    read_directory();
  } catch (const Error& error) {
    throw Error(name_, ": ", error.what());
  }
}

void ZipArchive::read_directory() {
  const Directory directory = find_directory(bytes_);
  ByteReader reader(
      part_of(bytes_, directory.offset, directory.size, "the directory of the archive"));
  while (reader.left() > 0) {
    const Record record = read_record(reader);
    if (record.name.empty()) throw Error("an entry of the archive has no name");
    try {
      check_record(record);
      Entry entry{packed_bytes(bytes_, record), record.size, record.checksum,
                  record.method == kDeflated,   false,       {}};
      if (!entries_.emplace(record.name, std::move(entry)).second)
        throw Error("occurs twice in the archive");
    } catch (const Error& error) {
      throw Error(record.name, ": ", error.what());
    }
    names_.emplace_back(record.name);
  }
  if (names_.size() != directory.entries)
    throw Error("the directory of the archive has ", names_.size(), " entries instead of ",
                directory.entries, kRestore);
}

std::string_view ZipArchive::read(std::string_view name, std::size_t most) {
  const auto found = entries_.find(name);
  if (found == entries_.end()) throw Error(name_, ": has no entry ", name);
  Entry& entry = found->second;
  try {
    if (entry.size > most)
      throw Error("has ", entry.size, " bytes, and at most ", most, " are read");
    if (!entry.is_checked && entry.is_deflated) inflate(entry);
    const std::string_view bytes = entry.is_deflated ? entry.inflated : entry.packed;
    if (!entry.is_checked && zip_checksum(bytes) != entry.checksum)
      throw Error("its checksum is wrong", kRestore);
    entry.is_checked = true;
    return bytes;
  } catch (const Error& error) {
    throw Error(name_, ": ", name, ": ", error.what());
  }
}

void ZipArchive::inflate(Entry& entry) {
  if (entry.size > limit_)
    throw Error("would be ", entry.size, " bytes, and only ", limit_,
                " more may be decompressed from this archive");
  entry.inflated = Inflater().run(entry.packed, entry.size);
  limit_ -= entry.size;
}

}  // namespace dragoman
