#include "app/torch/train_start.h"

#include <c10/core/DeviceType.h>
#include <torch/version.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <set>
#include <system_error>

#include "app/frame/log.h"
#include "base/bytes.h"
#include "base/cpu.h"
#include "base/error.h"
#include "base/formatted_text.h"
#include "base/machine.h"
#include "training/ranks/communicator.h"
#include "training/start/automatic_settings.h"
#include "training/start/start_settler.h"
#include "training/start/trial.h"

namespace dragoman {

void require_folder(const RunFolder& folder) {
  std::filesystem::path place = std::filesystem::absolute(folder.root);
  while (!std::filesystem::exists(place)) place = place.parent_path();
  if (!std::filesystem::is_directory(place))
    throw Error(place.string(), ": is not a folder; give another -o, a folder for the run");
}

void require_nothing_to_lose(const RunFolder& folder) {
  for (const auto& path : {folder.model(), folder.best(), folder.log()})
    if (std::filesystem::is_regular_file(path))
      throw Error(
          path.string(),
          ": exists, but has no checkpoint to resume from; give another -o for another run, "
          "or remove it");
}

MadeFolder::~MadeFolder() {
  std::error_code not_empty;
  std::filesystem::remove(folder_.corpus(), not_empty);
  std::filesystem::remove(folder_.root, not_empty);
}

void lock_folder(const RunFolder& folder, StartPoint& start) {
  if (start.lock) return;
  if (!std::filesystem::exists(folder.root)) start.made = std::make_unique<MadeFolder>(folder);
  create_folders(folder.root);
  start.lock = std::make_unique<FolderLock>(
      folder.root, "another training is at work here; wait for its end, or give another -o");
  for (const auto& part : {folder.root, folder.checkpoints(), folder.corpus()})
    remove_leftovers(part);
}

StartPoint find_start(const RunFolder& folder) {
  StartPoint start;
  require_folder(folder);
  if (!std::filesystem::exists(folder.root)) return start;
  lock_folder(folder, start);
  start.found = find_checkpoint_to_resume(folder, log_warning);
  if (!start.found) require_nothing_to_lose(folder);
  return start;
}

namespace {

std::string hash_of(const std::string& bytes) { return hex16(xxh3(bytes)); }

std::string hash_of(const std::map<std::string, std::string>& files) {
  std::string all;
  for (const auto& [path, hash] : files) all += hash;
  return hash_of(all);
}

}  // namespace

void require_same_configuration(const std::map<std::string, std::string>& configuration,
                                Communicator& ranks) {
  if (const auto text = find_disagreement(
          ranks, {{"dragoman's version", DRAGOMAN_VERSION}, {"LibTorch's version", TORCH_VERSION}});
      !text.empty())
    throw Error(text, "; install the same on all hosts");
  CommonFacts facts;
  for (const auto& [name, value] : configuration)
    if (!is_of_the_host(name)) facts.push_back({join_text("--", name), value});
  if (const auto text = find_disagreement(ranks, facts); !text.empty())
    throw UsageError(text, "; give all ranks the same command");
}

void require_same_data(const TrainingRun& run, Communicator& ranks) {
  const CorpusReport& report = run.data.report;
  const auto text = find_disagreement(
      ranks, {{"the training text's hash", run.data.text_hash},
              {"the hash of all text files", hash_of(run.data.file_hashes)},
              {"the tokenizer's hash",
               hash_of(run.attachments.tokenizer_source + run.attachments.tokenizer_target)},
              {"the number of training pairs", std::to_string(report.kept)},
              {"the number of target pieces", std::to_string(report.target_tokens)},
              {"the precision", std::string(name_of(run.precision))},
              {"the kind of device", c10::DeviceTypeName(run.device.type(), /*lower_case=*/true)}});
  if (!text.empty())
    throw Error(text,
                "; put the same files on all hosts, and give the same --precision and --device");
  const auto processors =
      find_disagreement(ranks, {{"the processor", run.start.machine.processor}});
  if (ranks.leads() && !processors.empty())
    log_warning(processors + ": the ranks' weights may differ in their last digits");
}

InitialModel initial_model(const std::string& init_from,
                           const std::optional<FoundCheckpoint>& found) {
  if (init_from.empty()) return {};
  const ModelFileReader model(found ? found->path : resolve_model_path(init_from));
  InitialModel initial{model.checksum(), model.decode_defaults(),
                       model.provenance().copied_fractions, model.provenance().characters};
  if (found) initial.checksum = found->initial_checksum;  // settle() refuses a new --init-from
  return initial;
}

MachineFacts machine_facts(Precision precision, int threads, int ranks) {
  return {.ranks = ranks,
          .precision = std::string(name_of(precision)),
          .threads = std::to_string(threads),
          .processor = cpu_features().model + " (" + cpu_features().instructions + ")"};
}

namespace {

std::int64_t parameters_of(const ModelConfig& model) { return FlatLayout(model).parameters(); }

/// The seconds of a run, or none if memory does not suffice.
std::optional<double> seconds_of_run(RunConfig config, const CorpusSize& corpus,
                                     const SpeedMeasurement& measurement) {
  config.model.source_vocabulary = config.model.target_vocabulary = config.tokenizer.vocab_size;
  config.model.check();
  const TrainConfig& train = config.train;
  const std::int64_t length =
      corpus.target_tokens / std::max<std::int64_t>(1, corpus.pairs) + 1;  // </s>
  const double speed =
      measured_speed({.model = config.model,
                      .precision = resolve_precision(train.precision, measurement.device),
                      .device = measurement.device,
                      .text = {.vocabulary = config.model.target_vocabulary,
                               .length = std::clamp<std::int64_t>(length, 1, train.max_tokens),
                               .spread = 0,
                               .batch_tokens = train.max_tokens},
                      .loss = train.loss(),
                      .update_freq = train.update_freq,
                      .stop = measurement.stop});
  if (speed == 0) return std::nullopt;
  return target_tokens_of_run(corpus, train, measurement.ranks) / (measurement.ranks * speed);
}

CorpusSize size_of(const Corpus& corpus) {
  CorpusSize size{.pairs = corpus.pairs()};
  for (std::int64_t pair = 0; pair < corpus.pairs(); ++pair)
    size.target_tokens += corpus.lengths(pair).target + 1;
  return size;
}

/// The model that the text is enough for, with the same vocabulary.
ModelConfig fitting_model(const ModelConfig& model, const CorpusSize& corpus) {
  const TextSize text{.pairs = corpus.pairs,
                      .target_characters = std::llround(kCharactersPerPiece *
                                                        static_cast<double>(corpus.target_tokens))};
  ModelConfig fitting = ModelConfig::from_preset(preset_for(text));
  fitting.source_vocabulary = model.source_vocabulary;
  fitting.target_vocabulary = model.target_vocabulary;
  fitting.tying = model.tying;
  return fitting;
}

std::int64_t target_tokens_of(const EpochPlan& epoch, const Corpus& corpus) {
  std::int64_t tokens = 0;
  for (std::int64_t batch = 0; batch < epoch.batches(); ++batch)
    for (const std::uint32_t pair : epoch.batch(batch)) tokens += corpus.lengths(pair).target + 1;
  return tokens;
}

/// The seconds of an update on this machine. Zero if memory does not suffice to measure it; the run
/// itself will then split its batches.
double measured_update(const TrialSettings& settings) {
  try {
    Trial trial(settings);
    const double batch = trial.usual_batches(settings.config.max_tokens).seconds;
    return static_cast<double>(settings.config.update_freq) * batch + trial.step_seconds();
  } catch (const std::exception& problem) {
    if (!is_out_of_memory(problem)) throw;
  }
  give_back_freed_memory();
  return 0;
}

}  // namespace

ChosenPreset measure_preset(const TextSize& text, const SpeedMeasurement& measurement) {
  return preset_for(text, [&](Preset preset) {
    return seconds_of_run(measurement.config_of(preset), estimated_size(text), measurement);
  });
}

EpochFacts measure_epoch(const TrialSettings& trial) {
  const Corpus& corpus = trial.data.train;
  const EpochPlan epoch = first_epoch(trial, trial.config.max_tokens);
  EpochFacts facts{
      .size = size_of(corpus),
      .target_tokens_per_epoch = target_tokens_of(epoch, corpus),
      .updates_per_epoch = updates_of(epoch, trial),
      .seconds_per_update = trial.config.max_seconds() > 0 ? measured_update(trial) : 0};
  // One rank validates while the others wait.
  const std::int64_t valid_tokens = size_of(trial.data.valid.tokens).target_tokens +
                                    size_of(trial.data.keep_valid.tokens).target_tokens;
  facts.updates_per_validation = updates_per_validation(
      valid_tokens * trial.config.valid_beam_size, facts.target_tokens_per_update() / trial.ranks);
  return facts;
}

std::vector<std::string> automatic_fields() {
  std::set<std::string> names = {"max-updates"};
  const auto values_of = [](Preset preset) {
    return configuration_of(RunConfig::from_preset(preset).fields());
  };
  const auto base = values_of(Preset::Base);
  for (const Preset preset : {Preset::Tiny, Preset::Small}) {
    for (const auto& [name, value] : values_of(preset))
      if (base.at(name) != value) names.insert(name);
    for (const Setting& setting : text_settings(preset, {})) names.insert(setting.name);
  }
  for (const Setting& setting : length_settings({.updates = 1})) names.insert(setting.name);
  return {names.begin(), names.end()};
}

void log_choices(const TrialSettings& trial, const EpochFacts& corpus) {
  const TrainConfig& config = trial.config;
  const double seconds =
      corpus.seconds_per_update > 0 ? corpus.seconds_per_update : measured_update(trial);
  const RunPace pace{.seconds_per_update = seconds,
                     .updates_per_epoch = corpus.updates_per_epoch,
                     .seconds_per_validation = corpus.updates_per_validation * seconds,
                     .validates = trial.validates()};
  const auto end = outlook(config, {}, pace).end;
  std::string text = join_text(counted(corpus.size.pairs, "pair"), ": ");
  if (config.init_from.empty()) text += join_text(name_of(config.preset), ", ");
  text += join_text(with_separators(trial.model.target_vocabulary), " pieces, ");
  if (end) {
    text += join_text(counted(std::max(1LL, std::llround(end->updates_left)), "update"), " of ",
                      counted(std::llround(corpus.target_tokens_per_update()), "target piece"));
    if (seconds > 0) text += ", about " + duration_text(end->seconds_left);
    text += config.patience > 0 && trial.validates() ? ", less if the score stops rising earlier; "
                                                     : "; ";
  }
  if (trial.validates()) {
    text += join_text("validated every ", counted(config.valid_every, "update"));
    if (seconds > 0)
      text +=
          join_text(" (", duration_text(static_cast<double>(config.valid_every) * seconds), ")");
  } else {
    text += "no validation: there is no validation text";
  }
  log_info(text);
  const ModelSize size{.parameters = parameters_of(trial.model),
                       .fitting = parameters_of(fitting_model(trial.model, corpus.size))};
  for (const std::string& doubt : doubtful_choices(config, trial.model, size, corpus.size, pace))
    log_warning(doubt);
}

}  // namespace dragoman
