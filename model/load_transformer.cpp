#include "model/load_transformer.h"

namespace dragoman {

Transformer load_transformer(const ModelFileReader& file, torch::Device device) {
  Transformer model(file.config());
  for (auto& item : model->named_parameters()) {
    torch::Tensor& parameter = item.value();
    parameter.requires_grad_(false);
    file.read_floats(item.key(), {parameter.mutable_data_ptr<float>(),
                                  static_cast<std::size_t>(parameter.numel())});
  }
  model->to(device);
  return model;
}

}  // namespace dragoman
