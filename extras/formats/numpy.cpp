#include "extras/formats/numpy.h"

#include <re2/re2.h>
#include <zlib.h>

#include <iterator>
#include <utility>

#include "base/bytes.h"
#include "base/error.h"
#include "extras/formats/byte_reader.h"

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

[[noreturn]] void fail_at_header() {
  throw Error("its header is not one of NumPy's (descr, fortran_order and shape)");
}

/// Reads the literal of a Python dict that describes the array: its three keys in any order.
Header parse_header(std::string_view text) {
  const auto key = [](const char* name) {
    return join_text("(?:'", name, "'|\"", name, R"(")\s*:\s*)");
  };
  static const std::string number = R"(\s*-?\d+L?\s*)";                    // L: Python 2's long
  static const std::string type_text = R"(('[^']*'|"[^"]*"|\[[^\]]*\]))";  // a list: of records
  static const std::string tuple =
      join_text(R"((\((?:)", number, "(?:,", number, R"()*,?)?\s*\)))");
  static const std::string entry =
      join_text(R"(\s*(?:)", key("descr"), type_text, "|", key("fortran_order"), "(True|False)|",
                key("shape"), tuple, R"()\s*)");
  static const RE2 one(entry);
  static const RE2 all(join_text(R"(\s*\{(?:)", entry, ",)*(?:", entry, R"()?\s*\}\s*)"));
  re2::StringPiece rest(text.data(), text.size()), found[3], facts[3];
  if (!RE2::FullMatch(rest, all)) fail_at_header();
  while (RE2::FindAndConsume(&rest, one, &found[0], &found[1], &found[2]))
    for (std::size_t f = 0; f < std::size(facts); ++f)
      if (!found[f].empty() && !std::exchange(facts[f], found[f]).empty()) fail_at_header();
  auto& [type, order, shape] = facts;
  if (type.empty() || order.empty() || shape.empty()) fail_at_header();
  if (type[0] == '[') throw Error("records are not supported");
  Header header{.type = type_of({type.data() + 1, type.size() - 2}),
                .order = order == "True" ? Order::Fortran : Order::RowMajor,
                .shape = {}};
  for (std::int64_t size = 0; RE2::FindAndConsume(&shape, R"((-?\d+))", &size);)
    header.shape.push_back(size);
  const std::string_view left(shape.data(), shape.size());
  if (left.find_first_of("0123456789") != left.npos) fail_at_header();  // a number is too large
  return header;
}

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
  const Header header = parse_header(reader.take(length, "the header"));
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
      throw Error(name, ": ", entry, " is not an array of NumPy (", kExtension,
                  "), so this is not an .npz file");
    names_.push_back(entry.substr(0, entry.size() - kExtension.size()));
  }
}

std::string NpzFile::member(std::string_view name) { return std::string(name).append(kExtension); }

StridedTensor NpzFile::read(std::string_view name) {
  const std::string_view bytes = archive_.read(member(name));
  return with_place(join_text(name_, ": ", name), [&] { return parse_npy(bytes); });
}

namespace {

constexpr std::uint64_t kLargestArchive = 0xFFFFFFFF;

template <class Number>
std::string stored(std::initializer_list<Number> numbers) {
  std::string bytes;
  for (const Number number : numbers) bytes += little_endian(number);
  return bytes;
}

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

void NpzWriter::add_entry(const std::string& name, const std::string& header,
                          std::string_view data) {
  const std::string content = header + std::string(data), entry = name + ".npy";
  if (file_.size() + content.size() + directory_.size() > kLargestArchive - (1 << 20))
    throw Error("the archive would be larger than 4 GiB");
  const auto checksum = static_cast<std::uint32_t>(
      crc32_z(0, reinterpret_cast<const Bytef*>(content.data()), content.size()));
  const auto size = static_cast<std::uint32_t>(content.size());
  // Version 2.0, no flags, stored, no time, 1 January 1980; no extra field.
  const std::string facts = stored<std::uint16_t>({20, 0, 0, 0, 33}) +
                            stored<std::uint32_t>({checksum, size, size}) +
                            stored<std::uint16_t>({static_cast<std::uint16_t>(entry.size()), 0});
  directory_ += "PK\1\2" + stored<std::uint16_t>({20}) + facts + stored<std::uint16_t>({0, 0, 0}) +
                stored<std::uint32_t>({0, static_cast<std::uint32_t>(file_.size())}) + entry;
  file_.write("PK\3\4" + facts + entry + content);
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
  const auto start = static_cast<std::uint32_t>(file_.size());
  const auto length = static_cast<std::uint32_t>(directory_.size());
  file_.write(directory_ + "PK\5\6" + stored<std::uint16_t>({0, 0, entries_, entries_}) +
              stored<std::uint32_t>({length, start}) + stored<std::uint16_t>({0}));
}

}  // namespace dragoman
