#include "extras/formats/numpy.h"

#include <zlib.h>

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <optional>
#include <utility>

#include "base/bytes.h"
#include "base/error.h"
#include "extras/formats/byte_reader.h"
#include "extras/formats/zip_archive.h"

namespace dragoman {

namespace {

using std::string_view_literals::operator""sv;

constexpr std::string_view kNumpyMagic = "\x93NUMPY"sv;
constexpr std::string_view kExtension = ".npy";

struct NumpyType {
  std::string_view name;
  ForeignDtype type;
};

/// Without the sign of the byte order.
constexpr NumpyType kNumpyTypes[] = {
    {"f2", ForeignDtype::F16}, {"f4", ForeignDtype::F32}, {"f8", ForeignDtype::F64},
    {"i1", ForeignDtype::I8},  {"i2", ForeignDtype::I16}, {"i4", ForeignDtype::I32},
    {"i8", ForeignDtype::I64}, {"u1", ForeignDtype::U8},  {"u2", ForeignDtype::U16},
    {"u4", ForeignDtype::U32}, {"u8", ForeignDtype::U64}, {"b1", ForeignDtype::Bool}};

ForeignDtype type_of(std::string_view descr) {
  const char order = descr.empty() ? ' ' : descr.front();
  const std::string_view name = descr.substr(descr.empty() ? 0 : 1);
  for (const NumpyType& known : kNumpyTypes) {
    if (known.name != name) continue;
    if (order == '<' || order == '=' || (order == '|' && size_of(known.type) == 1))
      return known.type;
    if (order == '>') throw Error("its numbers are big endian, which is not supported");
  }
  throw Error("elements of type ", descr, " are not supported");
}

struct Header {
  ForeignDtype type;
  Order order;
  std::vector<std::int64_t> shape;
};

/// Reads the literal of a Python dict that describes the array: its three keys in any order.
class HeaderParser {
 public:
  explicit HeaderParser(std::string_view text) : text_(text) {}

  Header run() {
    expect("{");
    while (!take("}")) {
      entry();
      if (!take(",")) {
        expect("}");
        break;
      }
    }
    skip_space();
    if (!text_.empty() || !type_ || !order_ || !shape_) fail();
    return {*type_, *order_, *std::move(shape_)};
  }

 private:
  [[noreturn]] static void fail() {
    throw Error("its header is not one of NumPy's (descr, fortran_order and shape)");
  }

  void entry() {
    const std::string_view key = quoted();
    expect(":");
    if (key == "descr" && !type_) {
      if (skip_space(), text_.starts_with('[')) throw Error("records are not supported");
      type_ = type_of(quoted());
    } else if (key == "fortran_order" && !order_) {
      order_ = take("True") ? Order::Fortran : Order::RowMajor;
      if (*order_ == Order::RowMajor && !take("False")) fail();
    } else if (key == "shape" && !shape_) {
      shape_ = tuple();
    } else {
      fail();
    }
  }

  std::vector<std::int64_t> tuple() {
    std::vector<std::int64_t> numbers;
    expect("(");
    while (!take(")")) {
      numbers.push_back(number());
      if (!take(",")) {
        expect(")");
        break;
      }
    }
    return numbers;
  }

  std::int64_t number() {
    skip_space();
    std::int64_t value = 0;
    const auto [end, code] = std::from_chars(text_.data(), text_.data() + text_.size(), value);
    if (code != std::errc{}) fail();
    text_.remove_prefix(static_cast<std::size_t>(end - text_.data()));
    if (text_.starts_with('L')) text_.remove_prefix(1);  // Python 2's long
    return value;
  }

  std::string_view quoted() {
    skip_space();
    const char quote = text_.empty() ? ' ' : text_.front();
    const std::size_t end = quote == '\'' || quote == '"' ? text_.find(quote, 1) : text_.npos;
    if (end == text_.npos) fail();
    const std::string_view word = text_.substr(1, end - 1);
    text_.remove_prefix(end + 1);
    return word;
  }

  bool take(std::string_view expected) {
    skip_space();
    if (!text_.starts_with(expected)) return false;
    text_.remove_prefix(expected.size());
    return true;
  }
  void expect(std::string_view expected) {
    if (!take(expected)) fail();
  }
  void skip_space() {
    text_.remove_prefix(std::min(text_.find_first_not_of(" \t\r\n"), text_.size()));
  }

  std::string_view text_;
  std::optional<ForeignDtype> type_;
  std::optional<Order> order_;
  std::optional<std::vector<std::int64_t>> shape_;
};

}  // namespace

StridedTensor parse_npy(std::string_view bytes) {
  if (!bytes.starts_with(kNumpyMagic)) throw Error("not an array of NumPy (.npy)");
  ByteReader reader(bytes.substr(kNumpyMagic.size()));
  const auto version = reader.number<std::uint8_t>("the version");
  reader.number<std::uint8_t>("the version");  // the minor one, always 0
  if (version < 1 || version > 3)
    throw Error("version ", int{version}, " of NumPy's format is not supported (1 to 3 are)");
  const std::size_t length = version == 1 ? reader.number<std::uint16_t>("the header")
                                          : reader.number<std::uint32_t>("the header");
  const Header header = HeaderParser(reader.take(length, "the header")).run();
  const std::string_view data = reader.take(reader.left(), "the array");
  StridedTensor tensor =
      strided_tensor(header.type, header.shape, dense_strides(header.shape, header.order), data);
  const auto size = static_cast<std::size_t>(tensor.elements()) * size_of(tensor.type);
  if (size < data.size()) throw Error(data.size() - size, " bytes follow the array");
  return tensor;
}

NpzFile::NpzFile(const std::string& name, std::string_view bytes, std::size_t limit)
    : name_(name), archive_(name, bytes, limit) {
  for (const std::string& entry : archive_.names()) {
    if (!entry.ends_with(kExtension))
      throw Error(name, ": ", entry, " is no array of NumPy (", kExtension,
                  "), so this is no .npz file");
    names_.push_back(entry.substr(0, entry.size() - kExtension.size()));
  }
}

std::string NpzFile::member(std::string_view name) { return std::string(name).append(kExtension); }

StridedTensor NpzFile::read(std::string_view name) {
  const std::string_view bytes = archive_.read(member(name));
  try {
    return parse_npy(bytes);
  } catch (const Error& error) {
    throw Error(name_, ": ", name, ": ", error.what());
  }
}

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
  const auto checksum = static_cast<std::uint32_t>(
      crc32_z(0, reinterpret_cast<const Bytef*>(content.data()), content.size()));
  // Version 2.0, no flags, stored, no time, 1 January 1980.
  const std::string facts = little_endian(std::uint16_t{20}) + little_endian(std::uint16_t{0}) +
                            little_endian(std::uint16_t{0}) + little_endian(std::uint16_t{0}) +
                            little_endian(std::uint16_t{33}) + little_endian(checksum) +
                            little_endian(static_cast<std::uint32_t>(content.size())) +
                            little_endian(static_cast<std::uint32_t>(content.size())) +
                            little_endian(static_cast<std::uint16_t>(entry.size())) +
                            little_endian(std::uint16_t{0});
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
