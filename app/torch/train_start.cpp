#include "app/torch/train_start.h"

#include <c10/core/DeviceType.h>
#include <torch/version.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <memory>
#include <system_error>
#include <utility>

#include "app/frame/log.h"
#include "app/frame/signals.h"
#include "app/frame/terminal.h"
#include "app/torch/commands.h"
#include "app/torch/training_view.h"
#include "base/bytes.h"
#include "base/error.h"
#include "base/formatted_text.h"
#include "base/machine.h"
#include "evaluation/bleu_tokenizer.h"
#include "evaluation/line_statistics.h"
#include "model/device.h"
#include "model/ops/device_graph.h"

namespace dragoman {

// ---- the folder ---------------------------------------------------------------------------------

LockedFolder::LockedFolder(RunFolder folder)
    : folder_(std::move(folder)), made_(!std::filesystem::exists(folder_.root)) {
  create_folders(folder_.root);
  lock_.emplace(folder_.root,
                "another training is running here; wait until it ends, or give another -o");
  for (const auto& part : {folder_.root, folder_.checkpoints(), folder_.corpus()})
    remove_leftovers(part);
}

LockedFolder::~LockedFolder() {
  if (!made_) return;
  std::error_code not_empty;
  std::filesystem::remove(folder_.corpus(), not_empty);
  std::filesystem::remove(folder_.root, not_empty);
}

std::optional<FoundCheckpoint> find_checkpoint(const RunFolder& folder) {
  std::filesystem::path place = std::filesystem::absolute(folder.root);
  while (!std::filesystem::exists(place)) place = place.parent_path();
  if (!std::filesystem::is_directory(place))
    throw Error(place.string(), ": is not a folder; give another -o, a folder for the run");
  auto found = find_checkpoint_to_resume(folder, log_warning);
  if (found) return found;
  for (const auto& path : {folder.model(), folder.best(), folder.log()})
    if (std::filesystem::is_regular_file(path))
      throw Error(
          path.string(),
          ": exists, but has no checkpoint to resume from; give another -o for another run, "
          "or remove it");
  return std::nullopt;
}

// ---- measurements -------------------------------------------------------------------------------

namespace {

std::int64_t parameters_of(const ModelConfig& model) { return FlatLayout(model).parameters(); }

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
    return trial.seconds_per_update(trial.usual_batches());
  } catch (const std::exception& problem) {
    if (!is_out_of_memory(problem)) throw;
  }
  give_back_freed_memory();
  return 0;
}

/// The token budget that fits into the GPU's memory. Logs the budgets that were tried.
std::int64_t automatic_max_tokens(const TrialSettings& settings) {
  log_info("--max-tokens auto: trying token budgets");
  const ChosenBudget chosen = largest_budget(settings);
  const auto text_of_trial = [](const BudgetTrial& trial) {
    return join_text(with_separators(trial.max_tokens), " ",
                     trial.memory ? bytes_text(*trial.memory) : "too many");
  };
  log_info(join_text("--max-tokens auto: ", with_separators(chosen.max_tokens),
                     " (memory of an update: ", joined(chosen.trials, ", ", text_of_trial), ")"));
  return chosen.max_tokens;
}

