#include "extras/formats/weight_file.h"

#include <optional>

#include "base/error.h"
#include "extras/formats/checkpoint_file.h"
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
};

WeightFile::WeightFile(const std::filesystem::path& path) : source_(std::make_unique<Source>()) {
  if (path.extension() == ".safetensors") {
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
