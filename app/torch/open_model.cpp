#include "app/torch/open_model.h"

#include "inference/model_tokenizers.h"
#include "model/device.h"
#include "model/load_transformer.h"

namespace dragoman {

OpenedModel open_model(const ModelChoice& choice) {
  const torch::Device device = parse_device(choice.device);
  const int threads = use_threads(choice.threads);
  const ModelFileReader file(resolve_model_path(choice.model));
  return {load_tokenizers(file), load_transformer(file, device), threads,
          file.provenance().several_sentences};
}

}  // namespace dragoman