/// The facts of the encoded text, with the settings of the trial. An update is timed only if
/// --max-time asks for it.
EpochFacts measure_epoch(const TrialSettings& trial) {
  const Corpus& corpus = trial.data.train;
  const EpochPlan epoch = first_epoch(trial);
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

/// The seconds that the run would take with a preset, or none if memory does not suffice. Measures
/// the speed on random sentences as long as those of the text.
std::optional<double> seconds_with(Preset preset, const Start& start) {
  StartFacts known = start.known;
  known.preset = ChosenPreset{.preset = preset, .reason = ""};
  RunSettings settings = settle(start.asked, known).settings;
  const TrainConfig& train = settings.train;
  ModelConfig& model = settings.model;
  model.source_vocabulary = model.target_vocabulary = settings.tokenizer.vocab_size;
  model.check();
  const CorpusSize corpus = estimated_size(*known.text);
  const std::int64_t length =
      corpus.target_tokens / std::max<std::int64_t>(1, corpus.pairs) + 1;  // </s>
  const double speed =
      measured_speed({.model = model,
                      .precision = resolve_precision(train.precision, start.device),
                      .device = start.device,
                      .text = {.vocabulary = model.target_vocabulary,
                               .length = std::clamp<std::int64_t>(length, 1, train.max_tokens),
                               .spread = 0,
                               .batch_tokens = train.max_tokens},
                      .loss = train.loss(),
                      .update_freq = train.update_freq,
                      .stop = start.stop});
  if (speed == 0) return std::nullopt;
  return target_tokens_of_run(corpus, train, known.ranks) / (known.ranks * speed);
}

// ---- the text -----------------------------------------------------------------------------------

/// A progress bar for each stage of preparing the data.
DataObserver shown_stages() {
  return [progress = std::shared_ptr<Progress>(), shown = std::string()](
             const DataStage& stage, std::int64_t done, std::int64_t total) mutable {
    if (stage.name != shown) {
      // A stage of a single step has no fraction to show.
      progress = std::make_shared<Progress>(std::string(stage.name), std::string(stage.unit),
                                            total > 1 ? total : 0);
      shown = stage.name;
    }
    progress->update(done);
  };
}

Preparation preparation_of(const Start& start) {
  const RunSettings& settings = start.settled.settings;
  return {.data = settings.data,
          .tokenizer = settings.tokenizer,
          .cache_folder = start.folder.corpus(),
          .seed = static_cast<std::uint64_t>(settings.train.seed),
          .expected_hashes = start.settled.expected_hashes,
          .observer = shown_stages(),
          .stop = start.stop,
          .threads = static_cast<int>(settings.train.threads)};
}

/// Rank 0 first, then one rank of each other host, then the rest: whoever comes later finds the
/// work of an earlier one in the cache folder, if the folder is the same.
PreparedData prepare_in_turn(const Start& start) {
  const RankInfo& info = start.ranks.info();
  const int turn = start.ranks.leads() ? 0 : info.local_rank == 0 ? 1 : 2;
  std::optional<PreparedData> data;
  for (int i = 0; i < 3; ++i) {
    if (i == turn) data = prepare_data(preparation_of(start));
    try {
      start.ranks.wait_for_all();
    } catch (const Error&) {
      if (received_signal()) throw PreparationStopped();  // as all ranks have
      throw;
    }
  }
  return std::move(*data);
}

/// In a new run, on rank 0: measures the text and the machine before there is a tokenizer. A run
/// that starts from a model needs none of it.
void find_text_facts(Start& start) {
  const RunSettings& settings = start.settled.settings;
  if (!settings.train.init_from.empty()) return;
  start.known.text = measure_text(preparation_of(start));
  if (settings.is_open("preset"))
    start.known.preset = preset_for(
        *start.known.text, [&start](Preset preset) { return seconds_with(preset, start); });
  start.settle();
}

/// Whether no line has four words in a row.
bool are_short(const std::vector<std::string>& references) {
  const Tokenization words = tokenization_of(BleuTokenizer::V13a);
  return std::ranges::none_of(references, [&words](const std::string& line) {
    return split_words(words.apply(line)).size() >= 4;
  });
}

/// In a new run, on rank 0: measures the encoded text and the machine.
void find_corpus_facts(Start& start, const PreparedData& data) {
  const RunSettings& settings = start.settled.settings;
  const std::vector<std::string>& references = data.valid.target_lines;
  start.known.has_short_references = !references.empty() && are_short(references);
  if (start.known.on_gpu && settings.asks_auto("max-tokens") && settings.is_open("max-tokens")) {
    start.known.max_tokens = automatic_max_tokens(start.trial(data));
    start.settle();
  }
  start.known.corpus = measure_epoch(start.trial(data));
  start.settle();
}

}  // namespace

// ---- the settings -------------------------------------------------------------------------------

void Start::settle() {
  const std::size_t told = settled.remarks.size();
  settled = dragoman::settle(asked, known);
  for (std::size_t i = told; i < settled.remarks.size(); ++i) {
    const Remark& remark = settled.remarks[i];
    remark.kind == Remark::Kind::Warning ? log_warning(remark.text) : log_info(remark.text);
  }
}

