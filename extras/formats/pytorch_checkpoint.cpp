#include "extras/formats/pytorch_checkpoint.h"

#include <cstdint>
#include <nlohmann/json.hpp>
#include <vector>

#include "base/error.h"
#include "extras/formats/byte_reader.h"
#include "extras/formats/json_yaml.h"

namespace dragoman {

namespace {

using std::string_view_literals::operator""sv;

constexpr std::string_view kPyTorchMagic = "\x6c\xfc\x9c\x46\xf9\x20\x6a\xa8\x50\x19"sv;
constexpr std::int64_t kLegacyProtocol = 1001;
/// The most bytes of a pickle: names, options and a vocabulary. Tensors have entries of their own.
constexpr std::size_t kMostPickled = std::size_t{1} << 26;

void check_storage(const StorageFacts& storage, std::string_view bytes) {
  const std::size_t element = size_of(storage.type);
  if (bytes.size() % element != 0 ||
      bytes.size() / element != static_cast<std::uint64_t>(storage.elements))
    throw Error("storage ", storage.key, " has ", bytes.size(), " bytes instead of ",
                storage.elements, " elements of ", element);
}

/// The next pickle of the older format, which has several in a row.
Pickle next_pickle(ByteReader& reader, std::string_view rest, std::string_view what) {
  return with_place(what, [&] {
    Pickle pickle = unpickle(rest.substr(reader.offset()));
    reader.take(pickle.bytes, what);
    return pickle;
  });
}

void check_system(const Pickle& system) {
  const PickleValue* order = system.root->find("little_endian");
  const bool* is_little = order == nullptr ? nullptr : order->as<bool>();
  if (is_little == nullptr) throw Error("the facts about the system that wrote it are damaged");
  if (!*is_little) throw Error("its numbers are big endian, which is not supported");
}

}  // namespace

PyTorchCheckpoint::PyTorchCheckpoint(const std::string& name, std::string_view bytes,
                                     std::size_t limit) {
  constexpr std::string_view kZip = "PK\x03\x04", kPickle = "\x80", kTar = "ustar";
  constexpr std::size_t kTarMagic = 257;
  if (bytes.starts_with(kZip)) {
    read_zip(name, bytes, limit);
    return;
  }
  if (bytes.size() > kTarMagic && bytes.substr(kTarMagic).starts_with(kTar))
    throw Error(name, ": a tar file; load it with PyTorch and save it again");
  if (!bytes.starts_with(kPickle))
    throw Error(name, bytes.empty() ? ": the file is empty" : ": not a checkpoint of PyTorch");
  with_place(name + ": not a sound checkpoint of PyTorch", [&] { read_legacy(bytes); });
}

void PyTorchCheckpoint::read_zip(const std::string& name, std::string_view bytes,
                                 std::size_t limit) {
  archive_.emplace(name, bytes, limit);
  const std::string& first = archive_->names().empty() ? name : archive_->names().front();
  const std::string prefix = first.substr(0, first.find('/') + 1);
  if (archive_->contains(prefix + "constants.pkl"))
    throw Error(name, ": a TorchScript program; save its state_dict() with PyTorch instead");
  if (!archive_->contains(prefix + "data.pkl"))
    throw Error(name, ": a ZIP archive without ", prefix, "data.pkl, so no checkpoint of PyTorch");
  const std::string order = prefix + "byteorder";
  if (archive_->contains(order) && archive_->read(order, kMostPickled) != "little")
    throw Error(name, ": its numbers are big endian, which is not supported");
  const std::string_view pickle = archive_->read(prefix + "data.pkl", kMostPickled);
  with_place(join_text(name, ": ", prefix, "data.pkl"), [&] {
    pickle_ = unpickle(pickle);
    if (pickle_.bytes != pickle.size())
      throw Error(pickle.size() - pickle_.bytes, " bytes follow the pickle");
  });
  std::vector<std::string_view> storages;
  for (const StorageFacts& storage : pickle_.storages)
    storages.push_back(archive_->read(prefix + "data/" + storage.key));
  with_place(name, [&] {
    for (std::size_t i = 0; i < storages.size(); ++i)
      check_storage(pickle_.storages[i], storages[i]);
    attach_storages(pickle_, storages);
  });
}

void PyTorchCheckpoint::read_legacy(std::string_view bytes) {
  ByteReader reader(bytes);
  const Pickle magic = next_pickle(reader, bytes, "the magic number");
  const auto* number = magic.root->as<PickleBigInt>();
  if (number == nullptr || number->bytes != kPyTorchMagic)
    throw Error("it is a pickle without PyTorch's magic number");
  const Pickle protocol = next_pickle(reader, bytes, "the version");
  const std::int64_t* version = protocol.root->integer();
  if (version == nullptr || *version != kLegacyProtocol)
    throw Error("its version is not ", kLegacyProtocol);
  check_system(next_pickle(reader, bytes, "the system"));
  pickle_ = next_pickle(reader, bytes, "the values");
  const Pickle keys = next_pickle(reader, bytes, "the list of storages");
  std::vector<std::optional<std::string_view>> found(pickle_.storages.size());
  for (const PickleValue* key : keys.root->items()) {
    const std::string* text = key->text();
    const auto index =
        text == nullptr ? pickle_.storage_indices.end() : pickle_.storage_indices.find(*text);
    if (index == pickle_.storage_indices.end() || found[index->second])
      throw Error("the list of storages does not fit the values");
    const StorageFacts& storage = pickle_.storages[index->second];
    const std::string what = "storage " + storage.key;
    const auto elements = reader.number<std::uint64_t>(what);
    if (elements != static_cast<std::uint64_t>(storage.elements))
      throw Error(what, " has ", elements, " elements instead of ", storage.elements);
    const auto size = static_cast<unsigned __int128>(elements) * size_of(storage.type);
    if (size > reader.left()) throw Error("ends within ", what);
    found[index->second] = reader.take(static_cast<std::size_t>(size), what);
  }
  if (reader.left() > 0) throw Error(reader.left(), " bytes follow the last storage");
  std::vector<std::string_view> storages;
  for (std::size_t i = 0; i < found.size(); ++i) {
    if (!found[i]) throw Error("storage ", pickle_.storages[i].key, " is missing");
    storages.push_back(*found[i]);
  }
  attach_storages(pickle_, storages);
}

CheckpointFile::CheckpointFile(const std::filesystem::path& path)
    : name_(path.string()),
      file_(path),
      checkpoint_(name_, file_.bytes(), plausible_inflated(file_.bytes().size())) {}

const PickleValue& CheckpointFile::get(std::string_view key, std::string_view what) const {
  const PickleValue* value = find(key);
  if (value == nullptr) throw Error(name_, ": has no \"", key, "\", so it is not a ", what);
  return *value;
}

std::map<std::string, StridedTensor> CheckpointFile::tensors(const PickleValue& state_dict) const {
  std::map<std::string, StridedTensor> views;
  with_place(name_, [&] {
    for (const auto& [name, tensor] : tensors_of(state_dict)) views[name] = *tensor;
  });
  return views;
}

namespace {

/// By Dtype.
constexpr ForeignDtype kSafetensorsTypes[] = {
    ForeignDtype::F32, ForeignDtype::BF16, ForeignDtype::F16, ForeignDtype::I8,
    ForeignDtype::U8,  ForeignDtype::I32,  ForeignDtype::I64, ForeignDtype::U64};

}  // namespace

/// Reads {"weight_map": {tensor: file}}, which Hugging Face's libraries write for large models.
void WeightFile::read_shards(const std::filesystem::path& path) {
  const nlohmann::json all = read_json_object(path);
  const auto map = all.find("weight_map");
  if (map == all.end() || !map->is_object())
    throw Error(path.string(), ": has no \"weight_map\" of tensors and files");
  for (const auto& [tensor, file] : map->items()) {
    const std::string name = file.is_string() ? file.get<std::string>() : "";
    if (name.empty() || std::filesystem::path(name).filename() != name || is_index(name))
      throw Error(path.string(), ": \"weight_map\": the file of ", tensor,
                  " is not the name of a file beside it");
    const std::filesystem::path beside = path.parent_path() / name;
    const WeightFile& shard = shards_.try_emplace(name, beside).first->second;
    const auto found = shard.tensors().find(tensor);
    if (found == shard.tensors().end())
      throw Error(beside.string(), ": has no tensor ", tensor, ", which ", path.filename().string(),
                  " looks for there");
    tensors_.insert(*found);
  }
}

bool WeightFile::is_index(const std::filesystem::path& path) {
  return path.string().ends_with(".index.json");
}

WeightFile::WeightFile(const std::filesystem::path& path) {
  if (is_index(path)) {
    read_shards(path);
  } else if (path.extension() == ".safetensors") {
    for (const TensorData& tensor : safetensors_.emplace(path).tensors())
      tensors_[tensor.name] =
          strided_tensor(kSafetensorsTypes[static_cast<std::size_t>(tensor.dtype)], tensor.shape,
                         dense_strides(tensor.shape, Order::RowMajor), tensor.raw());
  } else {
    const CheckpointFile& checkpoint = checkpoint_.emplace(path);
    tensors_ = checkpoint.tensors(checkpoint.root());
  }
}

}  // namespace dragoman
