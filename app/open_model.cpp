#include "app/open_model.h"

#include <utility>

#include "inference/cpu/cpu_engine.h"
#include "inference/model_tokenizers.h"
#include "inference/torch/torch_engine.h"
#include "model/device.h"
#include "model/load_transformer.h"

namespace dragoman {

OpenedModel open_model(const ModelChoice& choice) {
  const torch::Device device = parse_device(choice.device);
  const int threads = use_threads(choice.threads);
  const ModelFileReader file(resolve_model_path(choice.model));
  return {load_tokenizers(file), load_transformer(file, device), threads};
}

OpenedTranslator open_translator(const std::string& model, const EngineChoice& choice) {
  const torch::Device device = parse_device(choice.device);
  const int threads = use_threads(choice.threads);
  const ModelFileReader file(resolve_model_path(model));
  OpenedTranslator opened{
      load_tokenizers(file), {}, file.decode_defaults(), file.provenance().updates};
  const std::vector<TokenId> never_emitted = opened.tokenizers.target->never_emitted();
  if (device.is_cpu()) {
    const auto weights = std::make_shared<CpuModel>(file, choice.compute_type);
    for (int i = 0; i < threads; ++i)
      opened.engines.push_back(std::make_unique<CpuEngine>(weights, never_emitted));
    return opened;
  }
  if (choice.compute_type != ComputeType::Auto)
    throw UsageError("--compute-type: on a GPU it is auto");
  opened.engines.push_back(
      std::make_unique<TorchEngine>(load_transformer(file, device), never_emitted));
  return opened;
}

DecodeConfig OpenedTranslator::search_with(DecodeConfig flags, const Origins& origins) const {
  for (Field& field : fields_of(flags)) {
    const std::string name(field.info.name);
    const auto value = decode_defaults.find(name);
    if (value != decode_defaults.end() && origins.at(name) == Origin::Default)
      field.assign({value->second});
  }
  flags.validate();
  return flags;
}

Translator OpenedTranslator::translator(const DecodeConfig& search) const {
  std::vector<Engine*> all;
  for (const auto& engine : engines) all.push_back(engine.get());
  return {std::move(all), *tokenizers.source, *tokenizers.target, search};
}

}  // namespace dragoman
