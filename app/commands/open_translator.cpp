#include "app/commands/open_translator.h"

#include <utility>

#include "base/threads.h"
#include "inference/cpu/cpu_engine.h"
#include "inference/ensemble.h"
#include "inference/model_tokenizers.h"

namespace dragoman {

namespace {

/// The engines of one model: on the CPU one for each thread, on a GPU one.
std::vector<std::unique_ptr<Engine>> engines_of(const ModelFileReader& file,
                                                const EngineChoice& choice,
                                                const std::vector<TokenId>& never_emitted,
                                                const DeviceEngine& device_engine) {
  if (auto engine = device_engine(choice.device, file, never_emitted)) {
    if (choice.compute_type != ComputeType::Auto)
      throw UsageError("--compute-type: on a GPU it is auto");
    std::vector<std::unique_ptr<Engine>> engines;
    engines.push_back(std::move(engine));
    return engines;
  }
  return cpu_engines(std::make_shared<CpuModel>(file, choice.compute_type), never_emitted,
                     threads_to_use(choice.threads));
}

void check_same(const Tokenizer& a, const Tokenizer& b, const std::string& model,
                const std::string& other) {
  if (a.model_bytes() != b.model_bytes())
    throw Error(other, ": has another tokenizer than ", model, "; an ensemble needs the same");
}

}  // namespace

std::unique_ptr<Engine> no_device_engine(const std::string& device, const ModelFileReader&,
                                         const std::vector<TokenId>&) {
  if (device == "auto" || device == "cpu") return nullptr;
  if (device.starts_with("cuda"))
    throw Error("--device ", device,
                ": dragoman-lite works on the CPU; dragoman can use CUDA devices");
  throw UsageError("--device: '", device, "' is none of auto, cpu, cuda, cuda:N");
}

OpenedTranslator open_translator(const std::vector<std::string>& models, const EngineChoice& choice,
                                 const DeviceEngine& device_engine) {
  OpenedTranslator opened;
  std::vector<std::vector<std::unique_ptr<Engine>>> members;  // of each model
  for (const std::string& model : models) {
    // The engines read every tensor, and that checks it.
    const ModelFileReader file(resolve_model_path(model), Verify::Header);
    const TokenizerPair tokenizers = load_tokenizers(file);
    if (members.empty()) {
      opened.tokenizers = tokenizers;
      opened.decode_defaults = file.decode_defaults();
      opened.updates = file.provenance().updates;
      opened.several_sentences = file.provenance().several_sentences;
    }
    check_same(*opened.tokenizers.source, *tokenizers.source, models.front(), model);
    check_same(*opened.tokenizers.target, *tokenizers.target, models.front(), model);
    members.push_back(engines_of(file, choice, tokenizers.target->never_emitted(), device_engine));
  }
  if (members.size() == 1) {
    opened.engines = std::move(members.front());
    return opened;
  }
  for (std::size_t worker = 0; worker < members.front().size(); ++worker) {
    std::vector<std::unique_ptr<Engine>> together;
    for (auto& engines : members) together.push_back(std::move(engines[worker]));
    opened.engines.push_back(std::make_unique<Ensemble>(std::move(together)));
  }
  return opened;
}

DecodeConfig OpenedTranslator::search_with(DecodeConfig flags, const Origins& origins) const {
  for (Field& field : fields_of(flags)) {
    const std::string name(field.info.name);
    const auto value = decode_defaults.find(name);
    const auto origin = origins.find(name);
    const bool is_open = origin == origins.end() || origin->second == Origin::Default;
    if (value != decode_defaults.end() && is_open) field.assign({value->second});
  }
  flags.validate();
  return flags;
}

TranslationService OpenedTranslator::service(const Workers::Limits& limits) const {
  return {pointers_to(engines),
          *tokenizers.source,
          *tokenizers.target,
          {.limits = limits, .several_sentences = several_sentences}};
}

}  // namespace dragoman
