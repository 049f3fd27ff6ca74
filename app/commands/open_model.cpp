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
#include "model/file/run_folder.h"

namespace dragoman {

namespace {

std::string run_of(const ModelFileReader& file) {
  const RunFolder run = RunFolder::of_model(file.path());
  if (std::filesystem::exists(run.checkpoints())) return run.root.string();
  return run.root.string() + '\n' + file.provenance().configuration;
}

}  // namespace

std::unique_ptr<Engine> no_device_engine(const EngineChoice& choice,
                                         std::span<const ModelFileReader>,
                                         const std::vector<TokenId>&) {
  const std::string& device = choice.device;
  if (device == "auto" || device == "cpu") {
    if (choice.device_graph) throw UsageError("--device-graph: only on a GPU, with dragoman");
    return nullptr;
  }
  if (device.starts_with("cuda"))
    throw Error("--device ", device,
                ": dragoman-lite works on the CPU; dragoman can use CUDA devices");
  throw UsageError("--device: '", device, "' is none of auto, cpu, cuda, cuda:N");
}

OpenedTranslator open_translator(const std::vector<std::string>& models, const EngineChoice& choice,
                                 const MakeDeviceEngine& make_device_engine) {
  const ModelFiles files = open_model_files(models);
  const ModelFileReader& first = files.readers.front();
  OpenedTranslator opened;
  opened.tokenizers = files.tokenizers;
  opened.decode_defaults = first.decode_defaults();
  opened.checksum = first.checksum();
  opened.updates = first.provenance().updates;
  opened.run = run_of(first);
  opened.record = files.record;
  const std::vector<TokenId> never_emitted = opened.tokenizers.target->never_emitted();
  opened.device_engine = make_device_engine(choice, files.readers, never_emitted);
  if (opened.device_engine) return opened;
  std::vector<std::vector<std::unique_ptr<HostEngine>>> engines;  // of each model
  for (const ModelFileReader& file : files.readers) {
    opened.weights = std::make_shared<const CpuModel>(file, choice.compute_type);
    engines.push_back(cpu_engines(opened.weights, never_emitted, threads_to_use(choice.threads)));
  }
  if (models.size() > 1) opened.weights = nullptr;
  opened.engines = ensembles_of(std::move(engines));
  return opened;
}

DecodeConfig search_with(DecodeConfig flags, const Origins& origins,
                         const DecodeDefaults& defaults) {
  take_decode_defaults(flags, defaults,
                       [&origins](std::string_view name) { return is_given(origins, name); });
  flags.check();
  return flags;
}

void refuse_flags_without_draws(const DecodeConfig& flags, const Origins& origins,
                                ScoreUse scores) {
  refuse_settings_without_draws(
      flags, [&origins](std::string_view name) { return is_given(origins, name); }, scores);
}

TranslationService OpenedTranslator::service(const Workers::Limits& limits,
                                             std::int64_t cache_bytes) const {
  return {device_engine ? std::vector<Engine*>{device_engine.get()} : pointers_to(engines),
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
        return forced_scores(pointers_to<HostEngine>(opened->engines), pairs, batches, stop);
      }};
}

}  // namespace dragoman
