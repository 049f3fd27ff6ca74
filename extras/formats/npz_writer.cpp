#include "extras/formats/npz_writer.h"

#include "base/error.h"
#include "base/little_endian.h"
#include "extras/formats/zip_archive.h"

namespace dragoman {

namespace {

constexpr std::uint64_t kLargestArchive = 0xFFFFFFFF;

/// The header of a .npy file of version 1. Its size is a multiple of 64.
std::string npy_header(const char* type, const std::vector<std::int64_t>& shape) {
  std::string text = join_text("{'descr': '", type, "', 'fortran_order': False, 'shape': (");
  for (std::size_t i = 0; i < shape.size(); ++i)
    text += std::to_string(shape[i]) + (i + 1 < shape.size() ? ", " : shape.size() == 1 ? "," : "");
  text += "), }";
  constexpr std::size_t kBefore = 10;  // the magic, the version and the size
  text.append(63 - (kBefore + text.size()) % 64, ' ');
  text += '\n';
  return std::string("\x93NUMPY\1\0", 8) + little_endian(static_cast<std::uint16_t>(text.size())) +
         text;
}

}  // namespace

void NpzWriter::write(const std::string& bytes) {
  file_.write(bytes);
  size_ += bytes.size();
}

void NpzWriter::add_entry(const std::string& name, const std::string& header,
                          std::string_view data) {
  const std::string content = header + std::string(data), entry = name + ".npy";
  if (size_ + content.size() + directory_.size() > kLargestArchive - (1 << 20))
    throw Error("the archive would be larger than 4 GiB");
  // Version 2.0, no flags, stored, no time, 1 January 1980.
  const std::string facts =
      little_endian(std::uint16_t{20}) + little_endian(std::uint16_t{0}) +
      little_endian(std::uint16_t{0}) + little_endian(std::uint16_t{0}) +
      little_endian(std::uint16_t{33}) + little_endian(zip_checksum(content)) +
      little_endian(static_cast<std::uint32_t>(content.size())) +
      little_endian(static_cast<std::uint32_t>(content.size())) +
      little_endian(static_cast<std::uint16_t>(entry.size())) + little_endian(std::uint16_t{0});
  directory_ += "PK\1\2" + little_endian(std::uint16_t{20}) + facts +
                little_endian(std::uint16_t{0}) + little_endian(std::uint16_t{0}) +
                little_endian(std::uint16_t{0}) + little_endian(std::uint32_t{0}) +
                little_endian(static_cast<std::uint32_t>(size_)) + entry;
  write("PK\3\4" + facts + entry + content);
  ++entries_;
}

void NpzWriter::add(const std::string& name, const std::vector<std::int64_t>& shape,
                    std::span<const float> values) {
  add_entry(name, npy_header("<f4", shape),
            {reinterpret_cast<const char*>(values.data()), values.size_bytes()});
}

void NpzWriter::add_text(const std::string& name, std::string_view text) {
  add_entry(name, npy_header("|i1", {static_cast<std::int64_t>(text.size())}), text);
}

void NpzWriter::finish() {
  const auto start = static_cast<std::uint32_t>(size_);
  const auto length = static_cast<std::uint32_t>(directory_.size());
  write(directory_ + "PK\5\6" + little_endian(std::uint32_t{0}) + little_endian(entries_) +
        little_endian(entries_) + little_endian(length) + little_endian(start) +
        little_endian(std::uint16_t{0}));
}

}  // namespace dragoman
