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

Schedule schedule_of(const TrainingRun& run, const ProgressRecord& progress) {
  const bool wsd = run.config.scheduler == LrScheduler::Wsd;
  return {.scheduler = run.config.scheduler,
          .peak = run.config.lr,
          .warmup = run.config.warmup_updates,
          .end = wsd ? progress.cooldown_end : run.config.lr_end,
          .cooldown = progress.cooldown_start,
          .floor = run.config.min_lr,
          .d_model = run.model.d_model};
}

AdamConfig adam_of(const TrainConfig& config) {
  return {config.adam_beta1, config.adam_beta2, config.adam_eps, config.weight_decay};
}

}  // namespace

Trainer::Trainer(TrainingRun run, Communicator& ranks, TrainingObserver& observer)
    : run_(std::move(run)),
      ranks_(ranks),
      observer_(observer),
      model_(run_.model, adam_of(run_.config), run_.precision, run_.device,
             static_cast<std::uint64_t>(run_.config.seed)),
      validator_(run_.data, run_.data.valid, run_.config),
      keep_validator_(run_.data, run_.data.keep_valid, run_.config) {
  if (run_.config.ema > 0) model_.keep_average(run_.config.ema);
  if (ranks_.leads()) create_folders(run_.folder.checkpoints());
  progress_.history.lowest_loss = std::log(run_.model.target_vocabulary);  // that of guessing
}

void Trainer::start_from(const std::filesystem::path& model) {
  model_.weights().copy_(load_flat_weights(model, model_.layout(), run_.device));
  model_.averaged_weights().copy_(model_.weights());
  model_.weights_changed();
}

void Trainer::resume(const FoundCheckpoint& checkpoint) {
  load_checkpoint(checkpoint.path, model_);
  progress_ = checkpoint.progress;
  if (progress_.rollbacks > 0) remove_checkpoints_after(run_.folder, progress_.update);
  if (checkpoint.path == run_.folder.at_update(progress_.update))
    numbered_update_ = progress_.update;
}

double Trainer::seconds_here() const {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
}

void Trainer::share_state() {
  if (ranks_.size() == 1) return;
  const std::int64_t budget = progress_.token_budget;  // each rank's own: memory may differ
  progress_ = progress_from_json(ranks_.broadcast(to_json(progress_)));
  if (budget > 0) progress_.token_budget = budget;
  for (torch::Tensor& tensor : model_.state()) ranks_.broadcast(tensor);
  model_.weights_changed();
}

bool Trainer::by_leader(const std::function<bool()>& work) {
  if (ranks_.size() == 1) return work();
  std::array<double, 1> done = {ranks_.leads() && work() ? 1.0 : 0.0};
  ranks_.sum(done);
  const std::int64_t budget = progress_.token_budget;  // as above
  progress_ = progress_from_json(ranks_.broadcast(to_json(progress_)));
  progress_.token_budget = budget;
  return done[0] > 0;
}

Trainer::Wishes Trainer::agree(const std::stop_token& stop) {
  const auto skipped = static_cast<double>(progress_.skipped);
  std::array<double, 3> sums = {stop.stop_requested() ? 1.0 : 0.0, seconds_before_ + seconds_here(),
                                skipped};
  ranks_.sum(sums);
  if (sums[2] != skipped * ranks_.size())
    throw Error(
        "the ranks' computations have parted: one has left out an update that another has "
        "made; use hosts of one kind, or --spike-factor 0");
  return {.stop = sums[0] > 0, .seconds = sums[1] / static_cast<double>(ranks_.size())};
}

