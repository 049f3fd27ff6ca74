#include "app/torch/automatic_run.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <set>

#include "app/frame/field_names.h"
#include "app/frame/log.h"
#include "app/torch/initial_model.h"
#include "base/amounts.h"
#include "model/device.h"
#include "training/automatic_settings.h"
#include "training/measured_speed.h"
#include "training/resume.h"

namespace dragoman {

namespace {

std::string name_of(Preset preset) {
  return std::string(names_of(preset)[static_cast<std::size_t>(preset)]);
}

std::int64_t parameters_of(const ModelConfig& model) { return FlatLayout(model).parameters(); }

/// A preset with the settings that would be chosen for a text.
TrainOptions options_of(Preset preset, const TextSize& text) {
  TrainOptions options;
  options.apply_preset({{"preset", {name_of(preset)}}});
  const std::vector<Field> fields = options.fields();
  for (const Setting& setting : text_settings(preset, text))
    assign_text(*find_field(fields, setting.name), setting.text);
  options.model.source_vocabulary = options.model.target_vocabulary = vocabulary_for(text);
  return options;
}

/// Measures the speed of all ranks together, on sentences as long as those of the text.
SpeedOf speed_on(const TextSize& text, const TextTrial& trial, std::int64_t ranks) {
  return [text, trial, ranks](Preset preset) {
    const TrainOptions options = options_of(preset, text);
    const double characters = static_cast<double>(text.target_characters) /
                              static_cast<double>(std::max<std::int64_t>(1, text.pairs));
    const std::int64_t length = std::llround(characters / kCharactersPerPiece) + 1;  // </s>
    const auto& train = options.train;
    return static_cast<double>(ranks) *
           measured_speed({.model = options.model,
                           .precision = resolve_precision(train.precision, trial.device),
                           .device = trial.device,
                           .text = {.vocabulary = options.model.target_vocabulary,
                                    .length = std::clamp<std::int64_t>(length, 1, train.max_tokens),
                                    .spread = 0,
                                    .batch_tokens = train.max_tokens},
                           .update_freq = train.update_freq,
                           .stop = trial.stop});
  };
}

/// The settings that follow from the text and the machine. A preset that was asked for decides the
/// size alone.
std::vector<Setting> settings_by_text(const RunSettings& settings, const TextSize& text,
                                      const ChosenPreset& chosen) {
  std::vector<Setting> result;
  if (settings.is_open("preset")) result.push_back({"preset", name_of(chosen.preset)});
  for (Setting& more : text_settings(chosen.preset, text)) result.push_back(std::move(more));
  return result;
}

std::vector<Setting> shared(std::vector<Setting> settings, Communicator& ranks) {
  if (ranks.size() == 1) return settings;
  nlohmann::json json = nlohmann::json::array();
  for (const Setting& s : settings) json.push_back({s.name, s.text});
  json = nlohmann::json::parse(ranks.broadcast(json.dump()));
  settings.clear();
  for (const auto& s : json) settings.push_back({s[0], s[1]});
  return settings;
}

/// The preset's values become the values of the open fields.
void take_preset(const std::string& name, RunSettings& settings) {
  TrainOptions defaults;
  defaults.apply_preset({{"preset", {name}}});
  settings.take_defaults(defaults.fields(), "--preset " + name);
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

/// The corpus and the updates of an epoch.
struct EpochFacts {
  CorpusSize corpus;
  double updates = 0;
  double target_tokens_per_update() const {
    return static_cast<double>(corpus.target_tokens) / updates;
  }
};

EpochFacts epoch_of(const TrialSettings& trial, int ranks) {
  const TrainConfig& config = trial.config;
  const PlanConfig plan{config.max_tokens, config.max_sentences,
                        static_cast<std::uint64_t>(config.seed)};
  const auto batches = static_cast<double>(plan_in_length_order(trial.corpus, plan).batches());
  return {.corpus = size_of(trial.corpus),
          .updates = std::max(1.0, batches / static_cast<double>(config.update_freq * ranks))};
}

/// Whether --max-epochs or --max-time ends the run.
bool ends_otherwise(const TrainConfig& config) {
  return config.max_epochs > 0 || config.max_seconds() > 0;
}

/// The seconds of an update on this machine. Zero where memory does not suffice to measure it; the
/// run itself will then split its batches.
double measured_update(const TrialSettings& settings) {
  try {
    Trial trial(settings);
    const double batch = trial.usual_batches(settings.config.max_tokens).seconds;
    return static_cast<double>(settings.config.update_freq) * batch + trial.step_seconds();
  } catch (const PreparationStopped&) {
    throw;
  } catch (const std::exception&) {
    return 0;
  }
}

}  // namespace

void choose_by_text(TrainOptions& options, RunSettings& settings, const TextTrial& trial,
                    Communicator& ranks) {
  if (!options.train.init_from.empty()) return;
  std::string reason;
  std::vector<Setting> chosen;
  if (ranks.leads()) {
    const TextSize text = trial.measure_text();
    ChosenPreset preset{options.train.preset, counted(text.pairs, "pair")};
    if (settings.is_open("preset")) {
      preset = preset_for(text, speed_on(text, trial, ranks.size()));
      if (const Preset full = preset_for(text); full != preset.preset)
        log_info(join_text("preset ", name_of(preset.preset), ": ", preset.reason, "; --preset ",
                           name_of(full), " takes it all the same"));
    }
    reason = preset.reason;
    chosen = settings_by_text(settings, text, preset);
  }
  for (const Setting& setting : shared(chosen, ranks)) {
    if (setting.name == "preset") take_preset(setting.text, settings);
    if (setting.name == "vocab-size" && !options.tokenizer.trains()) continue;
    if (setting.name == "augment-join" && !options.data.guided_alignment.empty()) continue;
    settings.choose(setting.name, setting.text, reason);
  }
}

void choose_by_corpus(TrainOptions& options, RunSettings& settings, const TrialSettings& trial,
                      int ranks) {
  TrainConfig& config = options.train;
  const EpochFacts epoch = epoch_of(trial, ranks);
  const bool fine_tunes = !config.init_from.empty();
  double updates = static_cast<double>(
      updates_for(epoch.corpus, config.preset, epoch.target_tokens_per_update()));
  if (fine_tunes) updates *= kFineTuningLength;
  const std::string reason = counted(epoch.corpus.pairs, "pair");
  if (!ends_otherwise(config))
    settings.choose("max-updates", text_of(static_cast<std::int64_t>(updates)), reason);
  if (config.max_updates > 0) updates = static_cast<double>(config.max_updates);
  if (config.max_epochs > 0)
    updates = std::min(updates, static_cast<double>(config.max_epochs) * epoch.updates);
  if (config.max_seconds() > 0)
    if (const double seconds = measured_update(trial); seconds > 0)
      updates = std::min(updates, config.max_seconds() / seconds);
  const auto length = static_cast<std::int64_t>(std::max(1.0, updates));
  for (const Setting& setting :
       fine_tunes ? fine_tuning_settings(length, options.model) : length_settings(length))
    settings.choose(setting.name, setting.text, reason);
}

std::vector<std::string> automatic_fields() {
  std::set<std::string> names = {"max-updates"};
  const auto values_of = [](Preset preset) {
    TrainOptions options;
    options.apply_preset({{"preset", {name_of(preset)}}});
    return configuration_of(options.fields());
  };
  const auto base = values_of(Preset::Base);
  for (const Preset preset : {Preset::Tiny, Preset::Small}) {
    for (const auto& [name, value] : values_of(preset))
      if (base.at(name) != value) names.insert(name);
    for (const Setting& setting : text_settings(preset, {})) names.insert(setting.name);
  }
  for (const Setting& setting : length_settings(1)) names.insert(setting.name);
  return {names.begin(), names.end()};
}

void log_choices(const TrainOptions& options, const TrialSettings& trial, int ranks) {
  const TrainConfig& config = options.train;
  const EpochFacts epoch = epoch_of(trial, ranks);
  const double seconds = measured_update(trial);
  const RunPace pace{.seconds_per_update = seconds,
                     .updates_per_epoch = epoch.updates,
                     .validates = trial.validates};
  const auto end = outlook(config, {}, pace).end;
  std::string text = join_text(counted(epoch.corpus.pairs, "pair"), ": ");
  if (config.init_from.empty()) text += name_of(config.preset) + ", ";
  text += join_text(with_separators(options.model.target_vocabulary), " pieces, ");
  if (end) {
    text += join_text(counted(std::llround(end->updates_left), "update"), " of ",
                      counted(std::llround(epoch.target_tokens_per_update()), "target piece"));
    if (seconds > 0) text += ", about " + duration_text(end->seconds_left);
    text += config.patience > 0 && trial.validates ? ", less if the score stops rising earlier; "
                                                   : "; ";
  }
  if (trial.validates) {
    text += join_text("validated every ", counted(config.valid_every, "update"));
    if (seconds > 0)
      text +=
          join_text(" (", duration_text(static_cast<double>(config.valid_every) * seconds), ")");
  } else {
    text += "no validation: there is no validation text";
  }
  log_info(text);
  const ModelSize size{.parameters = parameters_of(options.model),
                       .fitting = parameters_of(fitting_model(options.model, epoch.corpus))};
  for (const std::string& doubt : doubtful_choices(config, options.model, size, epoch.corpus, pace))
    log_warning(doubt);
}

}  // namespace dragoman
