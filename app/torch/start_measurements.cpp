#include "app/torch/start_measurements.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "app/frame/log.h"
#include "base/amounts.h"
#include "base/memory.h"
#include "model/device.h"
#include "training/start/automatic_settings.h"
#include "training/start/measured_speed.h"
#include "training/start/run_settings.h"

namespace dragoman {

namespace {

std::int64_t parameters_of(const ModelConfig& model) { return FlatLayout(model).parameters(); }

/// The seconds of a run, or none where memory does not suffice.
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

/// The seconds of an update on this machine. Zero where memory does not suffice to measure it; the
/// run itself will then split its batches.
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
