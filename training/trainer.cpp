#include "training/trainer.h"

#include <algorithm>
#include <array>

#include "base/error.h"
#include "base/files.h"
#include "training/optimizer.h"
#include "training/update.h"

namespace dragoman {

namespace {

AdamConfig adam_of(const TrainConfig& config) {
  return {config.adam_beta1, config.adam_beta2, config.adam_eps, config.weight_decay};
}

Schedule schedule_of(const TrainingRun& run, const ProgressRecord& progress) {
  const bool wsd = run.config.scheduler == LrScheduler::Wsd;
  return {.scheduler = run.config.scheduler,
          .peak = run.config.lr,
          .warmup = run.config.warmup_updates,
          .end = wsd ? progress.cooldown.end : run.config.lr_end,
          .cooldown = progress.cooldown.begin,
          .floor = run.config.min_lr,
          .d_model = run.model.d_model};
}

std::string left_out_text(const LeftOutFacts& facts, const RunFolder& folder, std::int64_t so_far) {
  return join_text("update ", facts.update, " left out: its loss or gradient is ",
                   facts.is_finite() ? "far above the usual" : "not finite", " (loss ", facts.loss,
                   ", gradient norm ", facts.gradient_norm, "); the numbers of its ",
                   facts.lines.size(), " training lines are in ", folder.log().string(),
                   "; left out so far: ", so_far);
}

}  // namespace

Trainer::Trainer(TrainingRun run, Communicator& ranks, TrainingObserver& observer)
    : run_(std::move(run)),
      ranks_(ranks),
      observer_(observer),
      model_(run_.model, adam_of(run_.config), run_.precision, run_.device,
             static_cast<std::uint64_t>(run_.config.seed)),
      log_(run_.folder, observer),
      checkpoints_(run_, model_, log_, observer),
      selection_(run_, model_, log_, observer),
      batches_(run_, {.rank = ranks.rank(), .size = ranks.size()}),
      limits_(progress_.history, run_.config.spike_factor, run_.device) {
  if (ranks_.size() > 1)
    model_.hand_over_slices(slice_to_send(model_.layout().size()),
                            [this](const torch::Tensor& slice) { ranks_.begin_sum(slice); });
  if (run_.config.ema > 0) model_.keep_moving_average(run_.config.ema);
  if (ranks_.leads()) create_folders(run_.folder.checkpoints());
  progress_.history = new_history(run_.model.target_vocabulary);
}

void Trainer::start_from(const std::filesystem::path& model) {
  model_.weights().copy_(load_flat_weights(model, model_.layout(), run_.device));
  model_.result_weights().copy_(model_.weights());
  model_.weights_changed();
}

void Trainer::resume(const FoundCheckpoint& checkpoint) {
  checkpoints_.resume(checkpoint);
  progress_ = checkpoint.progress;
}

// ---- the run ------------------------------------------------------------------------------------

StopReason Trainer::train(std::stop_token stop) {
  begin();
  const StopReason reason = make_updates(stop);
  progress_.seconds = seconds();
  if (reason != StopReason::Requested && on_rank_0(ranks_, progress_, [&] { return finish(stop); }))
    return reason;
  if (ranks_.leads()) save_stopped();
  return StopReason::Requested;
}

StopReason Trainer::make_updates(const std::stop_token& stop) {
  for (;;) {
    if (has_diverged(progress_.history)) roll_back();
    const StopAndClock agreed = stop_and_clock_of_all(ranks_, stop.stop_requested(), seconds());
    if (!launched_.empty() && (agreed.stop || !may_run_ahead(agreed.seconds))) read_launched();
    if (has_diverged(progress_.history)) continue;
    // If a validation is due, a stop leaves it to the resumed run.
    if (agreed.stop) return StopReason::Requested;
    if (launched_.empty()) {
      if (validation_is_due() && !validate_on_rank_0(stop)) return StopReason::Requested;
      if (has_diverged(progress_.history)) continue;  // found by the validation
      begin_stage_if_due();
      save_if_due();
      const auto limit = reached_limit(run_.config, progress_, agreed.seconds);
      const bool is_validated = progress_.validated_update == progress_.update;
      if (limit && !is_validated && !validate_on_rank_0(stop)) return StopReason::Requested;
      if (has_diverged(progress_.history)) continue;
      if (limit) return *limit;
    }
    if (const auto notice = begin_cooldown(progress_, run_.config, run_position(agreed.seconds)))
      observer_.noticed(*notice);
    update();
    if (launched_.size() >= run_.updates_ahead) read_launched();
  }
}

void Trainer::begin() {
  since_beginning_.restart();
  share_state(ranks_, model_, progress_);
  seconds_before_ = progress_.seconds;
  progress_.start = run_.start;
  continue_from_progress();
  if (ranks_.leads()) {
    selection_.require_memory();
    // A rollback needs this state, and a disk that cannot hold a checkpoint is better noticed now.
    // The checkpoint comes before the log: a folder that has only a log cannot be resumed.
    if (progress_.update == 0) checkpoints_.save_start(progress_);
    log_.open(progress_, model_.layout().parameters());
  }
  if (const auto notice = cancel_cooldown_if_longer(progress_, run_.config))
    observer_.noticed(*notice);
}

bool Trainer::finish(const std::stop_token& stop) {
  // The average is of files, so these weights must be in one. If the run is resumed, it must beat
  // the last validation and average, so the record must know them.
  const auto save = [this] {
    if (!checkpoints_.has_numbered(progress_)) checkpoints_.save_numbered(progress_);
  };
  save();
  if (selection_.validates())
    average_checkpoints(stop);
  else
    selection_.take_last_weights(progress_);
  save();
  selection_.restore_if_lost(progress_);
  checkpoints_.remove_latest();
  return !stop.stop_requested();
}

/// Called after a signal. A second signal ends the program at once, so the state is saved first.
void Trainer::save_stopped() {
  checkpoints_.save_latest(progress_);
  if (!selection_.validates()) selection_.take_last_weights(progress_);
  if (progress_.best.exists() && average_checkpoints(std::stop_token()))
    checkpoints_.save_latest(progress_);
}

// ---- between two updates ------------------------------------------------------------------------

bool Trainer::validate_on_rank_0(const std::stop_token& stop) {
  return on_rank_0(ranks_, progress_, [&] {
    try {
      return validate(stop);
    } catch (const LossNotFinite& problem) {
      if (progress_.update == 0)
        throw Error(problem.what(),
                    " before the first update: the model that training begins with ", "is damaged");
      observer_.warned(problem.what());
      note_diverged(progress_.history);
      return true;
    }
  });
}

void Trainer::begin_stage_if_due() {
  const auto next = [this] {
    return begin_next_stage(progress_, run_.data.stage_passes, run_.config.patience);
  };
  // The batches of one update may pass several epochs of a small text, and so several stages.
  while (const auto begun = next()) {
    log_.began_stage(begun->reason, progress_);
    observer_.noticed(begun->notice);
    if (begun->reason == StageEnd::Patience) continue_from_progress();
  }
}

void Trainer::save_if_due() {
  if (!ranks_.leads() || progress_.update == 0) return;
  const double began = seconds();
  checkpoints_.save_if_due(progress_);
  interval_.exclude_seconds(seconds() - began);
}

/// A model to start with is scored first: the run must beat it.
bool Trainer::validation_is_due() const {
  if (progress_.update == 0) return !run_.config.init_from.empty() && !progress_.best.exists();
  return progress_.update % run_.config.valid_every == 0 &&
         progress_.validated_update != progress_.update;
}

bool Trainer::validate(const std::stop_token& stop) {
  if (!selection_.validates()) return true;
  const auto seconds = selection_.validate(progress_, stop);
  if (!seconds) return false;
  validation_seconds_.add(*seconds);
  interval_.exclude_seconds(*seconds);
  return true;
}

bool Trainer::average_checkpoints(const std::stop_token& stop) {
  const std::int64_t count = run_.config.average_last;
  if (count <= 1) return false;
  if (progress_.averaged_update == progress_.update) return false;  // it has been scored
  return selection_.take_average_if_better(checkpoints_.mean_of_last(count), progress_, stop);
}

// ---- an update ----------------------------------------------------------------------------------

void Trainer::update() {
  if (launched_.empty()) launch_began_ = seconds();
  const std::vector<PackedBatch> batches = batches_.next();
  const auto step_for = [this](const DeviceLoss& loss) {
    return StepConfig{.loss = loss,
                      .learning_rate = learning_rate_at(last_launched() + 1),
                      .clip_norm = run_.config.clip_norm,
                      .limits = &limits_};
  };
  DeviceLoss loss;
  std::optional<StepResult> result;
  if (run_.config.device_graph && progress_.part_tokens == 0) {
    for (const PackedBatch& batch : batches) loss += {{}, batch.source.size(), batch.target.size()};
    result = model_.step_by_graph(batches, run_.config.loss(), last_launched() + 1, step_for(loss));
  }
  if (!result) {
    const DeviceLoss own = compute_gradient(batches);
    ranks_.finish_sums();
    loss = sum_over_ranks(ranks_, own);
    result = model_.step(step_for(loss));
  }
  std::vector<std::int64_t> sentences;
  for (const PackedBatch& batch : batches)
    sentences.insert(sentences.end(), batch.sentences.begin(), batch.sentences.end());
  launched_.push_back({loss, *result, std::move(sentences), batches_.position()});
}

std::int64_t Trainer::last_launched() const { return progress_.update + std::ssize(launched_); }

ProgressRecord Trainer::launched_progress() const {
  ProgressRecord progress = progress_;
  progress.update = last_launched();
  progress.epoch = batches_.position().epoch;
  progress.batch = batches_.position().batch;
  return progress;
}

bool Trainer::may_run_ahead(double seconds) const {
  const auto is_due = [this](std::int64_t every) { return last_launched() % every == 0; };
  return !is_due(run_.config.log_every) && !is_due(run_.config.valid_every) &&
         !is_due(run_.config.save_interval()) &&
         !reached_limit(run_.config, launched_progress(), seconds);
}

void Trainer::read_launched() {
  note_results();
  if (progress_.update % run_.config.log_every == 0 && !has_diverged(progress_.history))
    log_update();
}

void Trainer::note_results() {
  const std::vector<UpdateResult> results = read_results(launched_);
  const double each = (seconds() - launch_began_) / static_cast<double>(results.size());
  for (std::size_t i = 0; i < results.size() && !has_diverged(progress_.history); ++i) {
    update_seconds_.add(each);
    note(launched_[i], results[i]);
  }
  launched_.clear();
  launch_began_ = seconds();
}

void Trainer::note(const LaunchedUpdate& update, const UpdateResult& result) {
  const BatchLoss& sums = result.loss;
  const double loss = sums.smoothed / static_cast<double>(sums.target_tokens);
  ++progress_.update;
  progress_.epoch = update.position.epoch;
  progress_.batch = update.position.batch;
  progress_.source_tokens += sums.source_tokens;
  progress_.target_tokens += sums.target_tokens;
  progress_.seconds = seconds();
  begin_stage_if_due();  // here by its passes: patience ends a stage after a validation
  if (result.made) {
    note_made(progress_.history, loss, result.gradient_norm);
    interval_.add(sums, result.gradient_norm);
  } else {
    report_left_out(update.sentences, loss, result.gradient_norm);
  }
  observer_.updated(progress_, loss, outlook(run_.config, progress_, pace()));
}

DeviceLoss Trainer::compute_gradient(const std::vector<PackedBatch>& batches) {
  AccumulateConfig config{.update = last_launched() + 1,
                          .loss = run_.config.loss(),
                          .part_tokens = progress_.part_tokens};
  for (;;) {
    if (const auto sums = try_to_accumulate(model_, batches, config)) return *sums;
    config.part_tokens = progress_.part_tokens = lowered_part_tokens(batches, config.part_tokens);
    observer_.warned(join_text("update ", config.update,
                               ": memory has run out; batches of more than ", config.part_tokens,
                               " pieces on a side are trained on in parts from here on, which "
                               "changes no update"));
    // The bound is saved before it acts, so that rank 0 makes the same parts when the run is
    // resumed. The other ranks' bounds are not saved: they take rank 0's, or find their own again.
    // Several ranks read results at the same time, so if updates are under way the bound waits for
    // the next checkpoint.
    if (ranks_.size() == 1 && !launched_.empty()) note_results();
    if (ranks_.leads() && launched_.empty() && !has_diverged(progress_.history))
      try_to_save("checkpoint", "the next one may succeed", observer_,
                  [this] { checkpoints_.save_latest(progress_); });
  }
}

double Trainer::learning_rate_at(std::int64_t update) const {
  return learning_rate(schedule_of(run_, progress_), update) * progress_.rate_factor;
}

void Trainer::report_left_out(const std::vector<std::int64_t>& sentences, double loss,
                              double norm) {
  ++progress_.left_out;
  note_left_out(progress_.history);
  LeftOutFacts facts{.update = progress_.update, .loss = loss, .gradient_norm = norm};
  for (const std::int64_t sentence : ranks_.gather(sentences))
    facts.lines.push_back(run_.data.train.line(sentence) + 1);
  std::sort(facts.lines.begin(), facts.lines.end());
  log_.left_out(facts);
  observer_.warned(left_out_text(facts, run_.folder, progress_.left_out));
}

void Trainer::roll_back() {
  launched_.clear();
  if (ranks_.leads()) checkpoints_.roll_back(progress_);
  share_state(ranks_, model_, progress_);
  continue_from_progress();
}

void Trainer::continue_from_progress() {
  batches_.open(progress_);
  limits_.continue_from(progress_.history);
  interval_.begin(seconds(), batches_.waited_seconds());
}

// ---- log and outlook ----------------------------------------------------------------------------

void Trainer::log_update() {
  if (interval_.empty()) return;  // all updates were left out, and reported as such
  const double now = seconds(), waited = batches_.waited_seconds();
  const UpdateFacts facts{
      .epoch = progress_.epoch + 1,
      .update = progress_.update,
      .stage = run_.data.stage_passes.size() > 1 ? progress_.stage.number + 1 : 0,
      .means = interval_.means(now, waited),
      .learning_rate = learning_rate_at(progress_.update),
      .target_tokens = progress_.target_tokens,
      .elapsed = now,
      .outlook = outlook(run_.config, progress_, pace())};
  log_.logged(facts);
  observer_.logged(facts, progress_);
  interval_.begin(now, waited);
}

double Trainer::seconds() const { return seconds_before_ + since_beginning_.seconds(); }

RunPosition Trainer::run_position(double seconds) const {
  return {.update = last_launched(),
          .epochs = batches_.epochs(),
          .seconds = seconds,
          .without_gain = progress_.patience.without_gain};
}

RunPace Trainer::pace() const {
  return {.seconds_per_update = update_seconds_.value(),
          .updates_per_epoch = batches_.updates_per_epoch(),
          .seconds_per_validation = validation_seconds_.value(),
          .validates = selection_.validates()};
}

// ---- the same state on all ranks ----------------------------------------------------------------

void share_state(Communicator& ranks, TrainingModel& model, ProgressRecord& progress) {
  if (ranks.size() == 1) return;
  const std::int64_t own = progress.part_tokens;
  progress = progress_from_json(ranks.broadcast(to_json(progress)));
  if (own > 0) progress.part_tokens = own;
  for (torch::Tensor& tensor : model.state()) ranks.broadcast(tensor);
  model.weights_changed();
}

bool on_rank_0(Communicator& ranks, ProgressRecord& progress, const std::function<bool()>& work) {
  if (ranks.size() == 1) return work();
  std::array<double, 1> done = {ranks.leads() && work() ? 1.0 : 0.0};
  ranks.sum(done);
  const std::int64_t own = progress.part_tokens;
  progress = progress_from_json(ranks.broadcast(to_json(progress)));
  progress.part_tokens = own;
  return done[0] > 0;
}

DeviceLoss sum_over_ranks(Communicator& ranks, DeviceLoss loss) {
  std::array<double, 2> tokens = {static_cast<double>(loss.source_tokens),
                                  static_cast<double>(loss.target_tokens)};
  ranks.sum(tokens);
  ranks.sum(loss.values);
  return {loss.values, static_cast<std::int64_t>(tokens[0]), static_cast<std::int64_t>(tokens[1])};
}

StopAndClock stop_and_clock_of_all(Communicator& ranks, bool stop_requested, double seconds) {
  std::array<double, 2> sums = {stop_requested ? 1.0 : 0.0, seconds};
  ranks.sum(sums);
  return {.stop = sums[0] > 0, .seconds = sums[1] / static_cast<double>(ranks.size())};
}

}  // namespace dragoman
