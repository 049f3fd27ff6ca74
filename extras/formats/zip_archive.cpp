#include "extras/formats/zip_archive.h"

#include <zip.h>

#include <stdexcept>
#include <utility>

#include "base/error.h"

namespace dragoman {

namespace {

constexpr const char* kNoArchive =
    "not a ZIP archive, or a damaged one; restore the file from a copy";
constexpr std::string_view kRestore = "; restore the file from a copy";

[[noreturn]] void fail(zip_error_t& error) {
  switch (zip_error_code_zip(&error)) {
    case ZIP_ER_NOZIP:
      throw Error(kNoArchive);
    case ZIP_ER_EXISTS:
      throw Error("two entries of the archive have one name");
    case ZIP_ER_CRC:
      throw Error("its checksum is wrong", kRestore);
    case ZIP_ER_NOPASSWD:
      throw Error("is encrypted; unpack and pack it without");
    case ZIP_ER_COMPNOTSUPP:
      throw Error("is compressed by an unknown method; unpack and pack it with deflate");
    default:
      throw Error("is damaged (", zip_error_strerror(&error), ")", kRestore);
  }
}

}  // namespace

std::size_t plausible_inflated(std::size_t archive_bytes) {
  constexpr std::size_t kAlways = std::size_t{1} << 26, kForEach = 32;
  return kAlways + kForEach * archive_bytes;
}

struct ZipArchive::File {
  explicit File(std::string_view all) : bytes(all) {
    if (bytes.empty()) throw Error(kNoArchive);  // libzip would take it as an empty one
    zip_error_t error{};
    source = zip_source_buffer_create(bytes.data(), bytes.size(), 0, &error);
    archive = zip_open_from_source(source, ZIP_RDONLY | ZIP_CHECKCONS, &error);
    if (archive != nullptr) return;
    zip_source_free(source);
    fail(error);
  }
  File(const File&) = delete;
  File& operator=(const File&) = delete;
  ~File() { zip_discard(archive); }

  /// The bytes of the file that libzip has read last.
  std::string_view last(std::size_t count) const {
    const auto end = static_cast<std::size_t>(zip_source_tell(source));
    return end > bytes.size() || count > end ? "" : bytes.substr(end - count, count);
  }

  std::string_view bytes;
  zip_source_t* source = nullptr;  ///< the archive owns it
  zip_t* archive = nullptr;
};

ZipArchive::ZipArchive(std::string name, std::string_view bytes, std::size_t limit)
    : name_(std::move(name)), limit_(limit) {
  with_place(name_, [&] {
    file_ = std::make_unique<File>(bytes);
    const auto count = static_cast<std::uint64_t>(zip_get_num_entries(file_->archive, 0));
    for (std::uint64_t i = 0; i < count; ++i) {
      zip_stat_t facts;
      if (zip_stat_index(file_->archive, i, ZIP_FL_ENC_RAW, &facts) != 0)
        fail(*zip_get_error(file_->archive));
      if (*facts.name == '\0') throw Error("an entry of the archive has no name", kRestore);
      names_.emplace_back(facts.name);
      entries_[names_.back()] = {i, facts.size, facts.comp_method == ZIP_CM_STORE};
    }
  });
}

ZipArchive::~ZipArchive() = default;

std::string_view ZipArchive::read(std::string_view name, std::size_t most) {
  const auto found = entries_.find(name);
  if (found == entries_.end()) throw Error(name_, ": has no entry ", name);
  Entry& entry = found->second;
  return with_place(join_text(name_, ": ", name), [&] {
    if (entry.size > most)
      throw Error("has ", entry.size, " bytes, and at most ", most, " are read");
    if (!entry.bytes) read_entry(entry);
    return *entry.bytes;
  });
}

void ZipArchive::read_entry(Entry& entry) {
  if (!entry.is_stored && entry.size > limit_)
    throw Error("would be ", entry.size, " bytes, and only ", limit_,
                " more may be decompressed from this archive");
  const std::unique_ptr<zip_file_t, decltype(&zip_fclose)> file(
      zip_fopen_index(file_->archive, entry.index, 0), zip_fclose);
  if (file == nullptr) fail(*zip_get_error(file_->archive));
  std::string block(std::size_t{1} << 16, '\0'), inflated;
  std::uint64_t taken = 0;
  for (std::int64_t got = 1; got > 0; taken += static_cast<std::uint64_t>(got)) {
    got = zip_fread(file.get(), block.data(), block.size());
    if (got < 0) fail(*zip_file_get_error(file.get()));
    if (static_cast<std::uint64_t>(got) > entry.size - taken)
      throw Error("states ", entry.size, " bytes but holds more", kRestore);
    const auto part = std::string_view(block).substr(0, static_cast<std::size_t>(got));
    if (!entry.is_stored)
      inflated += part;
    else if (file_->last(part.size()) != part)
      throw std::logic_error("libzip has not read a stored entry from where it lies");
  }
  if (taken < entry.size)
    throw Error("states ", entry.size, " bytes but holds only ", taken, kRestore);
  if (!entry.is_stored) limit_ -= taken;
  entry.inflated = std::move(inflated);
  entry.bytes = entry.is_stored ? file_->last(taken) : std::string_view(entry.inflated);
}

}  // namespace dragoman
