#include "extras/formats/imported_model.h"

namespace dragoman {

TokenizerPair tokenizers_of(const ImportedModel& model) {
  return {
      .source = std::make_shared<const Tokenizer>(model.source_tokenizer, "the source tokenizer"),
      .target = std::make_shared<const Tokenizer>(model.target_tokenizer, "the target tokenizer"),
      .source_eos = model.config.source_eos};
}

std::vector<TensorData> tensors_of(const ImportedModel& model) {
  std::vector<TensorData> tensors;
  for (const ParameterShape& parameter : parameter_shapes(model.config))
    tensors.push_back(
        {parameter.name, Dtype::F32, parameter.shape, model.parameters.at(parameter.name).data()});
  return tensors;
}

void write_imported(const ImportedModel& model, const std::filesystem::path& path,
                    const std::string& command) {
  ModelContents contents{.config = model.config,
                         .tokenizer_source = model.source_tokenizer,
                         .tokenizer_target = {},
                         .provenance = {},
                         .parameters = tensors_of(model),
                         .training = {},
                         .progress = {},
                         .decode_defaults = model.decode_defaults};
  if (model.target_tokenizer != model.source_tokenizer)
    contents.tokenizer_target = model.target_tokenizer;
  contents.provenance.command = command;
  write_model_file(path, contents);
}

}  // namespace dragoman
