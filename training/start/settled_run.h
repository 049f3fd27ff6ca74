// The settings of a run as a pure function, settle(), of the request and the facts known so far. It
// also returns the messages for the user.
//
// The types of settings, in the order of a run's start:
//   RunConfig       typed values: of training, model, data and tokenizer
//   SettingsRecord  the same as texts, for files; what was asked for; reasons of the others
//   RunRequest      both, as the command line gives them
//   Setting         a value that the program chooses for a text (automatic_settings)
//   RunSettings     the rules by which settle() gives an open field its value
//   SettledRun      the settings of the run, as RunConfig and as SettingsRecord
//   TrainingRun     the input of the trainer: the settings with data, model and folder
//
// The facts are found in the order of StartFacts. Measuring a fact needs the settings that the
// earlier facts have decided. So the program calls settle() again after each fact, always with the
// same request (training/start/start_settler).
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "data/prepare.h"
#include "model/file/model_config.h"
#include "tokenizer/tokenizer.h"
#include "training/progress_record.h"
#include "training/start/automatic_settings.h"
#include "training/start/run_settings.h"

namespace dragoman {

/// The settings that a command asks for.
struct RunRequest {
  RunConfig config;         ///< what was asked for, and the preset's values or defaults
  SettingsRecord settings;  ///< `asked`, and the `reasons` of the preset's values; no values
};

/// Facts of the training text, before there is a tokenizer.
struct TextFacts {
  TextSize size;
  std::optional<ChosenPreset> preset = {};  ///< that suits text and machine, if it is open
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

/// The model that a run starts from, or its own checkpoint.
struct GivenModel {
  std::string name;  ///< for messages: "this run's checkpoint"
  std::filesystem::path path;
  ModelConfig config;
  TokenizerPair tokenizers;
};

/// The facts that decide settings, in the order in which they are found.
struct StartFacts {
  /// Settings that the checkpoint remembers; on other ranks those that rank 0 has settled.
  std::optional<SettingsRecord> remembered = {};
  /// The record of the checkpoint from which the run is resumed; on rank 0.
  std::optional<ProgressRecord> begun = {};
  std::string initial_checksum = {};  ///< of the model that it was started from, if known
  /// The checkpoint; in a new run the model of --init-from.
  std::optional<GivenModel> model = {};
  /// The files of --tokenizer and --target-tokenizer.
  std::optional<TokenizerPair> tokenizer_files = {};
  std::optional<TextFacts> text = {};
  std::optional<TokenizerPair> tokenizers = {};  ///< that the text was encoded with
  std::optional<std::int64_t> max_tokens = {};   ///< the best here, for --max-tokens auto
  std::optional<EpochFacts> corpus = {};
  std::optional<MachineFacts> machine = {};
};

struct Remark {
  enum class Kind { Info, Warning };
  Kind kind;
  std::string text;
};

struct SettledRun {
  RunConfig config;
  SettingsRecord settings = {};                  ///< for the progress record and config.toml
  std::set<std::string, std::less<>> open = {};  ///< fields whose value may still be chosen
  std::vector<Remark> remarks = {};              ///< another fact may add more at the end
  /// In a run that has begun: the hash that each text file must have, by its path.
  std::map<std::string, std::string> expected_hashes = {};

  /// Whether --max-tokens is to be measured.
  bool wants_max_tokens() const;
};

/// Throws UsageError naming the flag that does not go with the others, with the checkpoint or with
/// a fact, and Error if a file of --tokenizer is not the tokenizer of the model.
SettledRun settle(const RunRequest& request, const StartFacts& facts);

}  // namespace dragoman
