// dragoman train: from text files to a model, or on from where the run folder stands.
#include <torch/version.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>

#include "app/command.h"
#include "app/config_file.h"
#include "app/log.h"
#include "app/progress.h"
#include "app/signals.h"
#include "app/torch/initial_model.h"
#include "app/torch/train_agreement.h"
#include "app/torch/train_plan.h"
#include "app/torch/training_view.h"
#include "base/cpu.h"
#include "base/files.h"
#include "base/hash.h"
#include "model/device.h"
#include "training/communicator.h"
#include "training/resume.h"
#include "training/trainer.h"

namespace dragoman {

namespace {

struct RunMode {
  bool plan = false;

  template <class Visit>
  void for_each_field(Visit&& visit) {
    visit({.name = "plan",
           .help = "only say what the run would take: memory, speed, time, disk; changes nothing",
           .group = "Run",
           .aliases = "dry-run"},
          plan);
  }
};

struct TrainOptions {
  RunMode mode;  // of the call, not of the run: no checkpoint remembers it
  TrainConfig train;
  ModelConfig model;
  DataConfig data;
  TokenizerConfig tokenizer;
  std::shared_ptr<Invocation> invocation = std::make_shared<Invocation>();

  std::vector<Field> fields() {
    std::vector<Field> all = fields_of(train);
    for (auto& part : {fields_of(data), fields_of(tokenizer), fields_of(model)})
      all.insert(all.end(), part.begin(), part.end());
    return all;
  }
};

/// What the command line may say: all that a run remembers, the mode, and "auto" for --max-tokens.
std::vector<Field> given_fields(TrainOptions& options) {
  std::vector<Field> all = options.fields();
  for (Field& field : all) {
    if (field.info.name != "max-tokens") continue;
    field.assign = [number = field.assign](const std::vector<std::string>& texts) {
      number(texts == std::vector<std::string>{"auto"} ? std::vector<std::string>{"0"} : texts);
    };
  }
  for (Field& field : fields_of(options.mode)) all.push_back(std::move(field));
  return all;
}

using GivenTexts = std::map<std::string, std::vector<std::string>>;

/// The preset's values become the defaults.
void apply_preset(TrainOptions& options, const GivenTexts& given) {
  const auto given_text = [&given](const char* name) {
    const auto found = given.find(name);
    return found == given.end() ? std::string() : found->second.back();
  };
  const Preset preset = given.contains("preset")
                            ? parse_preset(given_text("preset"))
                            : inherited_preset(given_text("init-from"), given_text("output"));
  const std::string output = options.train.output;
  options.train.apply_preset(preset);
  options.train.output = output;
  options.model = ModelConfig::from_preset(preset);
  const bool large = preset == Preset::Base || preset == Preset::Big;
  options.tokenizer.vocab_size = large ? 32'000 : 8'000;
}

void validate(const TrainOptions& options) {
  options.train.validate();
  options.model.validate();
  options.data.validate();
  options.tokenizer.validate();
  const ModelConfig& model = options.model;
  if (options.train.r_drop > 0 &&
      model.dropout + model.attention_dropout + model.activation_dropout == 0)
    throw UsageError(
        "--r-drop: its two passes differ by dropout alone, and every --dropout is 0; raise one, or "
        "leave --r-drop out");
  if (options.train.guided_alignment_layer > model.decoder_layers)
    throw UsageError("--guided-alignment-layer ", options.train.guided_alignment_layer,
                     ": the decoder has ", model.decoder_layers, " layers");
  if (options.train.guided_alignment_head > model.heads)
    throw UsageError("--guided-alignment-head ", options.train.guided_alignment_head,
                     ": a layer has ", model.heads, " heads");
  const std::int64_t longest = options.data.max_length, places = options.model.max_positions;
  if (options.model.positions == Positions::Learned && (longest == 0 || longest >= places))
    throw UsageError("--max-length ", longest, ": the ", places,
                     " learned positions (--max-positions) are for fewer than ", places,
                     " pieces and </s>");
}

PreparedData prepare(const TrainOptions& options, const RunFolder& folder,
                     const std::map<std::string, std::string>& started_with, std::stop_token stop) {
  std::unique_ptr<Progress> progress;
  std::string stage_shown;
  const auto observer = [&](std::string_view stage, std::int64_t done, std::int64_t total) {
    if (stage != stage_shown) {
      progress = std::make_unique<Progress>(std::string(stage), "", total);
      stage_shown = stage;
    }
    progress->update(done);
  };
  return prepare_data({.data = options.data,
                       .tokenizer = options.tokenizer,
                       .cache_folder = folder.corpus(),
                       .seed = static_cast<std::uint64_t>(options.train.seed),
                       .started_with = started_with,
                       .observer = observer,
                       .stop = std::move(stop),
                       .threads = static_cast<int>(options.train.threads)});
}

constexpr const char* kInitFrom = "init-from";

/// Takes over what the model of --init-from decides, and returns the checksum of its file; a run
/// that has begun finds all that in its own checkpoint.
std::string take_initial_model(TrainOptions& options, const std::optional<FoundCheckpoint>& found) {
  const std::string& given = options.train.init_from;
  if (given.empty()) return "";
  const ModelFileReader model(found ? found->path : resolve_model_path(given));
  take_architecture(model, options.invocation->origins, options.model);
  take_tokenizer(model, options.tokenizer);
  validate(options);
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
void complete_model(TrainOptions& options, const Tokenizers& tokenizers) {
  ModelConfig& model = options.model;
  model.source_vocabulary = tokenizers.source->size();
  model.target_vocabulary = tokenizers.target->size();
  model.unk_id = tokenizers.target->unk_id();
  model.bos_id = tokenizers.target->bos_id();
  model.eos_id = tokenizers.target->eos_id();
  if (tokenizers.joint() || model.tying != Tying::ThreeWay) return;
  if (options.invocation->origins.at("tying") != Origin::Default)
    throw UsageError("--tying three-way needs one vocabulary for both sides (--joint-vocab)");
  model.tying = Tying::TwoWay;
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
  if (!initial_checksum.empty()) origin.provenance.data[kInitFrom] = initial_checksum;
  origin.provenance.versions = {{"dragoman", DRAGOMAN_VERSION}, {"libtorch", TORCH_VERSION}};
  return origin;
}

/// Says what a changed setting means; throws where it would make another run.
void check_resume(TrainOptions& options, const TrainingRun& run, const ProgressRecord& progress,
                  int ranks) {
  const auto changes = compare_configuration(options.fields(), progress.configuration);
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
void check_schedule(const TrainOptions& options,
                    const std::map<std::string, std::string>& remembered) {
  const auto end = remembered.find("lr-end");
  if (end == remembered.end() || end->second == std::to_string(options.train.lr_end) ||
      options.invocation->origins.at("lr-end") != Origin::Default)
    return;
  throw UsageError("--max-updates: this run's learning rate ends at update ", end->second,
                   "; to go on behind it with --min-lr, give --lr-end ", end->second,
                   ", or another -o for another run");
}

TrialSettings trial_of(const TrainOptions& options, const PreparedData& data,
                       torch::Device device) {
  return {.config = options.train,
          .model = options.model,
          .precision = resolve_precision(options.train.precision, device),
          .device = device,
          .corpus = data.train,
          .ends = end_ids(data.tokenizers),
          .stop = stop_token()};
}

/// Gives --max-tokens auto its number, which stays the run's.
void settle_max_tokens(TrainOptions& options, const PreparedData& data, torch::Device device) {
  if (options.train.max_tokens == 0)
    options.train.max_tokens = automatic_max_tokens(trial_of(options, data, device));
}

void plan(TrainOptions& options) {
  const torch::Device device = parse_device(options.train.device);
  use_threads(options.train.threads);
  const PlanFolder folder(options.train.output);
  take_initial_model(options, {});
  const PreparedData data = prepare(options, {folder.path()}, {}, stop_token());
  complete_model(options, data.tokenizers);
  log_data(data);
  settle_max_tokens(options, data, device);
  print_plan(trial_of(options, data, device));
}

/// Rank 0 alone reads and locks the run folder.
struct StartPoint {
  std::unique_ptr<FolderLock> lock;
  std::optional<FoundCheckpoint> found;
};

StartPoint find_start(const RunFolder& folder) {
  StartPoint start;
  start.lock = std::make_unique<FolderLock>(
      folder.root, "another training is at work here; wait for its end, or give another -o");
  start.found = find_checkpoint(folder, log_warning);
  return start;
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

void train(TrainOptions& options, Communicator& ranks) {
  const std::stop_token stop = ranks.stop_token(stop_token());
  require_same_configuration(configuration_of(options.fields()), ranks);
  const torch::Device device = parse_device(options.train.device, ranks.place().local_rank);
  const int threads = use_threads(options.train.threads, ranks.place().local_size);
  const RunFolder folder{options.train.output};
  create_folders(folder.root);
  const StartPoint start = ranks.leads() ? find_start(folder) : StartPoint{};
  const std::string initial_checksum = take_initial_model(options, start.found);
  if (start.found) {
    const auto& remembered = start.found->progress.configuration;
    if (options.train.max_tokens == 0)
      options.train.max_tokens = parse_integer("max-tokens", remembered.at("max-tokens"));
    check_schedule(options, remembered);
    compare_configuration(options.fields(), remembered);
  }

  const auto started_with = start.found ? start.found->progress.data : ProgressRecord{}.data;
  const PreparedData data = prepare_in_turn(options, folder, started_with, ranks, stop);
  complete_model(options, data.tokenizers);
  log_data(data);
  if (ranks.leads()) {
    settle_max_tokens(options, data, device);
    write_file(folder.config(), write_config(options.fields()));
  }
  options.train.max_tokens = std::stoll(ranks.broadcast(std::to_string(options.train.max_tokens)));
  TrainingRun run{.config = options.train,
                  .model = options.model,
                  .precision = resolve_precision(options.train.precision, device),
                  .device = device,
                  .folder = folder,
                  .origin = origin_of(options, data, initial_checksum),
                  .data = data,
                  .configuration = configuration_of(options.fields()),
                  .threads = std::to_string(threads),
                  .processor = cpu_features().model + " (" + cpu_features_text() + ")"};
  require_same_data(run, ranks);
  if (start.found) check_resume(options, run, start.found->progress, ranks.size());
  log_run(run);
  if (ranks.size() > 1) log_info(join_text("training on ", ranks.size(), " ranks"));
  run_trainer(std::move(run), start.found, ranks, stop);
}

int run_train(TrainOptions& options) {
  options.train.validate();
  const RankPlace place = rank_place(process_environment());
  if (place.rank > 0) configure_log(log_format(), Verbosity::Quiet);
  Communicator ranks(place, options.train.rank_timeout);
  try {
    validate(options);
    options.train.settle_lr_end();
    if (options.mode.plan)
      plan(options);
    else
      train(options, ranks);
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
  apply_preset(*options, {});
  return {.name = "train",
          .summary = "train a model on parallel text; the same command goes on where it stopped",
          .fields = given_fields(*options),
          .short_flags = {{"o", "output"}},
          .prepare = [options](const GivenTexts& given) { apply_preset(*options, given); },
          .run = [options] { return run_train(*options); },
          .examples = {"train --train-src a.en --train-tgt a.de -o run/ --preset tiny",
                       "train --config run/config.toml --max-updates 200000",
                       "train --train-src a.en --train-tgt a.de -o run/ --max-tokens auto --plan"},
          .invocation = options->invocation};
}

}  // namespace dragoman
