// Opens models on the hardware that the flags choose: to translate, or to score translations.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "app/frame/command_line.h"
#include "base/error.h"
#include "base/fields.h"
#include "inference/cpu/cpu_model.h"
#include "inference/forced_scores.h"
#include "inference/model_settings.h"
#include "inference/search/decode_config.h"
#include "inference/search/engine.h"
#include "inference/translation_service.h"
#include "model/file/model_file.h"
#include "tokenizer/tokenizer.h"

namespace dragoman {

struct HardwareChoice {
  std::string device = "auto";
  std::int64_t threads = 0;

  void for_each_field(const auto& visit) {
    const auto field = fields_under("Hardware", visit);
    field("device", device, "device to compute on: auto, cpu, cuda or cuda:N");
    field("threads", threads, "threads on the CPU; 0: all cores that this process may use",
          {.aliases = "cpu-threads,workers,inter-threads"});
  }
};

/// The hardware of commands that translate.
struct EngineChoice : HardwareChoice {
  ComputeType compute_type = ComputeType::Auto;
  bool device_graph = false;

  void for_each_field(const auto& visit) {
    HardwareChoice::for_each_field(visit);
    const auto field = fields_under("Hardware", visit);
    field("compute-type", compute_type,
          "number type to compute in; auto: on the CPU that of the weights in the model "
          "file, on a GPU bfloat16; bfloat16, float16 (on a GPU) and int8 (on the CPU) "
          "round the weights and are faster");
    field("device-graph", device_graph,
          "on a GPU: record the work of a step once, then launch it as a whole (a CUDA graph); not "
          "yet tried on a GPU");
  }
};

/// The search that the flags ask for, with the model's values for what they leave open; a beam that
/// they leave open is as wide as the n best need. Throws UsageError if that is not a valid search.
DecodeConfig search_with(DecodeConfig flags, const Origins& origins,
                         const DecodeDefaults& defaults);

/// As refuse_settings_without_draws(), of the flags that were given.
void refuse_flags_without_draws(const DecodeConfig& flags, const Origins& origins, ScoreUse scores);

/// A model as translation needs it. The facts about its file are those of an ensemble's first
/// model.
struct OpenedTranslator {
  TokenizerPair tokenizers;
  std::vector<std::unique_ptr<HostEngine>> engines;  ///< on the CPU: one for each thread
  std::unique_ptr<Engine> device_engine;             ///< on a GPU, in their place
  std::shared_ptr<const CpuModel> weights;  ///< of the engines; null on a GPU and of an ensemble
  DecodeDefaults decode_defaults;
  std::string checksum;      ///< of its file
  std::int64_t updates = 0;  ///< that its weights have had
  /// The same text for all checkpoints of one run: its folder. For a model of a folder without
  /// checkpoints: that folder and the model's settings.
  std::string run;
  TextRecord record;  ///< of an ensemble: common_record()

  DecodeConfig search_with(const DecodeConfig& flags, const Origins& origins) const {
    return dragoman::search_with(flags, origins, decode_defaults);
  }
  /// A translation service on these engines. This object must outlive it. `limits.rows` is
  /// DecodeConfig::batch_size, `cache_bytes` are those of ServiceConfig.
  TranslationService service(const Workers::Limits& limits = {},
                             std::int64_t cache_bytes = 0) const;
};

/// Makes the engine of a model or of an ensemble on the device that `choice` names; null if that is
/// the CPU. Each program has its own. Throws UsageError for other texts and for a number type or
/// graphs that the device lacks, and Error for a device that is missing in this machine or this
/// program.
using MakeDeviceEngine = std::function<std::unique_ptr<Engine>(
    const EngineChoice& choice, std::span<const ModelFileReader> files,
    const std::vector<TokenId>& never_emitted)>;

/// The MakeDeviceEngine of a program that knows the CPU alone.
std::unique_ptr<Engine> no_device_engine(const EngineChoice& choice,
                                         std::span<const ModelFileReader> files,
                                         const std::vector<TokenId>& never_emitted);

/// Opens one model, or several as an ensemble. Throws Error if a file is damaged or the models'
/// tokenizers differ, and the errors of `make_device_engine`.
OpenedTranslator open_translator(const std::vector<std::string>& models, const EngineChoice& choice,
                                 const MakeDeviceEngine& make_device_engine);

/// The hardware, --model, and how much is computed together.
struct ScorerChoice : HardwareChoice {
  std::string model;
  std::int64_t max_tokens = 4'096;

  /// Throws UsageError naming the flag.
  void check() const {
    if (model.empty()) throw UsageError("--model: name a run folder or a model file");
    if (max_tokens < 1) throw UsageError("--max-tokens: must be at least 1");
  }

  void for_each_field(const auto& visit) {
    fields_under("Files", visit)("model", model, "run folder or model file",
                                 {.placeholder = "FILE"});
    HardwareChoice::for_each_field(visit);
    const auto field = fields_under("Hardware", visit);
    field("max-tokens", max_tokens,
          "maximum number of pieces of each side to compute together; changes speed and "
          "memory, not the output",
          {.aliases = "batch-size,max-batch-size"});
  }
};

struct OpenedScorer {
  TokenizerPair tokenizers;
  TextRecord record;
  std::int64_t max_positions;  ///< of a sentence and of its translation, in tokens
  int threads;                 ///< of the CPU
  PairScorer score;
};

/// Opens the model; each program has its own function. Throws Error if the file is damaged or the
/// device is missing, UsageError for an unknown device.
using OpenScorer = std::function<OpenedScorer(const ScorerChoice& choice)>;

/// Scores with the engine for the CPU, in float32 (forced_scores()).
OpenedScorer open_cpu_scorer(const ScorerChoice& choice);

}  // namespace dragoman