StopReason Trainer::train(std::stop_token stop) {
  start_ = std::chrono::steady_clock::now();
  share_state();
  seconds_before_ = progress_.seconds;
  progress_.precision = names_of(run_.precision)[static_cast<std::size_t>(run_.precision)];
  progress_.ranks = ranks_.size();
  progress_.threads = run_.threads;
  progress_.processor = run_.processor;
  progress_.data = run_.data.file_hashes;
  const auto before = progress_.settings.values.find("patience");
  const std::int64_t patience_before = before == progress_.settings.values.end()
                                           ? run_.config.patience
                                           : parse_integer("patience", before->second);
  progress_.settings = run_.settings;
  open_stream();
  if (progress_.update > 0 && progress_.keep_value < 0 && !keep_validator_.empty())
    throw Error(
        "--keep-valid-src: this run was started without it, so nothing is known to compare with; "
        "leave it out, or give another -o for another run");
  if (ranks_.leads()) {
    // Something to roll back to; and a disk that cannot hold a checkpoint is better found now.
    // Before the log, as a folder with a log alone is not gone on with.
    if (progress_.update == 0) save_start();
    open_log();
  }
  end_cooldown_if_limit_is_raised(patience_before);
  std::optional<StopReason> reason;
  for (;;) {
    const Wishes wishes = agree(stop);
    if (!do_what_is_due(stop) || (reason = reason_to_stop(wishes))) break;
    cool_down_if_due(wishes);
    update();
    if (has_diverged(progress_.history)) {
      roll_back();
    } else if (progress_.update % run_.config.log_every == 0) {
      log_update();
    }
  }
  const auto finished = [&] {
    finish(stop);
    return !stop.stop_requested();
  };
  if (reason.value_or(StopReason::Requested) != StopReason::Requested && by_leader(finished))
    return *reason;
  if (ranks_.leads()) save_stopped();
  return StopReason::Requested;
}

bool Trainer::do_what_is_due(std::stop_token stop) {
  const std::int64_t update = progress_.update;
  if (validation_is_due() && !by_leader([&] { return validate(stop); })) return false;
  if (!ranks_.leads() || update == 0) return true;
  if (update % run_.config.save_interval() == 0 && numbered_update_ != update)
    try_to("checkpoint", [this] { save_numbered(); });
  else if (seconds_here() - last_save_ > run_.config.save_minutes * 60)
    try_to("checkpoint", [this] { save(run_.folder.latest()); });
  return true;
}

/// A model to start with is scored first: the run must beat it.
bool Trainer::validation_is_due() const {
  if (progress_.update == 0) return !run_.config.init_from.empty() && !progress_.best.is_there();
  return progress_.update % run_.config.valid_every == 0 &&
         progress_.validated_update != progress_.update;
}

std::optional<StopReason> Trainer::reason_to_stop(const Wishes& wishes) const {
  const TrainConfig& config = run_.config;
  const auto reached = [](std::int64_t value, std::int64_t limit) {
    return limit > 0 && value >= limit;
  };
  if (wishes.stop) return StopReason::Requested;
  if (reached(progress_.update, config.max_updates)) return StopReason::MaxUpdates;
  if (reached(progress_.epoch, config.max_epochs)) return StopReason::MaxEpochs;
  if (config.max_seconds() > 0 && progress_.update > 0 && wishes.seconds >= config.max_seconds())
    return StopReason::MaxTime;
  if (reached(progress_.update, progress_.cooldown_end))
    return static_cast<StopReason>(progress_.cooldown_limit);
  if (config.scheduler != LrScheduler::Wsd &&
      reached(progress_.patience.without_gain, config.patience))
    return StopReason::Patience;
  return std::nullopt;
}

double Trainer::epochs() const {
  return static_cast<double>(progress_.epoch) +
         static_cast<double>(progress_.batch) / static_cast<double>(stream_->batches_in_epoch());
}

RunPosition Trainer::position(double seconds) const {
  return {.update = progress_.update,
          .epochs = epochs(),
          .seconds = seconds,
          .without_gain = progress_.patience.without_gain};
}

void Trainer::end_cooldown_if_limit_is_raised(std::int64_t patience_before) {
  if (progress_.cooldown_end == 0) return;
  const Cooldown begun{progress_.cooldown_start, progress_.cooldown_end,
                       static_cast<StopReason>(progress_.cooldown_limit)};
  if (goes_on(begun, run_.config, position(seconds_before_), patience_before)) return;
  progress_.cooldown_start = progress_.cooldown_end = progress_.cooldown_limit = 0;
  observer_.noticed("the run is longer now: its rate, which was falling, is at its peak again");
}

