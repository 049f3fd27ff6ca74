// dragoman train: from text files to a model, or from the checkpoint of a run folder onwards.
//
// A start finds facts, one after the other: the checkpoint, the models, the size of the text, the
// tokenizers, the corpus, the machine. Each fact decides more settings (StartSettler). When all are
// known, the Trainer begins. --plan goes the same way, but writes nothing into the run folder and
// prints the plan at the end.
#include <torch/version.h>

#include <memory>
#include <optional>

#include "app/frame/config_file.h"
#include "app/frame/log.h"
#include "app/frame/signals.h"
#include "app/frame/terminal.h"
#include "app/torch/commands.h"
#include "app/torch/train_options.h"
#include "app/torch/train_plan.h"
#include "app/torch/train_start.h"
#include "app/torch/training_view.h"
#include "base/files.h"
#include "model/device.h"
#include "training/ranks/communicator.h"
#include "training/start/start_settler.h"
#include "training/trainer.h"

namespace dragoman {

namespace {

void log_remark(const Remark& remark) {
  remark.kind == Remark::Kind::Warning ? log_warning(remark.text) : log_info(remark.text);
}

/// A progress bar for each stage of preparing the data.
DataObserver shown_stages() {
  return [progress = std::shared_ptr<Progress>(), shown = std::string()](
             std::string_view stage, std::int64_t done, std::int64_t total) mutable {
    if (stage != shown) {
      // A stage of a single step has no fraction to show.
      progress = std::make_shared<Progress>(std::string(stage), "", total > 1 ? total : 0);
      shown = stage;
    }
    progress->update(done);
  };
}

/// Where a run is prepared.
struct Workplace {
  RunFolder folder;
  torch::Device device;
  int ranks;  ///< of the run; the process of a plan is alone
  std::stop_token stop;
};

Preparation preparation_of(const SettledRun& run, const Workplace& place) {
  const RunConfig& config = run.config;
  return {.data = config.data,
          .tokenizer = config.tokenizer,
          .cache_folder = place.folder.corpus(),
          .seed = static_cast<std::uint64_t>(config.train.seed),
          .expected_hashes = run.expected_hashes,
          .observer = shown_stages(),
          .stop = place.stop,
          .threads = static_cast<int>(config.train.threads)};
}

/// Rank 0 first, then one rank of each other host, then the rest: whoever comes later finds the
/// work of an earlier one in the cache folder, if the folder is the same.
PreparedData prepare_in_turn(const SettledRun& run, const Workplace& place, Communicator& ranks) {
  const int turn = ranks.leads() ? 0 : ranks.info().local_rank == 0 ? 1 : 2;
  std::optional<PreparedData> data;
  for (int i = 0; i < 3; ++i) {
    if (i == turn) data = prepare_data(preparation_of(run, place));
    try {
      ranks.wait_for_all();
    } catch (const Error&) {
      if (received_signal()) throw PreparationStopped();  // as all ranks have
      throw;
    }
  }
  return std::move(*data);
}

/// A config.toml that a person has written gets another name. It may be the one of --config.
void keep_given_config(const RunFolder& folder) {
  const std::filesystem::path config = folder.config();
  if (!std::filesystem::exists(config) || is_config_of_a_run(read_file(config))) return;
  const std::filesystem::path kept = config.parent_path() / "config.given.toml";
  if (std::filesystem::exists(kept))
    throw Error(config.string(), ": the settings of the run are written here, and ", kept.string(),
                " is there, too; move one of them away");
  std::filesystem::rename(config, kept);
  log_info(join_text(config.string(), " is ", kept.string(),
                     " now: the settings of the run take its place"));
}

/// A GPU computes while the host packs batches, and is seldom asked for results.
std::size_t updates_ahead(torch::Device device) { return device.is_cpu() ? 1 : 16; }

TrialSettings trial_of(const SettledRun& run, const PreparedData& data, const Workplace& place) {
  const RunConfig& config = run.config;
  return {.config = config.train,
          .model = config.model,
          .precision = resolve_precision(config.train.precision, place.device),
          .device = place.device,
          .data = data,
          .ranks = place.ranks,
          .stop = place.stop};
}

/// In a new run, on rank 0: measures the text and the machine before there is a tokenizer. A run
/// that starts from a model needs none of it.
void find_text_facts(StartSettler& start, const Workplace& place) {
  const SettledRun run = start.run();
  if (!run.config.train.init_from.empty()) return;
  TextFacts text{.size = measure_text(preparation_of(run, place))};
  const auto config_of = [&](Preset preset) {
    const ChosenPreset chosen{.preset = preset, .reason = ""};
    return start.run_with(&StartFacts::text, TextFacts{text.size, chosen}).config;
  };
  if (run.open.contains("preset"))
    text.preset = measure_preset(text.size, {config_of, place.device, place.ranks, place.stop});
  start.learn(&StartFacts::text, std::move(text));
}

/// In a new run, on rank 0: measures the encoded text and the machine.
void find_corpus_facts(StartSettler& start, const PreparedData& data, const Workplace& place) {
  if (start.run().wants_max_tokens())
    start.learn(&StartFacts::max_tokens, automatic_max_tokens(trial_of(start.run(), data, place)));
  start.learn(&StartFacts::corpus, measure_epoch(trial_of(start.run(), data, place)));
}

/// Prepares the text, and finds what is to be known of it. Afterwards the settings of all ranks are
/// decided.
PreparedData prepare(StartSettler& start, const Workplace& place, Communicator& ranks) {
  const bool measures = ranks.leads() && !start.has_begun();
  if (measures) find_text_facts(start, place);
  if (!start.has_begun()) start.share(ranks);
  PreparedData data = prepare_in_turn(start.run(), place, ranks);
  start.learn(&StartFacts::tokenizers, data.tokenizers);
  log_data(data);
  if (!start.has_begun()) warn_of_changed_targets(data);
  if (measures) find_corpus_facts(start, data, place);
  start.share(ranks);
  return data;
}

/// The characters that the model of the run sees, if all are known. A run that has begun keeps the
/// record of its checkpoint.
std::optional<SeenCharacters> seen_characters(const PreparedData& data,
                                              const std::string& init_from,
                                              const InitialModel& initial,
                                              const std::optional<FoundCheckpoint>& found) {
  if (found) return found->characters;
  if (init_from.empty()) return data.characters;
  return joined_characters(data.characters, initial.characters);
}

ModelAttachments attachments_of(RunConfig config, const Invocation& invocation,
                                const PreparedData& data, InitialModel initial,
                                const std::optional<FoundCheckpoint>& found) {
  ModelAttachments attachments;
  attachments.tokenizer_source = data.tokenizers.source->model_bytes();
  if (data.tokenizers.target != data.tokenizers.source)
    attachments.tokenizer_target = data.tokenizers.target->model_bytes();
  attachments.provenance.command = invocation.command_line;
  attachments.provenance.configuration = config_text(config.fields());
  attachments.provenance.seed = config.train.seed;
  attachments.provenance.data = {{"training-text", data.text_hash}};
  attachments.provenance.several_sentences = data.report.several_sentences_fraction();
  attachments.provenance.copied_fractions = data.report.copied_fractions();
  attachments.provenance.copied_fractions.merge(initial.copied_fractions);  // of other kinds
  attachments.provenance.characters = seen_characters(data, config.train.init_from, initial, found);
  if (!initial.checksum.empty()) attachments.provenance.data[kInitFrom] = initial.checksum;
  attachments.provenance.versions = {{"dragoman", DRAGOMAN_VERSION}, {"libtorch", TORCH_VERSION}};
  attachments.decode_defaults = std::move(initial.decode_defaults);
  if (!config.data.guided_alignment.empty()) {  // the head that has learned the alignments
    const std::int64_t layer = config.train.guided_alignment_layer;
    attachments.decode_defaults["attention-layer"] =
        text_of(layer == 0 ? config.model.decoder_layers : layer);
    attachments.decode_defaults["attention-head"] = text_of(config.train.guided_alignment_head);
  }
  return attachments;
}

/// The plan of a run of `info.size` ranks, from this process alone.
void plan(TrainOptions& options, const RankInfo& info) {
  const TrainConfig& asked = options.config.train;
  Communicator alone({}, asked.rank_timeout);
  std::optional<FoundCheckpoint> found;
  if (!asked.output.empty()) {
    require_folder({asked.output});
    found = find_checkpoint_to_resume({asked.output}, log_warning);
    if (!found) require_nothing_to_lose({asked.output});
  }
  StartSettler start(options.request(), found, alone, log_remark);
  const torch::Device device = chosen_device(start.run().config.train.device, info.local_rank);
  use_threads(start.run().config.train.threads, info.local_size);
  const PlanFolder folder(asked.output);
  start.find_models(found);
  const Workplace place{{folder.path()}, device, info.size, listen_for_stop()};
  const PreparedData data = prepare(start, place, alone);
  print_plan(trial_of(start.run(), data, place));
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

/// The checkpoint that rank 0 has found, as this rank sees it. Another host may not have the
/// folder.
std::optional<FoundCheckpoint> own_checkpoint(const StartPoint& point, const RunFolder& folder,
                                              const Communicator& ranks) {
  return ranks.leads() ? point.found : find_checkpoint_to_resume(folder, [](const std::string&) {});
}

void train(TrainOptions& options, Communicator& ranks) {
  const std::stop_token stop = ranks.stop_token(listen_for_stop());
  require_same_configuration(configuration_of(options.config.fields()), ranks);
  options.config.train.check_output();
  const RunFolder folder{options.config.train.output};
  StartPoint point = ranks.leads() ? find_start(folder) : StartPoint{};
  StartSettler start(options.request(), point.found, ranks, log_remark);
  const TrainConfig config = start.run().config.train;  // as far as no text is known
  const torch::Device device = chosen_device(config.device, ranks.info().local_rank);
  const int threads = use_threads(config.threads, ranks.info().local_size);
  if (ranks.leads())
    lock_folder(folder, point);
  else
    create_folders(folder.root);
  const auto own_found = start.has_begun() ? own_checkpoint(point, folder, ranks) : std::nullopt;
  start.find_models(own_found);
  const Workplace place{folder, device, ranks.size(), stop};
  const PreparedData data = prepare(start, place, ranks);
  const Precision precision = resolve_precision(start.run().config.train.precision, device);
  const MachineFacts machine = machine_facts(precision, threads, ranks.size());
  start.learn(&StartFacts::machine, machine);

  const SettledRun settled = start.run();
  if (ranks.leads()) {
    if (!start.has_begun()) keep_given_config(folder);
    write_file(folder.config(), config_toml(settled.config, settled.settings));
    write_file(folder.trained_pairs(), data.survey->trained.bytes());
  }
  TrainingRun run{
      .config = settled.config.train,
      .model = settled.config.model,
      .precision = precision,
      .device = device,
      .folder = folder,
      .attachments =
          attachments_of(settled.config, *options.invocation, data,
                         initial_model(settled.config.train.init_from, own_found), own_found),
      .data = data,
      .threads = threads,
      .updates_ahead = updates_ahead(device),
      .start = {.machine = machine, .file_hashes = data.file_hashes, .settings = settled.settings}};
  require_same_data(run, ranks);
  log_run(run);
  if (ranks.size() > 1) log_info(join_text("training on ", ranks.size(), " ranks"));
  if (ranks.leads() && !start.has_begun())
    log_choices(trial_of(settled, data, place), *start.facts().corpus);
  run_trainer(std::move(run), point.found, ranks, stop);
}

void train_as_rank(TrainOptions& options, const RankInfo& info) {
  Communicator ranks(info, options.config.train.rank_timeout);
  try {
    train(options, ranks);
  } catch (const PreparationStopped& stopped) {
    // No signal: a rank was lost. This call throws the error that names it.
    if (!received_signal()) ranks.wait_for_all();
    ranks.give_up(stopped.what());
    throw;
  } catch (const std::exception& error) {
    ranks.give_up(error.what());
    throw;
  }
}

int run_train(TrainOptions& options) {
  options.config.train.check_rank_timeout();
  const RankInfo info = rank_info(process_environment());
  if (info.rank > 0) configure_log(log_format(), Verbosity::Quiet);
  try {
    if (!options.mode.plan)
      train_as_rank(options, info);
    else if (info.rank == 0)
      plan(options, info);
  } catch (const PreparationStopped&) {
    log_info("stopped before the first update; the same command starts again");
  }
  return 0;
}

}  // namespace

Command train_command() {
  const auto options = std::make_shared<TrainOptions>();
  options->apply_preset({});
  return {.name = "train",
          .summary = "train a model on parallel text; the same command resumes a run that stopped",
          .fields = options->fields(),
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
