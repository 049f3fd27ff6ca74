// dragoman train: makes a model from text files, or resumes the run of a folder.
//
// A Start finds facts, one after the other: the checkpoint, the models, the size of the text, the
// tokenizers, the corpus, the machine. Each fact settles more of the settings. When all are known,
// the Trainer begins. --plan makes the same Start.
#include <torch/version.h>

#include <cmath>
#include <filesystem>
#include <iostream>
#include <optional>
#include <vector>

#include "app/commands/train_options.h"
#include "app/frame/config_file.h"
#include "app/frame/log.h"
#include "app/frame/signals.h"
#include "app/torch/commands.h"
#include "app/torch/train_start.h"
#include "app/torch/training_view.h"
#include "base/cpu.h"
#include "base/files.h"
#include "base/formatted_text.h"
#include "base/json.h"
#include "base/machine.h"
#include "training/trainer.h"

namespace dragoman {

namespace {

namespace fs = std::filesystem;

/// A config.toml that a person has written gets another name. It may be the one of --config.
void keep_given_config(const RunFolder& folder) {
  const fs::path config = folder.config();
  if (!fs::exists(config) || is_config_of_a_run(read_file(config))) return;
  const fs::path kept = config.parent_path() / "config.given.toml";
  if (fs::exists(kept))
    throw Error(config.string(), ": the settings of the run are written here, and ", kept.string(),
                " exists, too; move one of them away");
  fs::rename(config, kept);
  log_info(join_text(config.string(), " is ", kept.string(),
                     " now: the settings of the run take its place"));
}

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
  provenance.copied_fractions = copied_fractions(data.report.copy_counts);
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

void run_trainer(const TrainingRun& run, const std::optional<FoundCheckpoint>& found,
                 Communicator& ranks, const std::stop_token& stop) {
  if (!ranks.leads()) {
    TrainingObserver silent;  // rank 0 shows everything
    Trainer(run, ranks, silent).train(stop);
    return;
  }
  const TrainConfig& config = run.config;
  const std::size_t stages = run.data.stage_passes.size();
  TrainingView view(config, found ? found->progress.update : 0);
  Trainer trainer(run, ranks, view);
  if (found) {
    trainer.resume(*found);
    log_info(join_text(
        "resumed from ", found->path.string(), " at update ", found->progress.update,
        stages > 1 ? join_text(", in stage ", found->progress.stage.number + 1, " of ", stages)
                   : ""));
  } else if (!config.init_from.empty()) {
    trainer.start_from(resolve_model_path(config.init_from));
    log_info("starting from the weights, tokenizer and architecture of " + config.init_from);
  }
  const StopReason reason = trainer.train(stop);
  view.close();
  log_end(reason, trainer.progress(), run.folder, config);
}

/// Says what a longer training would gain, if that is known. `seconds`: those of the updates of
/// this run, if they are known.
void log_longer_training(const TrainOptions& options, const Start& start,
                         const std::optional<double>& seconds) {
  const Preset preset = start.settled.settings.train.preset;
  const bool is_small = preset == Preset::Tiny || preset == Preset::Small;  // as those measured
  if (!seconds || !is_small || start.known.ranks > 1 || !options.longer_training) return;
  const std::string hint = options.longer_training(options.invocation.given, *seconds);
  if (!hint.empty()) log_info(hint);
}

void train(const TrainOptions& options, Communicator& ranks) {
  Start start{.asked = options.asked(),
              .ranks = ranks,
              .folder = {options.settings.train.output},
              .stop = ranks.stop_token(listen_for_stop()),
              .examination = options.examination,
              .known = {.ranks = ranks.size()}};
  require_same_settings(options.settings, ranks);
  options.settings.train.check_output();
  std::optional<LockedFolder> locked;  // by rank 0
  std::optional<FoundCheckpoint> found;
  if (ranks.leads()) {
    if (fs::is_directory(start.folder.root)) locked.emplace(start.folder);
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
      .attachments = attachments_of(settings, options.invocation.command_line, data, found),
      .data = data,
      .threads = start.threads,
      .updates_ahead = start.device.is_cpu() ? 1U : 16U,  // a GPU computes while batches are packed
      .start = settings.record()};
  run.start.machine = *start.known.machine;
  run.start.file_hashes = data.file_hashes;
  require_same_data(run, ranks);
  log_run(run);
  if (ranks.size() > 1) log_info(join_text("training on ", ranks.size(), " ranks"));
  if (start.known.corpus)
    log_longer_training(options, start, log_choices(start.trial(data), *start.known.corpus));
  run_trainer(run, found, ranks, start.stop);
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

// ---- --plan: what a run would take --------------------------------------------------------------

std::string whole(double number) { return with_separators(std::llround(number)); }

void print_line(std::string name, const std::string& value) {
  constexpr std::size_t kColumn = 30;
  if (name.size() < kColumn) name.append(kColumn - name.size(), ' ');
  std::cout << name << value << '\n';
}

void print_memory(const RunPlan& plan, const TrialSettings& settings) {
  const MemoryPlan& memory = plan.memory;
  const bool on_cpu = settings.device.is_cpu();
  const auto part = [](const char* name, std::int64_t bytes) {
    if (bytes > 0) print_line(join_text("  ", name), bytes_text(bytes));
  };
  print_line("memory", on_cpu
                           ? join_text(bytes_text(plan.resident + memory.total()), "; ",
                                       bytes_text(available_memory()), " are free")
                           : bytes_text(memory.total() - memory.activations) + " and activations");
  if (on_cpu) part("program and text", plan.resident);
  part(settings.config.ema > 0 ? "weights, and their average" : "weights", memory.weights);
  part("moments", memory.moments);
  part("gradients", memory.gradients);
  part("bf16 copy", memory.compute_copy);
  part("logits", memory.logits);
  if (on_cpu) part("activations", memory.activations);
}

/// The plan for other programs; "updates" and "seconds" are null if --patience alone ends the run.
nlohmann::ordered_json plan_json(const RunPlan& plan, const TrialSettings& settings) {
  const auto& end = plan.outlook.end;
  const auto null_or = [&end](auto value) {
    return end ? nlohmann::ordered_json(value(*end)) : nullptr;
  };
  return {{"preset", name_of(settings.config.preset)},
          {"parameters", plan.parameters},
          {"max_tokens", settings.config.max_tokens},
          {"target_tokens_per_second", plan.usual.target_tokens_per_second},
          {"seconds_per_update", plan.seconds_per_update},
          {"updates_per_epoch", plan.updates_per_epoch},
          {"updates", null_or([](const ExpectedEnd& e) { return std::llround(e.updates_left); })},
          {"seconds", null_or([](const ExpectedEnd& e) { return e.seconds_left; })},
          {"memory_bytes", plan.resident + plan.memory.total()},
          {"disk_bytes", plan.disk_bytes}};
}

/// Prints the stages of --mix, if there are several, and names the one that a run is in.
void print_stages(const PreparedData& data, const std::optional<FoundCheckpoint>& found) {
  const std::int64_t stages = std::ssize(data.stage_passes);
  for (std::int64_t stage = 0; stages > 1 && stage < stages; ++stage) {
    const auto at = static_cast<std::size_t>(stage);
    const std::int64_t passes = data.stage_passes[at];
    const bool is_last = stage + 1 == stages;
    std::vector<double> weights;
    for (const CorpusSection& section : data.sections) weights.push_back(section.weights[at]);
    print_line(
        join_text("stage ", stage + 1, " of ", stages),
        join_text(is_last      ? "to the end"
                  : passes > 0 ? counted(passes, "pass", "passes")
                               : "until --patience is used up",
                  "; weights ", weights_text(weights),
                  found && found->progress.stage.number == stage ? "; the run is in it" : ""));
  }
}

/// Prints the plan of a run on standard output.
void print_plan(const RunPlan& plan, const TrialSettings& settings) {
  const auto preset = settings.config.preset;
  print_line("parameters",
             join_text(with_separators(plan.parameters), "; --preset ", name_of(preset)));
  if (settings.ranks > 1)
    print_line("ranks", join_text(settings.ranks, "; memory and speed are of one"));
  print_line("--max-tokens", with_separators(settings.config.max_tokens));
  print_memory(plan, settings);
  print_line("target pieces per second",
             join_text(whole(plan.usual.target_tokens_per_second), "; ",
                       whole(plan.longest.target_tokens_per_second), " on the longest sentences"));
  print_line("update", join_text(fixed_text(plan.seconds_per_update, 2), " s; ",
                                 whole(plan.updates_per_epoch), " an epoch, which takes ",
                                 duration_text(plan.updates_per_epoch * plan.seconds_per_update)));
  const auto& first = plan.outlook.seconds_to_validation;
  print_line("first validation",
             first ? "after " + duration_text(*first) : "none: there is no validation text");
  const auto end_text = [](const ExpectedEnd& end) {
    return join_text(duration_text(end.seconds_left), " for ",
                     counted(std::llround(end.updates_left), "update"),
                     ", without the validations");
  };
  const auto& end = plan.outlook.end;
  print_line("run", end ? end_text(*end) : "until --patience is over: no other limit is set");
  if (plan.outlook.end_without_gain)
    print_line("earliest end", end_text(*plan.outlook.end_without_gain));
  print_line("disk", join_text(bytes_text(plan.disk_bytes), "; ", bytes_text(plan.checkpoint_bytes),
                               " a checkpoint"));
}

/// Fills a temporary folder with links to the token cache of the run that is planned. A new file
/// takes the place of a link, and is removed with the folder.
void link_cache(const RunFolder& run, const RunFolder& planned) {
  fs::create_directory(planned.corpus());
  if (run.root.empty()) return;
  const RunFolder there{fs::absolute(run.root)};
  std::error_code none;  // a missing cache has no files
  for (const auto& entry : fs::directory_iterator(there.corpus(), none))
    fs::create_symlink(entry.path(), planned.corpus() / entry.path().filename());
}

/// Prints the plan of a run of `info.size` ranks, from this process alone. Writes nothing into the
/// run folder.
void plan(const TrainOptions& options, const RankInfo& info) {
  const TrainConfig& asked = options.settings.train;
  const RunFolder folder{asked.output};
  Communicator alone({}, asked.rank_timeout);
  const ScratchFolder scratch(fs::temp_directory_path() / "dragoman-plan-");
  Start start{.asked = options.asked(),
              .ranks = alone,
              .folder = {scratch.path()},
              .stop = listen_for_stop(),
              .examination = options.examination,
              .known = {.ranks = info.size}};
  const auto found = asked.output.empty() ? std::nullopt : find_checkpoint(folder);
  start.begin(found, info);
  link_cache(folder, start.folder);
  const PreparedData data = start.prepare(found);
  const TrialSettings trial = start.trial(data);
  const RunPlan plan = plan_run(trial);
  if (log_format() == LogFormat::Json) {
    std::cout << json_text(plan_json(plan, trial)) << '\n';
    return;
  }
  print_plan(plan, trial);
  print_stages(data, found);
  if (!found && plan.outlook.end)
    log_longer_training(options, start, plan.seconds_per_update * plan.outlook.end->updates_left);
}

}  // namespace

// ---- the command --------------------------------------------------------------------------------

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

}  // namespace dragoman