void Trainer::cool_down_if_due(const Wishes& wishes) {
  if (progress_.cooldown_end > 0) return;
  const auto cooldown = due_cooldown(run_.config, position(wishes.seconds));
  if (!cooldown) return;
  progress_.cooldown_start = cooldown->start;
  progress_.cooldown_end = cooldown->end;
  progress_.cooldown_limit = static_cast<std::int64_t>(cooldown->limit);
  const bool by_patience = cooldown->limit == StopReason::Patience;
  observer_.noticed(join_text(
      by_patience ? join_text("no gain in ", progress_.patience.without_gain, " validations: ")
                  : "",
      "the rate falls from here to update ", cooldown->end, ", where the run ends"));
}

RunPace Trainer::pace() const {
  return {.seconds_per_update = update_seconds_.value(),
          .updates_per_epoch = static_cast<double>(stream_->batches_in_epoch()) /
                               static_cast<double>(run_.config.update_freq * ranks_.size()),
          .seconds_per_validation = validation_seconds_.value(),
          .validates = !validator_.empty()};
}

/// Each rollback begins another order of the same text.
void Trainer::open_stream() {
  const auto seed = static_cast<std::uint64_t>(run_.config.seed);
  const PlanConfig plan{run_.config.max_tokens, run_.config.max_sentences,
                        progress_.rollbacks == 0
                            ? seed
                            : random_bits(seed, static_cast<std::uint64_t>(progress_.rollbacks)),
                        run_.data.weights()};
  stream_.emplace(run_.data.train, plan, end_ids(run_.data.tokenizers),
                  DataPosition{progress_.epoch, progress_.batch},
                  StreamOptions{.supplements = {run_.data.encoder, run_.data.alignments},
                                .share = {.rank = ranks_.rank(), .size = ranks_.size()}});
}

BatchLoss Trainer::sum_over_ranks(const BatchLoss& sums) {
  std::array<double, 6> numbers = {sums.smoothed,
                                   sums.negative_log_likelihood,
                                   static_cast<double>(sums.source_tokens),
                                   static_cast<double>(sums.target_tokens),
                                   sums.alignment,
                                   sums.linked_tokens};
  ranks_.sum(numbers);
  return {numbers[0],
          numbers[1],
          static_cast<std::int64_t>(numbers[2]),
          static_cast<std::int64_t>(numbers[3]),
          numbers[4],
          numbers[5]};
}

double Trainer::learning_rate_at(std::int64_t update) const {
  return learning_rate(schedule_of(run_, progress_), update) * progress_.rate_factor;
}

