#include "app/commands/open_model.h"

#include <filesystem>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "base/threads.h"
#include "inference/cpu/cpu_engine.h"
#include "inference/ensemble.h"
#include "inference/forced_scores.h"
#include "inference/model_settings.h"
#include "model/file/run_folder.h"

namespace dragoman {

namespace {

/// The engines of one model, and their weights if they work on the CPU.
struct ModelEngines {
  std::vector<std::unique_ptr<Engine>> engines;
  std::shared_ptr<const CpuModel> weights;
  bool is_on_gpu = false;
};

/// On the CPU an engine for each thread, on a GPU one.
ModelEngines engines_of(const ModelFileReader& file, const EngineChoice& choice,
                        const std::vector<TokenId>& never_emitted,
                        const DeviceEngine& device_engine) {
  if (auto engine = device_engine(choice.device, file, never_emitted)) {
    if (choice.compute_type != ComputeType::Auto)
      throw UsageError("--compute-type: on a GPU it is auto");
    ModelEngines one;
    one.is_on_gpu = true;
    one.engines.push_back(std::move(engine));
    return one;
  }
  auto weights = std::make_shared<const CpuModel>(file, choice.compute_type);
  auto engines = cpu_engines(weights, never_emitted, threads_to_use(choice.threads));
  return {.engines = std::move(engines), .weights = std::move(weights), .is_on_gpu = false};
}

/// The engines read every tensor, and that checks it.
ModelFileReader opened_file(const std::string& model) {
  return ModelFileReader(resolve_model_path(model), Verify::Header);
}

std::string run_of(const ModelFileReader& file) {
  const RunFolder run = RunFolder::of_model(file.path());
  if (std::filesystem::exists(run.checkpoints())) return run.root.string();
  return run.root.string() + '\n' + file.provenance().configuration;
}

/// Without engines.
OpenedTranslator facts_of(const ModelFileReader& file, const TokenizerPair& tokenizers) {
  return {.tokenizers = tokenizers,
          .engines = {},
          .weights = nullptr,
          .is_on_gpu = false,
          .decode_defaults = file.decode_defaults(),
          .updates = file.provenance().updates,
          .run = run_of(file),
          .record = file.provenance()};
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

OpenedTranslator translator_of(const ModelFileReader& file, const EngineChoice& choice,
                               const DeviceEngine& device_engine) {
  OpenedTranslator opened = facts_of(file, load_tokenizers(file));
  ModelEngines made =
      engines_of(file, choice, opened.tokenizers.target->never_emitted(), device_engine);
  opened.engines = std::move(made.engines);
  opened.weights = std::move(made.weights);
  opened.is_on_gpu = made.is_on_gpu;
  return opened;
}

OpenedTranslator open_translator(const std::vector<std::string>& models, const EngineChoice& choice,
                                 const DeviceEngine& device_engine) {
  if (models.size() == 1) return translator_of(opened_file(models.front()), choice, device_engine);
  OpenedTranslator opened;
  std::vector<std::vector<std::unique_ptr<Engine>>> members;  // of each model
  for (const std::string& model : models) {
    const ModelFileReader file = opened_file(model);
    const TokenizerPair tokenizers = load_tokenizers(file);
    if (members.empty()) opened = facts_of(file, tokenizers);
    require_same(opened.tokenizers, tokenizers, models.front(), model);
    opened.record = common_record(opened.record, file.provenance());
    ModelEngines made = engines_of(file, choice, tokenizers.target->never_emitted(), device_engine);
    opened.is_on_gpu = made.is_on_gpu;
    members.push_back(std::move(made.engines));
  }
  opened.engines = ensembles_of(std::move(members));
  return opened;
}

std::string host_search_notice(const OpenedTranslator& opened, std::size_t models,
                               const Demands& demands) {
  if (!opened.is_on_gpu) return "";
  if (models > 1)
    return "several models: each works on the GPU, but the search is on the CPU, which is slower";
  if (demands.requires_any())
    return "a sentence whose translation lacks a term or a protected text is searched for again on "
           "the CPU, with the model on the GPU, which is slower";
  return "";
}

DecodeConfig search_with(DecodeConfig flags, const Origins& origins,
                         const DecodeDefaults& defaults) {
  take_decode_defaults(flags, defaults,
                       [&origins](std::string_view name) { return is_given(origins, name); });
  flags.check();
  return flags;
}

TranslationService OpenedTranslator::service(const Workers::Limits& limits,
                                             std::int64_t cache_bytes) const {
  return {pointers_to(engines),
          tokenizers,
          {.limits = limits, .record = record, .cache_bytes = cache_bytes}};
}

OpenedScorer open_cpu_scorer(const ScorerChoice& choice) {
  const EngineChoice engine{{.device = choice.device, .threads = choice.threads},
                            ComputeType::Float32};
  const auto opened = std::make_shared<const OpenedTranslator>(
      open_translator({choice.model}, engine, no_device_engine));
  const ForcedBatches batches{.max_tokens = choice.max_tokens};
  return {
      .tokenizers = opened->tokenizers,
      .record = opened->record,
      .max_positions = opened->engines.front()->max_positions(),
      .threads = static_cast<int>(opened->engines.size()),
      .score = [opened, batches](std::span<const SentencePair> pairs, const std::stop_token& stop) {
        return forced_scores(pointers_to(opened->engines), pairs, batches, stop);
      }};
}

}  // namespace dragoman
