// dragoman train: from text files to a model, or on from where the run folder stands.
#include <torch/version.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>

#include "app/frame/config_file.h"
#include "app/frame/log.h"
#include "app/frame/progress.h"
#include "app/frame/signals.h"
#include "app/torch/automatic_run.h"
#include "app/torch/begun_run.h"
#include "app/torch/commands.h"
#include "app/torch/initial_model.h"
#include "app/torch/run_settings.h"
#include "app/torch/start_point.h"
#include "app/torch/train_agreement.h"
#include "app/torch/train_options.h"
#include "app/torch/train_plan.h"
#include "app/torch/training_view.h"
#include "base/cpu.h"
#include "base/files.h"
#include "base/hash.h"
#include "inference/model_tokenizers.h"
#include "model/device.h"
#include "training/ranks/communicator.h"
#include "training/resume.h"
#include "training/trainer.h"

namespace dragoman {

namespace {

/// A progress bar for each stage of preparing the data.
DataObserver shown_stages() {
  return [progress = std::shared_ptr<Progress>(), shown = std::string()](
             std::string_view stage, std::int64_t done, std::int64_t total) mutable {
    if (stage != shown) {
      // A single step has no share to show.
      progress = std::make_shared<Progress>(std::string(stage), "", total > 1 ? total : 0);
      shown = stage;
    }
    progress->update(done);
  };
}

Preparation preparation_of(const TrainOptions& options, const RunFolder& folder,
                           std::stop_token stop) {
  return {.data = options.data,
          .tokenizer = options.tokenizer,
          .cache_folder = folder.corpus(),
          .seed = static_cast<std::uint64_t>(options.train.seed),
          .observer = shown_stages(),
          .stop = std::move(stop),
          .threads = static_cast<int>(options.train.threads)};
}

PreparedData prepare(const TrainOptions& options, const RunFolder& folder,
                     const std::map<std::string, std::string>& started_with, std::stop_token stop) {
  Preparation preparation = preparation_of(options, folder, std::move(stop));
  preparation.started_with = started_with;
  return prepare_data(preparation);
}

constexpr const char* kInitFrom = "init-from";

/// A run that goes on has the tokenizers of its checkpoint.
void settle_tokenizers(TrainOptions& options, const RunSettings& settings,
                       const std::optional<FoundCheckpoint>& found) {
  TokenizerConfig& config = options.tokenizer;
  if (found) {
    take_tokenizer(ModelFileReader(found->path), "this run's checkpoint", config);
  } else if (!config.source_model.empty() && options.train.init_from.empty()) {
    const auto open = [](const std::string& path) {
      return std::make_shared<const Tokenizer>(Tokenizer::from_file(path));
    };
    Tokenizers given;
    given.source = open(config.source_model);
    given.target = config.target_model.empty() ? given.source : open(config.target_model);
    refuse_ignored_tokenizer_flags(settings, given, "--tokenizer");
  }
}

/// Takes over what the model of --init-from decides, and returns the checksum of its file; a run
/// that has begun finds all that in its own checkpoint.
std::string take_initial_model(TrainOptions& options, RunSettings& settings,
                               const std::optional<FoundCheckpoint>& found) {
  const std::string& given = options.train.init_from;
  if (given.empty()) return "";
  const ModelFileReader model(found ? found->path : resolve_model_path(given));
  take_architecture(model, settings, options.model);
  take_tokenizer(model, "the model of --init-from", options.tokenizer);
  refuse_ignored_tokenizer_flags(settings, load_tokenizers(model), "--init-from");
  options.validate();
  if (!found) return model.checksum();
  const auto& data = model.provenance().data;
  const auto remembered = data.find(kInitFrom);  // none: compare_configuration() will refuse
  return remembered == data.end() ? "" : remembered->second;
}

/// Rank 0 first, then one rank of each other host, then the rest: whoever comes later finds the
/// work of an earlier one in the cache folder, where the folder is the same.
PreparedData prepare_in_turn(const TrainOptions& options, const RunFolder& folder,
                             const std::map<std::string, std::string>& started_with,
                             Communicator& ranks, const std::stop_token& stop) {
  const int turn = ranks.leads() ? 0 : ranks.place().local_rank == 0 ? 1 : 2;
  std::optional<PreparedData> data;
  for (int i = 0; i < 3; ++i) {
    if (i == turn) data = prepare(options, folder, started_with, stop);
    try {
      ranks.wait_for_all();
    } catch (const Error&) {
      if (received_signal()) throw PreparationStopped();  // as all ranks have
      throw;
    }
  }
  return std::move(*data);
}

/// What the tokenizers decide about the model.
void complete_model(TrainOptions& options, RunSettings& settings, const Tokenizers& tokenizers) {
  ModelConfig& model = options.model;
  if (!options.tokenizer.trains() && settings.is_open("vocab-size"))
    settings.choose("vocab-size", text_of(std::int64_t{tokenizers.source->size()}),
                    "of the tokenizer that was given");
  model.source_vocabulary = tokenizers.source->size();
  model.target_vocabulary = tokenizers.target->size();
  model.unk_id = tokenizers.target->unk_id();
  model.bos_id = tokenizers.target->bos_id();
  model.eos_id = tokenizers.target->eos_id();
  if (tokenizers.joint() || model.tying != Tying::ThreeWay) return;
  if (settings.asks_value("tying"))
    throw UsageError("--tying three-way needs one vocabulary for both sides (--joint-vocab)");
  model.tying = Tying::TwoWay;
  settings.explain("tying", "two vocabularies");
  log_info("two vocabularies: the embeddings of target and output are tied, the source's are not");
}

ModelOrigin origin_of(TrainOptions& options, const PreparedData& data,
                      const std::string& initial_checksum) {
  ModelOrigin origin;
  origin.tokenizer_source = data.tokenizers.source->model_bytes();
  if (!data.tokenizers.joint()) origin.tokenizer_target = data.tokenizers.target->model_bytes();
  origin.provenance.command = options.invocation->command_line;
  origin.provenance.configuration = write_config(options.fields());
  origin.provenance.seed = options.train.seed;
  origin.provenance.data = {{"training-text", data.text_hash}};
  origin.provenance.several_sentences = data.report.several_sentences_share();
  if (!initial_checksum.empty()) origin.provenance.data[kInitFrom] = initial_checksum;
  origin.provenance.versions = {{"dragoman", DRAGOMAN_VERSION}, {"libtorch", TORCH_VERSION}};
  return origin;
}

/// Says what a changed setting means; throws where it would make another run.
void check_resume(TrainOptions& options, const TrainingRun& run, const ProgressRecord& progress,
                  int ranks) {
  const auto changes = compare_configuration(options.fields(), progress.settings.values);
  for (const std::string& change : changes.allowed) log_info("changed: " + change);
  for (const std::string& change : changes.not_exact)
    log_warning("changed: " + change + "; the run goes on, but not bit-identically");
  const auto differs = [](const std::string& what, const std::string& before,
                          const std::string& now) {
    if (before != now)
      log_warning(what + " " + before + " -> " + now +
                  ": the run goes on, but not bit-identically");
  };
  const auto precision = names_of(run.precision)[static_cast<std::size_t>(run.precision)];
  differs("ranks", std::to_string(progress.ranks), std::to_string(ranks));
  differs("precision", progress.precision, std::string(precision));
  differs("threads", progress.threads, run.threads);
  differs("processor", progress.processor, run.processor);
}

/// A curve that has begun ends where it was to end.
void check_schedule(const TrainConfig& config, const RunSettings& settings) {
  if (!config.has_lr_end() || config.lr_end == 0 || settings.asks_value("lr-end")) return;
  if (config.max_updates > 0 && config.max_updates <= config.lr_end) return;
  throw UsageError("--max-updates: this run's learning rate ends at update ", config.lr_end,
                   "; to go on behind it with --min-lr, give --lr-end ", config.lr_end,
                   ", or another -o for another run");
}

/// Gives the learning rate the end that is left open.
void settle_lr_end(TrainOptions& options, RunSettings& settings) {
  if (!options.train.has_lr_end() || options.train.lr_end > 0) return;
  options.train.settle_lr_end();
  settings.explain("lr-end", "--max-updates");
}

TextTrial text_trial_of(const TrainOptions& options, const RunFolder& folder, torch::Device device,
                        const std::stop_token& stop) {
  return {.measure_text = [preparation = preparation_of(
                               options, folder, stop)] { return measure_text(preparation); },
          .device = device,
          .stop = stop};
}

TrialSettings trial_of(const TrainOptions& options, const PreparedData& data,
                       torch::Device device) {
  return {.config = options.train,
          .model = options.model,
          .precision = resolve_precision(options.train.precision, device),
          .device = device,
          .corpus = data.train,
          .ends = end_ids(data.tokenizers),
          .validates = !data.valid.source_lines.empty(),
          .stop = stop_token()};
}

/// Chooses what the data and the machine decide, where it is open.
void choose_settings(TrainOptions& options, RunSettings& settings, const PreparedData& data,
                     torch::Device device, int ranks) {
  if (settings.asks_auto("max-tokens") && settings.is_open("max-tokens"))
    settings.choose("max-tokens", text_of(automatic_max_tokens(trial_of(options, data, device))),
                    "the fewest that are nearly as fast as any, measured here");
  choose_by_corpus(options, settings, trial_of(options, data, device), ranks);
  settle_lr_end(options, settings);
  options.validate();
}

/// Checks what was asked for, together with what a run that has begun remembers.
void settle_what_is_known(TrainOptions& options, RunSettings& settings,
                          const std::optional<FoundCheckpoint>& found) {
  if (found) check_schedule(options.train, settings);
  options.validate();
  const TrainConfig& train = options.train;
  const bool length_is_chosen = settings.is_open("max-updates") && train.max_updates == 0 &&
                                train.max_epochs == 0 && train.max_seconds() == 0;
  if (!length_is_chosen) settle_lr_end(options, settings);
  if (found) compare_configuration(options.fields(), found->progress.settings.values);
}

void plan(TrainOptions& options, RunSettings& settings) {
  options.train.check_output();
  const auto found = find_checkpoint({options.train.output}, log_warning);
  if (found) settings.recall(found->progress.settings);
  settle_what_is_known(options, settings, {});
  const torch::Device device = parse_device(options.train.device);
  use_threads(options.train.threads);
  const PlanFolder folder(options.train.output);
  take_initial_model(options, settings, {});
  settle_tokenizers(options, settings, {});
  const RunFolder planned{folder.path()};
  Communicator alone({}, options.train.rank_timeout);
  choose_by_text(options, settings, text_trial_of(options, planned, device, stop_token()), alone);
  const PreparedData data = prepare(options, planned, {}, stop_token());
  complete_model(options, settings, data.tokenizers);
  log_data(data);
  choose_settings(options, settings, data, device, 1);
  print_plan(trial_of(options, data, device));
}

void run_trainer(TrainingRun run, const std::optional<FoundCheckpoint>& found, Communicator& ranks,
                 const std::stop_token& stop) {
  if (!ranks.leads()) {
    SilentView view;
    Trainer(std::move(run), ranks, view).train(stop);
    return;
  }
  const TrainConfig config = run.config;
  const RunFolder folder = run.folder;
  TrainingView view(config, found ? found->progress : ProgressRecord{});
  Trainer trainer(std::move(run), ranks, view);
  if (found) {
    trainer.resume(*found);
    log_info(
        join_text("resumed from ", found->path.string(), " at update ", found->progress.update));
  } else if (!config.init_from.empty()) {
    trainer.start_from(resolve_model_path(config.init_from));
    log_info("starting from the weights, tokenizer and architecture of " + config.init_from);
  }
  const StopReason reason = trainer.train(stop);
  view.close();
  log_end(reason, trainer.progress(), folder, config);
}

void train(TrainOptions& options, RunSettings& settings, Communicator& ranks) {
  const std::stop_token stop = ranks.stop_token(stop_token());
  require_same_configuration(configuration_of(options.fields()), ranks);
  options.train.check_output();
  const RunFolder folder{options.train.output};
  StartPoint start = ranks.leads() ? find_start(folder) : StartPoint{};
  const bool begun = share_recalled(settings, start.found, ranks);
  settle_what_is_known(options, settings, start.found);
  const torch::Device device = parse_device(options.train.device, ranks.place().local_rank);
  const int threads = use_threads(options.train.threads, ranks.place().local_size);
  if (ranks.leads())
    lock_folder(folder, start);
  else
    create_folders(folder.root);
  const std::string initial_checksum = take_initial_model(options, settings, start.found);
  settle_tokenizers(options, settings, start.found);
  if (!begun)
    choose_by_text(options, settings, text_trial_of(options, folder, device, stop), ranks);

  const auto started_with = start.found ? expected_hashes(options.fields(), start.found->progress)
                                        : ProgressRecord{}.data;
  const PreparedData data = prepare_in_turn(options, folder, started_with, ranks, stop);
  complete_model(options, settings, data.tokenizers);
  log_data(data);
  if (ranks.leads()) {
    if (!begun) choose_settings(options, settings, data, device, ranks.size());
    write_file(folder.config(), settings.to_toml());
  }
  share_settings(settings, ranks);
  TrainingRun run{.config = options.train,
                  .model = options.model,
                  .precision = resolve_precision(options.train.precision, device),
                  .device = device,
                  .folder = folder,
                  .origin = origin_of(options, data, initial_checksum),
                  .data = data,
                  .settings = settings.record(),
                  .threads = std::to_string(threads),
                  .processor = cpu_features().model + " (" + cpu_features_text() + ")"};
  require_same_data(run, ranks);
  if (start.found) check_resume(options, run, start.found->progress, ranks.size());
  log_run(run);
  if (ranks.size() > 1) log_info(join_text("training on ", ranks.size(), " ranks"));
  if (ranks.leads() && !begun) log_choices(options, trial_of(options, data, device), ranks.size());
  run_trainer(std::move(run), start.found, ranks, stop);
}

int run_train(TrainOptions& options) {
  options.train.check_rank_timeout();
  const RankPlace place = rank_place(process_environment());
  if (place.rank > 0) configure_log(log_format(), Verbosity::Quiet);
  Communicator ranks(place, options.train.rank_timeout);
  try {
    RunSettings settings(options.fields(), *options.invocation);
    if (options.mode.plan)
      plan(options, settings);
    else
      train(options, settings, ranks);
  } catch (const PreparationStopped& stopped) {
    if (!received_signal()) ranks.wait_for_all();  // because of a rank that is lost: throws which
    ranks.give_up(stopped.what());
    log_info("stopped before the first update; the same command starts again");
  } catch (const std::exception& error) {
    ranks.give_up(error.what());
    throw;
  }
  return 0;
}

}  // namespace

Command train_command() {
  const auto options = std::make_shared<TrainOptions>();
  options->apply_preset({});
  return {.name = "train",
          .summary = "train a model on parallel text; the same command goes on where it stopped",
          .fields = options->given_fields(),
          .short_flags = {{"o", "output"}},
          .prepare = [options](const auto& given) { options->apply_preset(given); },
          .run = [options] { return run_train(*options); },
          .automatic = automatic_fields(),
          .examples = {"train --train-src a.en --train-tgt a.de -o run/",
                       "train -o run/ --max-updates 200000",
                       "train --train-src a.en --train-tgt a.de -o run/ --max-tokens auto --plan"},
          .invocation = options->invocation};
}

}  // namespace dragoman
