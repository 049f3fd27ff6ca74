#include "app/open_model.h"

#include "inference/model_tokenizers.h"
#include "model/device.h"
#include "model/load_transformer.h"

namespace dragoman {

void ModelChoice::validate() const {
  if (model.empty()) throw UsageError("--model: name a run folder or a model file");
}

OpenedModel open_model(const std::string& model, const HardwareChoice& hardware) {
  const torch::Device device = parse_device(hardware.device);
  const int threads = use_threads(hardware.threads);
  const ModelFileReader file(resolve_model_path(model));
  return {load_tokenizers(file), load_transformer(file, device), threads, file.decode_defaults(),
          file.provenance().updates};
}

DecodeConfig search_with(const OpenedModel& model, DecodeConfig flags, const Origins& origins) {
  for (Field& field : fields_of(flags)) {
    const std::string name(field.info.name);
    const auto value = model.decode_defaults.find(name);
    if (value != model.decode_defaults.end() && origins.at(name) == Origin::Default)
      field.assign({value->second});
  }
  flags.validate();
  return flags;
}

}  // namespace dragoman
