#include "training/trainer.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/files.h"
#include "base/random.h"
#include "training/schedule.h"
#include "training/split_update.h"

namespace dragoman {

namespace {

Schedule schedule_of(const TrainingRun& run) {
  return {.scheduler = run.config.scheduler,
          .peak = run.config.lr,
          .warmup = run.config.warmup_updates,
          .end = run.config.lr_end,
          .floor = run.config.min_lr,
          .d_model = run.model.d_model};
}

/// What a rollback does to the learning rate.
constexpr double kRollbackRate = 0.5;

AdamConfig adam_of(const TrainConfig& config) {
  return {config.adam_beta1, config.adam_beta2, config.adam_eps, config.weight_decay};
}

nlohmann::ordered_json to_json(const UpdateFacts& facts) {
  return {{"type", "update"},
          {"epoch", facts.epoch},
          {"update", facts.update},
          {"loss", facts.loss},
          {"perplexity", facts.perplexity},
          {"gradient_norm", facts.gradient_norm},
          {"learning_rate", facts.learning_rate},
          {"source_tokens_per_second", facts.source_tokens_per_second},
          {"target_tokens_per_second", facts.target_tokens_per_second},
          {"data_wait", facts.data_wait},
          {"target_tokens", facts.target_tokens},
          {"elapsed", facts.elapsed}};
}

}  // namespace

Trainer::Trainer(TrainingRun run, TrainingObserver& observer)
    : run_(std::move(run)),
      observer_(observer),
      model_(run_.model, adam_of(run_.config), run_.precision, run_.device,
             static_cast<std::uint64_t>(run_.config.seed)),
      validator_(run_.data, run_.config) {
  if (run_.config.ema > 0) model_.keep_average(run_.config.ema);
  create_folders(run_.folder.checkpoints());
  remove_leftovers(run_.folder.root);
  remove_leftovers(run_.folder.checkpoints());
  progress_.history.lowest_loss = std::log(run_.model.target_vocabulary);  // that of guessing
}

void Trainer::resume(const FoundCheckpoint& checkpoint) {
  if (checkpoint.progress.data != run_.data.text_hash)
    throw Error(run_.folder.root.string(),
                ": the training text is not the one that this run was started with; restore it, or "
                "give another -o for another run");
  load_checkpoint(checkpoint.path, model_);
  progress_ = checkpoint.progress;
  if (progress_.rollbacks > 0) remove_checkpoints_after(run_.folder, progress_.update);
  if (checkpoint.path == run_.folder.at_update(progress_.update))
    numbered_update_ = progress_.update;
}

double Trainer::seconds_here() const {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
}

StopReason Trainer::train(std::stop_token stop) {
  start_ = std::chrono::steady_clock::now();
  seconds_before_ = progress_.seconds;
  progress_.precision = names_of(run_.precision)[static_cast<std::size_t>(run_.precision)];
  progress_.threads = run_.threads;
  progress_.processor = run_.processor;
  progress_.data = run_.data.text_hash;
  progress_.configuration = run_.configuration;
  open_log();

  open_stream();
  // Something to roll back to; and a disk that cannot hold a checkpoint is better found now.
  if (progress_.update == 0) try_to("checkpoint", [this] { save(run_.folder.latest()); });
  std::optional<StopReason> reason;
  while (do_what_is_due(stop) && !(reason = reason_to_stop(stop))) {
    update();
    if (has_diverged(progress_.history)) {
      roll_back();
    } else if (progress_.update % run_.config.log_every == 0) {
      log_update();
    }
  }
  if (reason.value_or(StopReason::Requested) != StopReason::Requested) finish(stop);
  if (!stop.stop_requested()) return *reason;
  save(run_.folder.latest());
  return StopReason::Requested;
}

bool Trainer::do_what_is_due(std::stop_token stop) {
  const std::int64_t update = progress_.update;
  if (update == 0) return true;
  const bool unvalidated = progress_.validated_update != update;
  if (update % run_.config.valid_every == 0 && unvalidated && !validate(stop)) return false;
  if (update % run_.config.save_interval() == 0 && numbered_update_ != update)
    try_to("checkpoint", [this] { save_numbered(); });
  else if (seconds_here() - last_save_ > run_.config.save_minutes * 60)
    try_to("checkpoint", [this] { save(run_.folder.latest()); });
  return true;
}

std::optional<StopReason> Trainer::reason_to_stop(const std::stop_token& stop) const {
  const TrainConfig& config = run_.config;
  const auto reached = [](std::int64_t value, std::int64_t limit) {
    return limit > 0 && value >= limit;
  };
  if (stop.stop_requested()) return StopReason::Requested;
  if (reached(progress_.update, config.max_updates)) return StopReason::MaxUpdates;
  if (reached(progress_.epoch, config.max_epochs)) return StopReason::MaxEpochs;
  if (reached(progress_.without_best, config.patience)) return StopReason::Patience;
  const double limit = config.max_seconds();
  if (limit > 0 && seconds_before_ + seconds_here() >= limit) return StopReason::MaxTime;
  return std::nullopt;
}

/// Each rollback begins another order of the same text.
void Trainer::open_stream() {
  const auto seed = static_cast<std::uint64_t>(run_.config.seed);
  const PlanConfig plan{run_.config.max_tokens, run_.config.max_sentences,
                        progress_.rollbacks == 0
                            ? seed
                            : random_bits(seed, static_cast<std::uint64_t>(progress_.rollbacks))};
  stream_.emplace(run_.data.train, plan, end_ids(run_.data.tokenizers),
                  DataPosition{progress_.epoch, progress_.batch});
}

void Trainer::update() {
  const std::int64_t number = progress_.update + 1;
  std::vector<PackedBatch> batches;
  std::vector<std::int64_t> sentences;
  for (std::int64_t i = 0; i < run_.config.update_freq; ++i) {
    batches.push_back(stream_->next());
    const auto& numbers = batches.back().sentences;
    sentences.insert(sentences.end(), numbers.begin(), numbers.end());
  }
  const BatchLoss sums = accumulate(batches);
  const double loss = sums.smoothed / static_cast<double>(sums.target_tokens);
  const double longest = longest_gradient(progress_.history, loss, run_.config.spike_factor);
  const double norm = model_.step(
      {.target_tokens = sums.target_tokens,
       .learning_rate = learning_rate(schedule_of(run_), number) * progress_.rate_factor,
       .clip_norm = run_.config.clip_norm,
       .longest_gradient = longest});
  progress_.update = number;
  progress_.epoch = stream_->position().epoch;
  progress_.batch = stream_->position().batch;
  progress_.source_tokens += sums.source_tokens;
  progress_.target_tokens += sums.target_tokens;
  progress_.seconds = seconds_before_ + seconds_here();
  if (std::isfinite(norm) && norm <= longest) {
    note_made(progress_.history, loss, norm);
    interval_.gradient_norm += norm;
    interval_.sums += sums;
    ++interval_.updates;
  } else {
    leave_out(sentences, loss, norm);
  }
  observer_.updated(progress_, loss);
}

BatchLoss Trainer::accumulate(const std::vector<PackedBatch>& batches) {
  UpdatePart part{.update = progress_.update + 1,
                  .loss = run_.config.loss(),
                  .token_budget = progress_.token_budget};
  for (;;) {
    if (const auto sums = try_to_accumulate(model_, batches, part)) return *sums;
    part.token_budget = progress_.token_budget = lowered_budget(batches, part.token_budget);
    observer_.warned(join_text("update ", part.update,
                               ": memory has run out; batches of more than ", part.token_budget,
                               " pieces on a side are trained on in parts from here on, which "
                               "changes no update"));
    // Before it acts: a run that is resumed makes the same parts.
    try_to("checkpoint", [this] { save(run_.folder.latest()); });
  }
}

void Trainer::leave_out(const std::vector<std::int64_t>& sentences, double loss, double norm) {
  ++progress_.skipped;
  note_left_out(progress_.history);
  const bool finite = std::isfinite(loss) && std::isfinite(norm);
  const char* why = finite ? "spike" : "not finite";
  std::vector<std::int64_t> lines;
  for (const std::int64_t sentence : sentences) lines.push_back(run_.data.train.line(sentence) + 1);
  std::sort(lines.begin(), lines.end());
  append_log(nlohmann::ordered_json{{"type", "left_out"},
                                    {"update", progress_.update},
                                    {"reason", why},
                                    {"loss", loss},
                                    {"gradient_norm", norm},
                                    {"lines", lines}});
  observer_.warned(join_text(
      "update ", progress_.update, " left out: ",
      finite ? "its loss or gradient is far above the usual" : "its loss or gradient is not finite",
      " (loss ", loss, ", gradient norm ", norm, "); the numbers of its ", lines.size(),
      " training lines are in ", run_.folder.log().string(),
      "; left out so far: ", progress_.skipped));
}

void Trainer::roll_back() {
  const std::string advice = "start again with a lower --lr, or more --warmup-updates";
  if (progress_.rollbacks >= run_.config.max_rollbacks)
    throw Error("training has diverged at update ", progress_.update, ", after ",
                progress_.rollbacks, " rollbacks; ", advice);
  const auto warn = [this](const std::string& text) { observer_.warned(text); };
  const auto sound = find_checkpoint(run_.folder, warn, [this](const ProgressRecord& progress) {
    return is_sound(progress.history, progress_.update - progress.update);
  });
  if (!sound)
    throw Error("training has diverged at update ", progress_.update,
                ", and no earlier checkpoint is there to roll back to; ", advice);
  const ProgressRecord diverged = progress_;
  load_checkpoint(sound->path, model_);
  progress_ = sound->progress;
  progress_.rollbacks = diverged.rollbacks + 1;
  progress_.rate_factor = diverged.rate_factor * kRollbackRate;
  progress_.skipped = diverged.skipped;
  progress_.token_budget = diverged.token_budget;
  progress_.best_update = diverged.best_update;  // its model is in the folder
  progress_.best_value = diverged.best_value;
  progress_.configuration = diverged.configuration;
  append_log(nlohmann::ordered_json{{"type", "rollback"},
                                    {"update", diverged.update},
                                    {"to_update", progress_.update},
                                    {"rate_factor", progress_.rate_factor}});
  open_events();
  observer_.warned(join_text("training has diverged at update ", diverged.update,
                             ": rolled back to update ", progress_.update, " (",
                             sound->path.string(), "), to go on with ", progress_.rate_factor,
                             " of the learning rate and another order of the text"));
  if (try_to("checkpoint", [this] { save(run_.folder.latest()); }))
    remove_checkpoints_after(run_.folder, progress_.update);
  numbered_update_ =
      std::filesystem::exists(run_.folder.at_update(progress_.update)) ? progress_.update : 0;
  interval_ = {.sums = {}, .gradient_norm = 0, .waited = 0, .start = seconds_here(), .updates = 0};
  open_stream();
}

void Trainer::log_update() {
  if (interval_.updates == 0) return;  // all were left out, and said so
  const double now = seconds_here();
  const double seconds = std::max(1e-9, now - interval_.start);
  const auto tokens = static_cast<double>(interval_.sums.target_tokens);
  const auto updates = static_cast<double>(interval_.updates);
  const UpdateFacts facts{
      .epoch = progress_.epoch + 1,
      .update = progress_.update,
      .loss = interval_.sums.smoothed / tokens,
      .perplexity = std::exp(interval_.sums.negative_log_likelihood / tokens),
      .gradient_norm = interval_.gradient_norm / updates,
      .learning_rate = learning_rate(schedule_of(run_), progress_.update) * progress_.rate_factor,
      .source_tokens_per_second = static_cast<double>(interval_.sums.source_tokens) / seconds,
      .target_tokens_per_second = tokens / seconds,
      .data_wait = (stream_->waited_seconds() - interval_.waited) / seconds,
      .target_tokens = progress_.target_tokens,
      .elapsed = seconds_before_ + now,
      .seconds_left = seconds_left(seconds / updates)};
  append_log(to_json(facts));
  observer_.logged(facts);
  interval_ = {.sums = {},
               .gradient_norm = 0,
               .waited = stream_->waited_seconds(),
               .start = now,
               .updates = 0};
}

double Trainer::seconds_left(double seconds_per_update) const {
  const TrainConfig& config = run_.config;
  double left = 0;
  const auto limit = [&left](double seconds) {
    left = left == 0 ? std::max(0.0, seconds) : std::min(left, std::max(0.0, seconds));
  };
  if (config.max_updates > 0)
    limit(static_cast<double>(config.max_updates - progress_.update) * seconds_per_update);
  if (config.max_epochs > 0) {
    const auto batches =
        (config.max_epochs - progress_.epoch) * stream_->batches_in_epoch() - progress_.batch;
    limit(static_cast<double>(batches) / static_cast<double>(config.update_freq) *
          seconds_per_update);
  }
  if (config.max_seconds() > 0) limit(config.max_seconds() - progress_.seconds);
  return left;
}

bool Trainer::validate(std::stop_token stop) {
  if (validator_.empty()) return true;
  const ValidationResult result = validator_.run(model_, model_.averaged_weights(), stop);
  if (stop.stop_requested()) return false;
  const BestMetric metric = run_.config.best_metric;
  const double value = result.value(metric);
  bool best = progress_.best_update == 0 || is_better(metric, value, progress_.best_value);
  progress_.validated_update = progress_.update;
  // What could not be saved is not the best: a later one may be.
  best = best && try_to("best model", [&] {
           write_model(run_.folder.best(), model_.averaged_weights(), result);
           write_model(run_.folder.model(), model_.averaged_weights(), result);
         });
  if (best) {
    progress_.best_update = progress_.update;
    progress_.best_value = value;
    progress_.without_best = 0;
  } else {
    ++progress_.without_best;
  }
  nlohmann::ordered_json json{{"type", "validation"},
                              {"update", progress_.update},
                              {"loss", result.loss},
                              {"perplexity", result.perplexity},
                              {"bleu", result.bleu},
                              {"chrf", result.chrf},
                              {"seconds", result.seconds},
                              {"best", best},
                              {"target_tokens", progress_.target_tokens},
                              {"elapsed", seconds_before_ + seconds_here()}};
  const auto samples = std::min<std::size_t>(result.translations.size(),
                                             static_cast<std::size_t>(run_.config.samples));
  for (std::size_t i = 0; i < samples; ++i)
    json["samples"].push_back({{"source", validator_.set().source_lines[i]},
                               {"translation", result.translations[i]},
                               {"reference", validator_.set().target_lines[i]}});
  append_log(json);
  interval_.start += result.seconds;  // the rate of the next log line is training's alone
  observer_.validated({progress_.update, result, best, progress_.without_best});
  return true;
}

void Trainer::open_log() {
  log_.emplace(run_.folder.log(), progress_.log_bytes);
  open_events();
  append_log({{"type", "start"},
              {"after_update", progress_.update},
              {"parameters", model_.layout().parameters()},
              {"precision", progress_.precision},
              {"threads", progress_.threads},
              {"processor", progress_.processor}});
}

void Trainer::open_events() {
  try_to("TensorBoard's events",
         [this] { events_.emplace(run_.folder.tensorboard(), progress_.update + 1); });
}

void Trainer::append_log(const nlohmann::ordered_json& line) {
  const auto check = [this](bool written, const std::filesystem::path& path) {
    if (!written) observer_.warned(path.string() + ": cannot write; going on");
  };
  check(log_->append(line.dump() + "\n"), run_.folder.log());
  check(!events_ || events_->append(line), run_.folder.tensorboard());
}

void Trainer::save(const std::filesystem::path& path) {
  last_save_ = seconds_here();
  log_->sync();
  progress_.seconds = seconds_before_ + seconds_here();
  progress_.log_bytes = log_->bytes();
  ModelOrigin origin = run_.origin;
  origin.provenance.updates = progress_.update;
  write_checkpoint(path, model_, origin, progress_);
}

bool Trainer::try_to(std::string_view what, const std::function<void()>& save) {
  try {
    save();
    return true;
  } catch (const Error& problem) {
    observer_.warned(join_text(what, " not saved, training goes on: ", problem.what()));
    return false;
  }
}

void Trainer::save_numbered() {
  save(run_.folder.at_update(progress_.update));
  numbered_update_ = progress_.update;
  remove_old_checkpoints(run_.folder, run_.config.keep_last);
}

void Trainer::write_model(const std::filesystem::path& path, const torch::Tensor& weights,
                          const ValidationResult& result) {
  ModelOrigin origin = run_.origin;
  origin.provenance.updates = progress_.update;
  origin.provenance.scores = {{"valid-loss", result.loss},
                              {"valid-perplexity", result.perplexity},
                              {"valid-bleu", result.bleu},
                              {"valid-chrf", result.chrf}};
  write_weights(path, model_, weights, origin);
}

void Trainer::finish(std::stop_token stop) {
  if (progress_.validated_update != progress_.update && !validate(stop)) return;
  if (numbered_update_ != progress_.update) save_numbered();
  if (run_.config.average_last > 1 && !validator_.empty()) average(stop);
  if (validator_.empty()) write_model(run_.folder.model(), model_.averaged_weights(), {});
  check_model();
}

/// The model may have been lost since it was written.
void Trainer::check_model() {
  try {
    const ModelFileReader model(run_.folder.model());
  } catch (const Error& problem) {
    const ModelFileReader best(run_.folder.best());
    observer_.warned(join_text("made anew from ", best.path().string(), ": ", problem.what()));
    write_file(run_.folder.model(), read_file(best.path()));
  }
}

void Trainer::average(std::stop_token stop) {
  auto paths = run_.folder.numbered();
  const auto count = std::min(paths.size(), static_cast<std::size_t>(run_.config.average_last));
  if (count < 2) return;
  paths.erase(paths.begin(), paths.end() - static_cast<std::ptrdiff_t>(count));
  auto sum = torch::zeros_like(model_.weights(), torch::kFloat64);
  for (const auto& path : paths) sum += load_flat_weights(path, model_.layout(), run_.device);
  const auto mean = (sum / static_cast<double>(count)).to(torch::kFloat32);

  const ValidationResult result = validator_.run(model_, mean, stop);
  if (stop.stop_requested()) return;
  const BestMetric metric = run_.config.best_metric;
  const bool better = is_better(metric, result.value(metric), progress_.best_value);
  nlohmann::ordered_json json{{"type", "average"},   {"checkpoints", count}, {"loss", result.loss},
                              {"bleu", result.bleu}, {"chrf", result.chrf},  {"kept", better}};
  append_log(json);
  observer_.noticed(
      join_text("average of the last ", count, " checkpoints: loss ", result.loss, ", BLEU ",
                result.bleu, ", chrF ", result.chrf,
                better ? "; kept as the model" : "; the best checkpoint stays the model"));
  if (!better) return;
  for (const auto& path : paths)
    run_.origin.provenance.averaged_from.push_back(path.filename().string());
  write_model(run_.folder.model(), mean, result);
}

}  // namespace dragoman
