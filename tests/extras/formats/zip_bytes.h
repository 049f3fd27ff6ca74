// ZIP archives for tests, field by field as in PKWARE's APPNOTE.TXT.
#pragma once

#include <zlib.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace dragoman {

/// The number's bytes, little endian.
template <class T>
std::string bytes_of(T value) {
  return {reinterpret_cast<const char*>(&value), sizeof value};
}

struct ZipPart {
  std::string name, bytes;
  bool is_deflated = false;
  bool has_descriptor = false;  ///< the sizes stand behind the bytes
  bool is_zip64 = false;        ///< the sizes stand in an extra field
  std::uint16_t flags = 0;
  int method = -1;                  ///< instead of the right one
  std::int64_t stated_size = -1;    ///< instead of the right one
  std::int64_t stated_offset = -1;  ///< of the local header, instead of the right one
};

inline std::string deflated(const std::string& bytes) {
  z_stream stream{};
  deflateInit2(&stream, 9, Z_DEFLATED, -MAX_WBITS, 9, Z_DEFAULT_STRATEGY);
  std::string result(deflateBound(&stream, bytes.size()), '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));
  stream.avail_in = static_cast<uInt>(bytes.size());
  stream.next_out = reinterpret_cast<Bytef*>(result.data());
  stream.avail_out = static_cast<uInt>(result.size());
  deflate(&stream, Z_FINISH);
  result.resize(stream.total_out);
  deflateEnd(&stream);
  return result;
}

class ZipBytes {
 public:
  ZipBytes& add(const ZipPart& part) {
    const std::string data = part.is_deflated ? deflated(part.bytes) : part.bytes;
    const auto checksum = static_cast<std::uint32_t>(
        crc32_z(0, reinterpret_cast<const Bytef*>(part.bytes.data()), part.bytes.size()));
    const std::uint64_t size =
        part.stated_size < 0 ? part.bytes.size() : static_cast<std::uint64_t>(part.stated_size);
    const std::uint64_t packed = part.is_deflated ? data.size() : size;
    const std::uint64_t offset =
        part.stated_offset < 0 ? archive_.size() : static_cast<std::uint64_t>(part.stated_offset);
    const std::string extra = part.is_zip64
                                  ? bytes_of<std::uint16_t>(1) + bytes_of<std::uint16_t>(16) +
                                        bytes_of(size) + bytes_of(packed)
                                  : "";
    const auto short_size = [&](std::uint64_t value) {
      return bytes_of(part.is_zip64 ? 0xFFFFFFFFu : static_cast<std::uint32_t>(value));
    };
    const std::string facts = bytes_of<std::uint16_t>(part.flags | (part.has_descriptor ? 8 : 0)) +
                              bytes_of<std::uint16_t>(part.method >= 0   ? part.method
                                                      : part.is_deflated ? 8
                                                                         : 0) +
                              bytes_of<std::uint32_t>(0);  // time
    const std::string sizes = bytes_of(checksum) + short_size(packed) + short_size(size);
    const std::string lengths = bytes_of(static_cast<std::uint16_t>(part.name.size())) +
                                bytes_of(static_cast<std::uint16_t>(extra.size()));
    archive_ += "PK\3\4" + bytes_of<std::uint16_t>(45) + facts +
                (part.has_descriptor ? std::string(12, '\0') : sizes) + lengths + part.name +
                (part.has_descriptor ? std::string(extra.size(), '\0') : extra) + data;
    if (part.has_descriptor)
      archive_ += "PK\7\10" + bytes_of(checksum) + bytes_of(static_cast<std::uint32_t>(packed)) +
                  bytes_of(static_cast<std::uint32_t>(size));
    directory_ += "PK\1\2" + bytes_of<std::uint32_t>(45 | 45 << 16) + facts + sizes + lengths +
                  std::string(10, '\0') + bytes_of(static_cast<std::uint32_t>(offset)) + part.name +
                  extra;
    ++count_;
    return *this;
  }

  std::string bytes() const {
    return archive_ + directory_ + "PK\5\6" + bytes_of<std::uint32_t>(0) + bytes_of(count_) +
           bytes_of(count_) + bytes_of(static_cast<std::uint32_t>(directory_.size())) +
           bytes_of(static_cast<std::uint32_t>(archive_.size())) + bytes_of<std::uint16_t>(0);
  }

 private:
  std::string archive_, directory_;
  std::uint16_t count_ = 0;
};

inline std::string zip_of(const std::vector<ZipPart>& parts) {
  ZipBytes zip;
  for (const ZipPart& part : parts) zip.add(part);
  return zip.bytes();
}

}  // namespace dragoman
