// Files for tests, made byte by byte: ZIP archives field by field as in PKWARE's APPNOTE.TXT,
// pickles opcode by opcode as in Python's pickletools.py, checkpoints as PyTorch and the systems
// built on it save them.
#pragma once

#include <zlib.h>

#include <cstdint>
#include <functional>
#include <initializer_list>
#include <map>
#include <numeric>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "extras/formats/foreign_model.h"
#include "extras/formats/foreign_options.h"

namespace dragoman {

/// The number's bytes, little endian.
template <class T>
std::string bytes_of(T value) {
  return {reinterpret_cast<const char*>(&value), sizeof value};
}

struct ZipPart {
  std::string name, bytes;
  bool is_deflated = false;
  bool has_descriptor = false;  ///< the sizes follow the bytes
  bool is_zip64 = false;        ///< the sizes are in an extra field
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

/// A whole pickle: these opcodes between the protocol and the end.
inline std::string pickle_of(const std::string& opcodes, int protocol = 2) {
  return std::string{'\x80', static_cast<char>(protocol)} + opcodes + ".";
}

inline std::string text_op(const std::string& text) {
  return std::string("X") + bytes_of(static_cast<std::uint32_t>(text.size())) + text;
}
inline std::string number_op(int number) { return std::string("J") + bytes_of(number); }
inline std::string global_op(const std::string& module, const std::string& name) {
  return std::string("c") + module + "\n" + name + "\n";
}
inline std::string tuple_op(const std::vector<int>& numbers) {
  std::string opcodes = "(";
  for (const int number : numbers) opcodes += number_op(number);
  return opcodes + "t";
}
/// A dict of alternating keys and values.
inline std::string dict_op(const std::vector<std::string>& items) {
  std::string opcodes = "}(";
  for (const std::string& item : items) opcodes += item;
  return opcodes + "u";
}

struct StorageOp {
  std::string key = "0";
  int elements = 6;
  std::string type = "FloatStorage";
  std::string view = "";  ///< of the older format: "N" or a tuple
  std::string module = "torch";

  std::string opcodes() const {
    return std::string("(") + text_op("storage") + global_op(module, type) + text_op(key) +
           text_op("cpu") + number_op(elements) + view + "tQ";
  }
};

struct TensorOp {
  StorageOp storage = {};
  int offset = 0;
  std::vector<int> shape = {2, 3}, strides = {3, 1};

  std::string opcodes() const {
    return global_op("torch._utils", "_rebuild_tensor_v2") + "(" + storage.opcodes() +
           number_op(offset) + tuple_op(shape) + tuple_op(strides) + "\x89" +
           global_op("collections", "OrderedDict") + ")RtR";
  }
};

/// A checkpoint as torch.save writes it now; `storages` have the keys "0", "1", ...
inline std::string checkpoint_of(const std::string& pickle,
                                 const std::vector<std::string>& storages) {
  std::vector<ZipPart> parts = {{.name = "archive/data.pkl", .bytes = pickle},
                                {.name = "archive/byteorder", .bytes = "little"}};
  for (std::size_t i = 0; i < storages.size(); ++i)
    parts.push_back({.name = "archive/data/" + std::to_string(i), .bytes = storages[i]});
  parts.push_back({.name = "archive/version", .bytes = "3\n"});
  return zip_of(parts);
}

inline std::string legacy_start() {
  return pickle_of("\x8a\x0al\xfc\x9c\x46\xf9 j\xa8P\x19") + pickle_of("M\xe9\x03") +
         pickle_of(dict_op({text_op("little_endian"), "\x88"}));
}

/// A checkpoint of the format before 2020, which has each storage's element count before its bytes.
inline std::string legacy_of(const std::string& pickle, const std::vector<std::string>& storages,
                             std::size_t element = 4) {
  std::string keys = "](";
  std::string data;
  for (std::size_t i = 0; i < storages.size(); ++i) {
    keys += text_op(std::to_string(i));
    data += bytes_of<std::uint64_t>(storages[i].size() / element) + storages[i];
  }
  return legacy_start() + pickle + pickle_of(keys + "e") + data;
}

/// Collects tensors; opcodes() is their state dict, storages() their memory.
class StateDict {
 public:
  StateDict& add(const std::string& name, const std::vector<int>& shape,
                 const std::vector<float>& values) {
    items_.push_back(text_op(name));
    items_.push_back(tensor(shape, values).opcodes());
    return *this;
  }
  /// A tensor whose storage is here, but which is not an item of the dict.
  TensorOp tensor(const std::vector<int>& shape, const std::vector<float>& values) {
    std::vector<int> strides(shape.size(), 1);
    for (std::size_t axis = shape.size(); axis-- > 1;)
      strides[axis - 1] = strides[axis] * shape[axis];
    storages_.emplace_back(reinterpret_cast<const char*>(values.data()),
                           values.size() * sizeof(float));
    return {.storage = {.key = std::to_string(storages_.size() - 1),
                        .elements = static_cast<int>(values.size())},
            .shape = shape,
            .strides = strides};
  }

  std::string opcodes() const { return dict_op(items_); }
  const std::vector<std::string>& storages() const { return storages_; }

 private:
  std::vector<std::string> items_, storages_;
};

/// The name after these replacements, one after the other.
inline std::string renamed(std::string name,
                           std::initializer_list<std::pair<const char*, const char*>> parts) {
  for (const auto& [from, to] : parts)
    if (const std::size_t at = name.find(from); at != name.npos)
      name.replace(at, std::string(from).size(), to);
  return name;
}

/// The parameters of a model under the names that `name` returns. Those for which it returns an
/// empty name are left out.
inline StateDict state_dict_of(const ForeignModel& model,
                               const std::function<std::string(const std::string&)>& name) {
  StateDict dict;
  for (const ParameterShape& parameter : parameter_shapes(model.config)) {
    const std::string theirs = name(parameter.name);
    if (theirs.empty()) continue;
    dict.add(theirs, std::vector<int>(parameter.shape.begin(), parameter.shape.end()),
             model.parameters.at(parameter.name));
  }
  return dict;
}

/// The options that a package stores beside a model: the opcodes of each value.
using Options = std::map<std::string, std::string>;

inline std::string dict_of(const Options& options) {
  std::vector<std::string> items;
  for (const auto& [name, opcodes] : options) items.insert(items.end(), {text_op(name), opcodes});
  return dict_op(items);
}

/// argparse.Namespace(...)
inline std::string namespace_of(const Options& options) {
  return global_op("argparse", "Namespace") + ")\x81" + dict_of(options) + "b";
}

}  // namespace dragoman