void Start::begin(const std::optional<FoundCheckpoint>& found, const RankInfo& info) {
  known.take_checkpoint(found, ranks);
  settle();
  device = chosen_device(settled.settings.train.device, info.local_rank);
  if (settled.settings.train.device_graph && !DeviceGraph::is_available(device))
    throw UsageError("--device-graph: needs a GPU, and either LibTorch 2.12 or CUDA's headers");
  known.on_gpu = device.is_cuda();
  threads = use_threads(settled.settings.train.threads, info.local_size);
}

PreparedData Start::prepare(const std::optional<FoundCheckpoint>& found) {
  known.find_models(settled.settings, found);
  settle();
  const bool is_new = !known.resumes, measures = is_new && ranks.leads();
  const auto share = [this] {
    known.share(settled.settings.record(), ranks);
    settle();
  };
  if (measures) find_text_facts(*this);
  if (is_new) share();
  PreparedData data = prepare_in_turn(*this);
  known.tokenizers = data.tokenizers;
  settle();
  log_data(data);
  log_survey(data.survey->survey, examination ? examination(settled.settings.data) : "");
  if (is_new) warn_of_changed_targets(data);
  if (measures) find_corpus_facts(*this, data);
  share();
  return data;
}

TrialSettings Start::trial(const PreparedData& data) const {
  const RunSettings& settings = settled.settings;
  return {.config = settings.train,
          .model = settings.model,
          .precision = resolve_precision(settings.train.precision, device),
          .device = device,
          .data = data,
          .ranks = known.ranks,
          .stop = stop};
}

namespace {

/// "the run shows each pair of a.en 5.3 times, of b.en 42 times"; with a stage whose end is not
/// known, "if stage 2 lasts to the end, the run shows each pair ..."
std::string shown_text(const PreparedData& data, double updates, double updates_per_epoch) {
  const std::vector<double> times = data.times_shown(updates, updates_per_epoch);
  std::vector<std::string> texts;
  for (std::size_t i = 0; i < times.size(); ++i)
    texts.push_back(
        join_text("of ", data.sections[i].name, " ",
                  times[i] < 10 ? fixed_text(times[i], 1) : with_separators(std::llround(times[i])),
                  " times"));
  const auto open = std::ranges::find(data.stage_passes, 0) - data.stage_passes.begin() + 1;
  return join_text(open < std::ssize(data.stage_passes)
                       ? join_text("if stage ", open, " lasts to the end, ")
                       : "",
                   "the run shows each pair ", joined(texts, ", "));
}

}  // namespace

std::optional<double> log_choices(const TrialSettings& trial, const EpochFacts& corpus) {
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
  if (end && trial.data.sections.size() > 1)
    log_info(shown_text(trial.data, end->updates_left, corpus.updates_per_epoch));
  const ModelSize size{.parameters = parameters_of(trial.model),
                       .fitting = parameters_of(fitting_model(trial.model, corpus.size))};
  for (const std::string& doubt : doubtful_choices(config, trial.model, size, corpus.size, pace))
    log_warning(doubt);
  if (!end || seconds <= 0) return std::nullopt;
  return seconds * end->updates_left;
}

// ---- several ranks ------------------------------------------------------------------------------

namespace {

std::string hash_of(const std::string& bytes) { return hex16(xxh3(bytes)); }

std::string hash_of(const std::map<std::string, std::string>& files) {
  std::string all;
  for (const auto& [path, hash] : files) all += hash;
  return hash_of(all);
}

}  // namespace

void require_same_settings(RunSettings settings, Communicator& ranks) {
  if (const auto text = find_disagreement(
          ranks, {{"dragoman's version", DRAGOMAN_VERSION}, {"LibTorch's version", TORCH_VERSION}});
      !text.empty())
    throw Error(text, "; install the same on all hosts");
  CommonFacts facts;
  for (const auto& [name, value] : configuration_of(settings.fields()))
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

}  // namespace dragoman
