#include "extras/formats/weight_file.h"

#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "base/error.h"
#include "extras/formats/checkpoint_file.h"
#include "extras/formats/json_file.h"
#include "model/file/safetensors.h"

namespace dragoman {

namespace {

ForeignDtype element_type(Dtype type) {
  switch (type) {
    case Dtype::F32:
      return ForeignDtype::F32;
    case Dtype::BF16:
      return ForeignDtype::BF16;
    case Dtype::F16:
      return ForeignDtype::F16;
    case Dtype::I8:
      return ForeignDtype::I8;
    case Dtype::U8:
      return ForeignDtype::U8;
    case Dtype::I32:
      return ForeignDtype::I32;
    case Dtype::I64:
      return ForeignDtype::I64;
    case Dtype::U64:
      return ForeignDtype::U64;
  }
  throw Error("unknown type of a tensor");
}

}  // namespace

struct WeightFile::Source {
  std::optional<SafetensorsFile> safetensors;
  std::optional<CheckpointFile> checkpoint;
  std::map<std::string, WeightFile> shards;  ///< by their names
};

/// {"weight_map": {tensor: file}}, as Hugging Face's libraries write it for large models.
void WeightFile::read_shards(const std::filesystem::path& path) {
  const JsonFile index(path);
  const auto& all = index.all();
  const auto map = all.find("weight_map");
  if (map == all.end() || !map->is_object())
    throw Error(path.string(), ": has no \"weight_map\" of tensors and files");
  for (const auto& [tensor, file] : map->items()) {
    const std::string name = file.is_string() ? file.get<std::string>() : "";
    if (name.empty() || std::filesystem::path(name).filename() != name || is_index(name))
      throw Error(path.string(), ": \"weight_map\": the file of ", tensor,
                  " is not the name of a file beside it");
    auto shard = source_->shards.find(name);
    if (shard == source_->shards.end())
      shard = source_->shards.emplace(name, WeightFile(path.parent_path() / name)).first;
    const auto found = shard->second.tensors().find(tensor);
    if (found == shard->second.tensors().end())
      throw Error((path.parent_path() / name).string(), ": has no tensor ", tensor, ", which ",
                  path.filename().string(), " looks for there");
    tensors_.insert(*found);
  }
}

bool WeightFile::is_index(const std::filesystem::path& path) {
  return path.string().ends_with(".index.json");
}

WeightFile::WeightFile(const std::filesystem::path& path) : source_(std::make_unique<Source>()) {
  if (is_index(path)) {
    read_shards(path);
  } else if (path.extension() == ".safetensors") {
    for (const TensorData& tensor : source_->safetensors.emplace(path).tensors())
      tensors_[tensor.name] =
          strided_tensor(element_type(tensor.dtype), tensor.shape,
                         dense_strides(tensor.shape, Order::RowMajor), tensor.raw());
  } else {
    const CheckpointFile& checkpoint = source_->checkpoint.emplace(path);
    tensors_ = checkpoint.tensors(checkpoint.root());
  }
}

WeightFile::WeightFile(WeightFile&&) noexcept = default;
WeightFile::~WeightFile() = default;

}  // namespace dragoman
