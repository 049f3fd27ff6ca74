// Prints what a reader sees in a file, as JSON, for real_files.py.
//
// Usage: print_contents npy|npz|pytorch FILE

#include <iostream>
#include <string>

#include "base/error.h"
#include "base/fields.h"
#include "base/files.h"
#include "base/json.h"
#include "extras/formats/numpy.h"
#include "extras/formats/pytorch_checkpoint.h"

namespace dragoman {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t kLimit = std::size_t{1} << 32;

Json json_of(const StridedTensor& tensor) {
  std::string hexadecimal;
  constexpr char kDigits[] = "0123456789abcdef";
  for (const char c : contiguous_bytes(tensor)) {
    hexadecimal += kDigits[static_cast<unsigned char>(c) >> 4];
    hexadecimal += kDigits[c & 15];
  }
  return {{"dtype", std::string(name_of(tensor.type))},
          {"shape", tensor.shape},
          {"bytes", hexadecimal},
          {"floats", contiguous_floats(tensor)}};
}

Json json_of(const PickleValue& value);

Json json_of(const PickleDict& dict) {
  Json json = Json::object();
  for (const auto& [key, item] : dict.entries)
    json[key->text() ? *key->text() : json_text(json_of(*key))] = json_of(*item);
  return json;
}

Json json_of(const PickleValue& value) {
  if (const auto* truth = value.as<bool>()) return *truth;
  if (value.integer() != nullptr) return *value.integer();
  if (const auto* number = value.as<double>()) return *number;
  if (value.text() != nullptr) return *value.text();
  if (const auto* dict = value.as<PickleDict>()) return json_of(*dict);
  if (value.tensor() != nullptr) return json_of(*value.tensor());
  if (const auto* global = value.as<PickleGlobal>()) return {{"global", std::string(global->name)}};
  if (value.as<PickleSequence>() != nullptr) {
    Json json = Json::array();
    for (const PickleValue* item : value.items()) json.push_back(json_of(*item));
    return json;
  }
  if (const PickleObject* object = value.object())
    return {{"type", object->type == nullptr ? Json() : json_of(*object->type)},
            {"state", object->state == nullptr ? Json() : json_of(*object->state)},
            {"entries", json_of(object->entries)}};
  return nullptr;
}

Json contents(const std::string& kind, const std::string& path) {
  const MappedFile file(path);
  if (kind == "npy") return json_of(parse_npy(file.bytes()));
  if (kind == "pytorch") return json_of(PyTorchCheckpoint(path, file.bytes(), kLimit).root());
  if (kind != "npz") throw Error(kind, ": not a kind of file");
  Json json = Json::object();
  NpzFile npz(path, file.bytes(), kLimit);
  for (const std::string& name : npz.names()) json[name] = json_of(npz.read(name));
  return json;
}

}  // namespace
}  // namespace dragoman

int main(int count, char** words) {
  if (count != 3) return 2;
  try {
    std::cout << dragoman::json_text(dragoman::contents(words[1], words[2])) << '\n';
    return 0;
  } catch (const dragoman::Error& error) {
    std::cerr << error.what() << '\n';
    return 1;
  }
}
