// Pickles and checkpoints of PyTorch for tests, opcode by opcode as in Python's pickletools.py.
#pragma once

#include <string>
#include <vector>

#include "tests/extras/formats/zip_bytes.h"

namespace dragoman {

/// All of it: the opcodes between the protocol and the end.
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
/// A dict of keys and values in turn.
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

/// A checkpoint of the format before 2020; the element counts stand in front of the bytes.
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

}  // namespace dragoman
