// dragoman train: makes a model from text files, or resumes the run of a folder.
//
// A Start finds facts, one after the other: the checkpoint, the models, the size of the text, the
// tokenizers, the corpus, the machine. Each fact settles more of the settings. When all are known,
// the Trainer begins. --plan makes the same Start (train_plan.cpp).
#include <torch/version.h>

#include <iostream>
#include <memory>
#include <optional>
#include <utility>

#include "app/frame/config_file.h"
#include "app/frame/log.h"
#include "app/frame/signals.h"
#include "app/torch/commands.h"
#include "app/torch/train_options.h"
#include "app/torch/train_plan.h"
#include "app/torch/train_start.h"
#include "app/torch/training_view.h"
#include "base/cpu.h"
#include "base/files.h"
#include "training/trainer.h"

namespace dragoman {

namespace {

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

/// What the files of a run have besides the weights. A run that has begun keeps what its checkpoint
/// knows of the model of --init-from.
ModelAttachments attachments_of(RunSettings settings, const std::string& command_line,
                                const PreparedData& data,
                                const std::optional<FoundCheckpoint>& found) {
  ModelAttachments attachments;
  attachments.tokenizer_source = data.tokenizers.source->model_bytes();
  if (data.tokenizers.target != data.tokenizers.source)
    attachments.tokenizer_target = data.tokenizers.target->model_bytes();
  Provenance& provenance = attachments.provenance;
  provenance.command = command_line;
  provenance.configuration = config_text(settings.fields());
  provenance.seed = settings.train.seed;
  provenance.data = {{"training-text", data.text_hash}};
  provenance.several_sentences = data.report.several_sentences_fraction();
  provenance.copied_fractions = data.report.copied_fractions();
  provenance.characters = found ? found->characters : data.characters;
  provenance.source_language = data.languages.source;
  provenance.target_language = data.languages.target;
  provenance.versions = {{"dragoman", DRAGOMAN_VERSION}, {"libtorch", TORCH_VERSION}};
  if (const std::string& init_from = settings.train.init_from; !init_from.empty()) {
    const ModelFileReader model(found ? found->path : resolve_model_path(init_from));
    const std::string checksum = found ? found->initial_checksum : model.checksum();
    if (!checksum.empty()) provenance.data[kInitFrom] = checksum;
    CopiedFractions copied = model.provenance().copied_fractions;
    provenance.copied_fractions.merge(copied);  // of other kinds
    if (provenance.source_language.empty() && provenance.target_language.empty()) {
      provenance.source_language = model.provenance().source_language;
      provenance.target_language = model.provenance().target_language;
    }
    if (!found)
      provenance.characters = joined_characters(data.characters, model.provenance().characters);
    attachments.decode_defaults = model.decode_defaults();
  }
  if (!settings.data.guided_alignment.empty()) {  // the head that has learned the alignments
    const std::int64_t layer = settings.train.guided_alignment_layer;
    attachments.decode_defaults["attention-layer"] =
        text_of(layer == 0 ? settings.model.decoder_layers : layer);
    attachments.decode_defaults["attention-head"] = text_of(settings.train.guided_alignment_head);
  }
  return attachments;
}

/// Rank 0 writes the settings of the run and the hashes of its pairs into the folder.
void write_settings(const Start& start, const PreparedData& data) {
  if (!start.known.resumes) keep_given_config(start.folder);
  write_file(start.folder.config(), config_toml(start.settled.settings));
  write_file(start.folder.trained_pairs(), data.survey->trained.bytes());
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

void train(const TrainOptions& options, Communicator& ranks) {
  Start start{.asked = options.asked(),
              .ranks = ranks,
              .size = ranks.size(),
              .folder = {options.settings.train.output},
              .stop = ranks.stop_token(listen_for_stop()),
              .examination = options.examination};
  require_same_settings(options.settings, ranks);
  options.settings.train.check_output();
  std::optional<LockedFolder> locked;  // by rank 0
  std::optional<FoundCheckpoint> found;
  if (ranks.leads()) {
    if (std::filesystem::is_directory(start.folder.root)) locked.emplace(start.folder);
    found = find_checkpoint(start.folder);
  }
  start.begin(found, ranks.info());
  if (!ranks.leads()) {
    create_folders(start.folder.root);
    if (start.known.resumes)  // another host may not have the folder
      found = find_checkpoint_to_resume(start.folder, [](const std::string&) {});
  } else if (!locked) {
    locked.emplace(start.folder);
  }
  const PreparedData data = start.prepare(found);
  const Precision precision =
      resolve_precision(start.settled.settings.train.precision, start.device);
  start.known.machine = MachineFacts{
      .ranks = ranks.size(),
      .precision = std::string(name_of(precision)),
      .threads = std::to_string(start.threads),
      .processor = join_text(cpu_features().model, " (", cpu_features().instructions, ")")};
  start.settle();

  const RunSettings& settings = start.settled.settings;
  if (ranks.leads()) write_settings(start, data);
  TrainingRun run{
      .config = settings.train,
      .model = settings.model,
      .precision = precision,
      .device = start.device,
      .folder = start.folder,
      .attachments = attachments_of(settings, options.invocation->command_line, data, found),
      .data = data,
      .threads = start.threads,
      .updates_ahead = updates_ahead(start.device),
      .start = settings.record()};
  run.start.machine = *start.known.machine;
  run.start.file_hashes = data.file_hashes;
  require_same_data(run, ranks);
  log_run(run);
  if (ranks.size() > 1) log_info(join_text("training on ", ranks.size(), " ranks"));
  if (start.known.corpus) log_choices(start.trial(data), *start.known.corpus);
  run_trainer(std::move(run), found, ranks, start.stop);
}

void train_as_rank(const TrainOptions& options, const RankInfo& info) {
  Communicator ranks(info, options.settings.train.rank_timeout);
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

int run_train(const TrainOptions& options) {
  if (options.mode.list_presets) {
    std::cout << presets_table();
    return 0;
  }
  options.settings.train.check_rank_timeout();
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

Command train_command(TextExamination examination) {
  const auto options = std::make_shared<TrainOptions>();
  options->examination = std::move(examination);
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
                       "train --train-src a.en --train-tgt a.de -o run/ --plan"},
          .invocation = options->invocation};
}

}  // namespace dragoman
