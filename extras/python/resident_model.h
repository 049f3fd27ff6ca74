// A model that stays in memory and translates: its tokenizers, an engine for each thread, and the
// TranslationService on them. Knows no Python.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "extras/python/named_options.h"
#include "inference/cpu/cpu_model.h"
#include "inference/search/decode_config.h"
#include "inference/translation_service.h"
#include "model/file/model_file.h"
#include "tokenizer/tokenizer_pair.h"

namespace dragoman {

/// The arguments of a Translator.
struct ResidentConfig {
  std::vector<std::string> models;  ///< run folders or model files; several are an ensemble
  std::int64_t threads = 0;         ///< 0: all cores that this process may use
  ComputeType compute_type = ComputeType::Auto;
  std::int64_t batch_size = 0;  ///< Workers::Limits::rows

  template <class Visit>
  void for_each_field(Visit&& visit) {
    visit({.name = "threads", .help = "threads; 0: all cores that this process may use"}, threads);
    visit({.name = "compute-type", .help = "number type of the arithmetic"}, compute_type);
    visit({.name = "batch-size",
           .help = "hypotheses that are computed together; 0: as suits the processor"},
          batch_size);
  }
};

class ResidentModel {
 public:
  /// Throws Error where a file is missing or damaged, or the models' tokenizers differ; UsageError
  /// for an argument.
  explicit ResidentModel(const ResidentConfig& config);
  ResidentModel(const ResidentModel&) = delete;
  ResidentModel& operator=(const ResidentModel&) = delete;
  ~ResidentModel();

  /// The search that the options ask for; the rest is as the model has it. Throws UsageError.
  DecodeConfig search_with(const NamedOptions& options) const;
  /// Throws Error in a process that was forked from the one which made the model: the threads have
  /// stayed there.
  TranslationService& service() const;

  /// Log-probabilities of the tokens of each translation, </s> as the last: as `dragoman score`
  /// gives them. After a stop the lists are not complete. Many threads may call it at once.
  std::vector<std::vector<float>> score(const std::vector<std::string>& sources,
                                        const std::vector<std::string>& targets,
                                        SplitSentences split, const std::stop_token& stop) const;

 private:
  std::vector<std::unique_ptr<Engine>> make_engines() const;

  const int threads_;
  const int process_;
  TokenizerPair tokenizers_;
  DecodeDefaults decode_defaults_;
  std::optional<double> several_sentences_;
  CopiedFractions copied_fractions_;
  std::optional<SeenCharacters> characters_;
  std::vector<std::shared_ptr<const CpuModel>> members_;
  std::vector<std::unique_ptr<Engine>> engines_;
  std::unique_ptr<TranslationService> service_;  // last: its threads use all above
};

}  // namespace dragoman