void Trainer::update() {
  const double start = seconds_here();
  const std::int64_t number = progress_.update + 1;
  std::vector<PackedBatch> batches;
  std::vector<std::int64_t> sentences;
  for (std::int64_t i = 0; i < run_.config.update_freq; ++i) {
    batches.push_back(stream_->next());
    const auto& numbers = batches.back().sentences;
    sentences.insert(sentences.end(), numbers.begin(), numbers.end());
  }
  const BatchLoss sums = sum_over_ranks(accumulate(batches));
  ranks_.sum(model_.gradient());
  const double loss = sums.smoothed / static_cast<double>(sums.target_tokens);
  const double longest = longest_gradient(progress_.history, loss, run_.config.spike_factor);
  const double norm = model_.step({.target_tokens = sums.target_tokens,
                                   .learning_rate = learning_rate_at(number),
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
  update_seconds_.add(seconds_here() - start);
  observer_.updated(progress_, loss, outlook(run_.config, progress_, pace()));
}

BatchLoss Trainer::accumulate(const std::vector<PackedBatch>& batches) {
  UpdatePart part{.update = progress_.update + 1,
                  .loss = run_.config.loss(),
                  .token_budget = progress_.token_budget,
                  .precision = run_.precision};
  for (;;) {
    if (const auto sums = try_to_accumulate(model_, batches, part)) return *sums;
    part.token_budget = progress_.token_budget = lowered_budget(batches, part.token_budget);
    observer_.warned(join_text("update ", part.update,
                               ": memory has run out; batches of more than ", part.token_budget,
                               " pieces on a side are trained on in parts from here on, which "
                               "changes no update"));
    // Before it acts: a run that is resumed makes the same parts.
    if (ranks_.leads()) try_to("checkpoint", [this] { save(run_.folder.latest()); });
  }
}

Trainer::Scores Trainer::scores_of(const torch::Tensor& weights, std::stop_token stop) {
  Scores scores{.valid = validator_.run(model_, weights, stop), .keep = {}};
  if (keep_validator_.empty() || stop.stop_requested()) return scores;
  scores.keep = keep_validator_.run(model_, weights, stop);
  const BestMetric metric = run_.config.best_metric;
  scores.keep_has_fallen =
      progress_.update > 0 && has_fallen(metric, scores.keep->value(metric), progress_.keep_value,
                                         run_.config.keep_tolerance);
  return scores;
}

bool Trainer::beats_the_best(const Scores& scores) const {
  const BestMetric metric = run_.config.best_metric;
  const BestModel& best = progress_.best;
  return !scores.keep_has_fallen &&
         (!best.is_there() ||
          is_better(metric, scores.valid.score(metric), {best.value, best.loss}));
}

bool Trainer::validate(std::stop_token stop) {
  if (validator_.empty()) return true;
  const Scores scores = scores_of(model_.averaged_weights(), stop);
  if (stop.stop_requested()) return false;
  const ValidationResult& result = scores.valid;
  const BestMetric metric = run_.config.best_metric;
  progress_.validated_update = progress_.update;
  if (progress_.update == 0 && scores.keep) progress_.keep_value = scores.keep->value(metric);
  const auto save_best = [&] {
    write_model(run_.folder.best(), model_.averaged_weights(), result);
    write_model(run_.folder.model(), model_.averaged_weights(), result);
  };
  bool best = beats_the_best(scores);
  // What could not be saved is not the best, as a later one may be; but nothing replaces the start.
  if (best && progress_.update == 0)
    save_best();
  else if (best)
    best = try_to("best model", save_best);
  const double now = seconds_before_ + seconds_here();
  if (best)
    progress_.best = {.update = progress_.update,
                      .value = result.value(metric),
                      .loss = result.loss,
                      .seconds = now};
  note_validation(progress_.patience,
                  {.score = metric == BestMetric::Loss ? -result.loss : result.value(metric),
                   .standard_error = result.standard_error(metric),
                   .loss = metric == BestMetric::Loss ? 0 : result.loss,
                   .counts = !scores.keep_has_fallen});
  const double seconds = result.seconds + (scores.keep ? scores.keep->seconds : 0);
  validation_seconds_.add(seconds);
  nlohmann::ordered_json json{{"type", "validation"},
                              {"update", progress_.update},
                              {"loss", result.loss},
                              {"perplexity", result.perplexity},
                              {"bleu", result.bleu},
                              {"bleu_error", result.bleu_error},
                              {"chrf", result.chrf},
                              {"chrf_error", result.chrf_error},
                              {"seconds", seconds},
                              {"best", best},
                              {"target_tokens", progress_.target_tokens},
                              {"elapsed", now}};
  if (scores.keep) {
    json["keep_loss"] = scores.keep->loss;
    json["keep_bleu"] = scores.keep->bleu;
    json["keep_chrf"] = scores.keep->chrf;
    json["keep_has_fallen"] = scores.keep_has_fallen;
  }
  const auto samples = std::min<std::size_t>(result.translations.size(),
                                             static_cast<std::size_t>(run_.config.samples));
  for (std::size_t i = 0; i < samples; ++i)
    json["samples"].push_back({{"source", validator_.set().source_lines[i]},
                               {"translation", result.translations[i]},
                               {"reference", validator_.set().target_lines[i]}});
  append_log(json);
  interval_.start += seconds;  // the rate of the next log line is training's alone
  observer_.validated({.update = progress_.update,
                       .result = result,
                       .keep = scores.keep ? &*scores.keep : nullptr,
                       .keep_has_fallen = scores.keep_has_fallen,
                       .seconds = seconds,
                       .new_best = best,
                       .without_gain = progress_.patience.without_gain});
  return true;
}

}  // namespace dragoman
