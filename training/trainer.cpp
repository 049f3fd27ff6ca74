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
      validator_(run_.data, run_.config) {
  if (run_.config.ema > 0) model_.keep_average(run_.config.ema);
  if (ranks_.leads()) {
    create_folders(run_.folder.checkpoints());
    remove_leftovers(run_.folder.root);
    remove_leftovers(run_.folder.checkpoints());
  }
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
  const double limit = run_.config.max_seconds();
  const bool time_is_up = limit > 0 && seconds_before_ + seconds_here() >= limit;
  const auto skipped = static_cast<double>(progress_.skipped);
  std::array<double, 3> sums = {stop.stop_requested() ? 1.0 : 0.0, time_is_up ? 1.0 : 0.0, skipped};
  ranks_.sum(sums);
  if (sums[2] != skipped * ranks_.size())
    throw Error(
        "the ranks' computations have parted: one has left out an update that another has "
        "made; use hosts of one kind, or --spike-factor 0");
  return {.stop = sums[0] > 0, .time_is_up = sums[1] > 0};
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
  progress_.configuration = run_.configuration;
  if (ranks_.leads()) open_log();

  open_stream();
  // Something to roll back to; and a disk that cannot hold a checkpoint is better found now.
  if (progress_.update == 0 && ranks_.leads())
    try_to("checkpoint", [this] { save(run_.folder.latest()); });
  std::optional<StopReason> reason;
  for (;;) {
    const Wishes wishes = agree(stop);
    if (!do_what_is_due(stop) || (reason = reason_to_stop(wishes))) break;
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
  if (ranks_.leads()) save(run_.folder.latest());
  return StopReason::Requested;
}

bool Trainer::do_what_is_due(std::stop_token stop) {
  const std::int64_t update = progress_.update;
  if (update == 0) return true;
  const bool unvalidated = progress_.validated_update != update;
  if (update % run_.config.valid_every == 0 && unvalidated &&
      !by_leader([&] { return validate(stop); }))
    return false;
  if (!ranks_.leads()) return true;
  if (update % run_.config.save_interval() == 0 && numbered_update_ != update)
    try_to("checkpoint", [this] { save_numbered(); });
  else if (seconds_here() - last_save_ > run_.config.save_minutes * 60)
    try_to("checkpoint", [this] { save(run_.folder.latest()); });
  return true;
}

std::optional<StopReason> Trainer::reason_to_stop(const Wishes& wishes) const {
  const TrainConfig& config = run_.config;
  const auto reached = [](std::int64_t value, std::int64_t limit) {
    return limit > 0 && value >= limit;
  };
  if (wishes.stop) return StopReason::Requested;
  if (reached(progress_.update, config.max_updates)) return StopReason::MaxUpdates;
  if (reached(progress_.epoch, config.max_epochs)) return StopReason::MaxEpochs;
  if (reached(progress_.without_best, config.patience)) return StopReason::Patience;
  if (wishes.time_is_up) return StopReason::MaxTime;
  return std::nullopt;
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
  return learning_rate(schedule_of(run_), update) * progress_.rate_factor;
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
    if (ranks_.leads()) try_to("checkpoint", [this] { save(run_.folder.latest()); });
  }
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
