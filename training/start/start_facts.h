// The facts that decide the settings of a run (StartFacts): its checkpoint, the models, the text,
// the tokenizers, the corpus, the machine.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

#include "data/prepare.h"
#include "model/file/model_config.h"
#include "tokenizer/tokenizer.h"
#include "training/settings/automatic_settings.h"
#include "training/settings/progress_record.h"
#include "training/settings/run_settings.h"

namespace dragoman {

class Communicator;
struct FoundCheckpoint;

/// The model that a run starts from, or its own checkpoint.
struct GivenModel {
  std::string name;  ///< for messages: "this run's checkpoint"
  std::filesystem::path path;
  ModelConfig config;
  TokenizerPair tokenizers;
};

/// Facts of the encoded training text, with the batches that are settled.
struct EpochFacts {
  CorpusSize size;
  /// </s> included; a pair counts as often as it is seen.
  std::int64_t target_tokens_per_epoch = 0;
  double updates_per_epoch = 0;
  double seconds_per_update = 0;      ///< 0: not known
  double updates_per_validation = 0;  ///< as RunLength

  double target_tokens_per_update() const {
    return static_cast<double>(target_tokens_per_epoch) / updates_per_epoch;
  }
};

/// The members stand in the order in which they are found. To measure a fact, the program needs the
/// settings that the earlier facts have decided.
struct StartFacts {
  bool resumes = false;  ///< whether rank 0 resumes the run from a checkpoint
  /// Settings that the checkpoint remembers; on other ranks those that rank 0 has settled.
  std::optional<StartRecord> remembered = {};
  /// The record of the checkpoint from which the run is resumed; on rank 0.
  std::optional<ProgressRecord> begun = {};
  bool on_gpu = false;                ///< whether this rank computes on a GPU
  int ranks = 1;                      ///< that train together
  std::string initial_checksum = {};  ///< of the model that it was started from, if known
  /// The checkpoint; in a new run the model of --init-from.
  std::optional<GivenModel> model = {};
  /// The files of --tokenizer and --target-tokenizer.
  std::optional<TokenizerPair> tokenizer_files = {};
  std::string missing_tokenizer = {};  ///< one of these files, which a resumed run does without
  std::optional<TextSize> text = {};
  std::optional<ChosenPreset> preset = {};       ///< that suits text and machine, if it is open
  std::optional<TokenizerPair> tokenizers = {};  ///< that the text was encoded with
  /// Whether no validation reference has the four words in a row that BLEU needs; on rank 0 of a
  /// new run.
  bool has_short_references = false;
  std::optional<std::int64_t> max_tokens = {};  ///< for --max-tokens auto, measured on a GPU
  std::optional<EpochFacts> corpus = {};
  std::optional<MachineFacts> machine = {};

  /// Takes the checkpoint that rank 0 has found, if there is one. All ranks remember its settings.
  void take_checkpoint(const std::optional<FoundCheckpoint>& found, Communicator& ranks);
  /// Has all ranks remember the settings of rank 0, which may know more facts. Each host keeps the
  /// fields that may differ from host to host.
  void share(const StartRecord& settings, Communicator& ranks);
  /// Opens the checkpoint, or in a new run the model of --init-from, and the files of --tokenizer
  /// and --target-tokenizer. Throws Error if a file cannot be read.
  void find_models(const RunSettings& settings, const std::optional<FoundCheckpoint>& found);
};

}  // namespace dragoman
