#include "training/checkpoint_keeper.h"

#include <algorithm>

#include "base/error.h"
#include "training/divergence.h"

namespace dragoman {

namespace {

/// A rollback multiplies the learning rate by this.
constexpr double kRollbackRate = 0.5;

/// Cancels the checkpoint's cooldown where the run has cancelled that cooldown since, because the
/// run was made longer.
void cancel_cooldown_of_the_past(const ProgressRecord& diverged, ProgressRecord& earlier) {
  const bool is_the_same = earlier.cooldown.begin == diverged.cooldown.begin &&
                           earlier.cooldown.end == diverged.cooldown.end;
  if (!is_the_same) earlier.cooldown = {};
}

/// The record after a rollback: the checkpoint's, with those members that no rollback undoes.
ProgressRecord rolled_back(const ProgressRecord& diverged, ProgressRecord earlier) {
  cancel_cooldown_of_the_past(diverged, earlier);
  earlier.returned_to = earlier.update;
  earlier.seconds = diverged.seconds;
  earlier.rollbacks = diverged.rollbacks + 1;
  earlier.rate_factor = diverged.rate_factor * kRollbackRate;
  earlier.left_out = diverged.left_out;
  earlier.part_tokens = diverged.part_tokens;
  earlier.best = diverged.best;  // it is in the folder
  earlier.keep_value = diverged.keep_value;
  earlier.start = diverged.start;
  return earlier;
}

}  // namespace

CheckpointKeeper::CheckpointKeeper(const TrainingRun& run, TrainingModel& model, RunLog& log,
                                   TrainingObserver& observer)
    : run_(run), model_(model), log_(log), observer_(observer), warn_([&](const std::string& text) {
        observer.warned(text);
      }) {}

void CheckpointKeeper::resume(const FoundCheckpoint& checkpoint) {
  const ProgressRecord& progress = checkpoint.progress;
  load_checkpoint(checkpoint.path, model_);
  if (progress.rollbacks > 0) remove_checkpoints_after(run_.folder, progress.update);
  if (checkpoint.path == run_.folder.at_update(progress.update))
    numbered_ = NumberedState(progress);
}

void CheckpointKeeper::save(const std::filesystem::path& path, ProgressRecord& progress) {
  // Before the attempt, so that a full disk is not tried again after every update.
  since_save_.restart();
  if (const auto log_bytes = log_.sync()) progress.log_bytes = *log_bytes;
  ModelAttachments attachments = run_.attachments;
  attachments.provenance.updates = progress.update;
  write_checkpoint(path, model_, attachments, progress);
}

void CheckpointKeeper::save_start(ProgressRecord& progress) {
  progress.sound = {0};
  save(run_.folder.start(), progress);
}

void CheckpointKeeper::save_numbered(ProgressRecord& progress) {
  auto& sound = progress.sound;
  std::erase(sound, progress.update);
  std::erase_if(sound, [this](std::int64_t update) {  // not saved, or removed
    std::error_code unknown;
    return !std::filesystem::exists(run_.folder.at_update(update), unknown) && !unknown;
  });
  sound = still_needed(sound, progress.update);
  const bool has_near = !sound.empty() && progress.update - sound.back() < kUpdatesBetweenSound;
  if (is_sound_in_itself(progress.history) && !has_near) sound.push_back(progress.update);
  save(run_.folder.at_update(progress.update), progress);
  numbered_ = NumberedState(progress);
  // A rollback whose state could not be saved has left numbered checkpoints of later updates there,
  // and perhaps a latest.safetensors from before it. In a run without a rollback, checkpoints of
  // later updates are damaged ones; they are kept.
  if (progress.rollbacks > 0) {
    remove_checkpoints_after(run_.folder, progress.update);
    remove_latest();
  }
  // Damaged ones of higher numbers may lie there: the one just written stays in any case.
  std::vector<std::int64_t> needed = sound;
  needed.push_back(progress.update);
  remove_old_checkpoints(run_.folder, run_.config.keep_last, needed);
}

void CheckpointKeeper::save_latest(ProgressRecord& progress) {
  save(run_.folder.latest(), progress);
}

void CheckpointKeeper::save_if_due(ProgressRecord& progress) {
  if (progress.update % run_.config.save_interval() == 0 && !has_numbered(progress.update))
    try_to_save("checkpoint", "the next one may succeed", observer_,
                [&] { save_numbered(progress); });
  else if (since_save_.seconds() > run_.config.save_minutes * 60)
    try_to_save("checkpoint", "the next one may succeed", observer_,
                [&] { save_latest(progress); });
}

void CheckpointKeeper::remove_latest() {
  std::error_code ignored;  // one that stays costs disk, no more
  std::filesystem::remove(run_.folder.latest(), ignored);
}

FoundCheckpoint CheckpointKeeper::rollback_target(const ProgressRecord& diverged) const {
  const std::string advice = "start again with a lower --lr, or more --warmup-updates";
  if (diverged.rollbacks >= run_.config.max_rollbacks)
    throw Error("training has diverged at update ", diverged.update, ", after ", diverged.rollbacks,
                " rollbacks; ", advice);
  auto target =
      find_checkpoint_to_return_to(run_.folder, warn_, [&](const ProgressRecord& earlier) {
        return is_sound(earlier.history, diverged.update - earlier.update);
      });
  if (!target)  // diverged again before a newer sound checkpoint: return to the same one once more
    target = find_checkpoint_to_return_to(run_.folder, warn_, [&](const ProgressRecord& earlier) {
      return earlier.update <= diverged.returned_to;
    });
  if (!target)
    throw Error("training has diverged at update ", diverged.update,
                ", and no earlier checkpoint is there to roll back to; ", advice);
  return *target;
}

void CheckpointKeeper::roll_back(ProgressRecord& progress) {
  const FoundCheckpoint target = rollback_target(progress);
  const std::int64_t diverged_at = progress.update;
  load_checkpoint(target.path, model_);
  progress = rolled_back(progress, target.progress);
  log_.rolled_back(diverged_at, progress);
  observer_.warned(join_text("training has diverged at update ", diverged_at,
                             ": rolled back to update ", progress.update, " (",
                             target.path.string(), "), to go on with ", progress.rate_factor,
                             " of the learning rate and another order of the text"));
  if (try_to_save("checkpoint", "the next one may succeed", observer_,
                  [&] { save_latest(progress); }))
    remove_checkpoints_after(run_.folder, progress.update);
  const bool numbered = std::filesystem::exists(run_.folder.at_update(progress.update));
  numbered_ = numbered ? NumberedState(progress) : NumberedState();
}

CheckpointMean CheckpointKeeper::mean_of_last(std::int64_t count) const {
  auto paths = run_.folder.numbered();
  std::reverse(paths.begin(), paths.end());
  CheckpointMean mean;
  auto sum = torch::zeros_like(model_.weights(), torch::kFloat64);
  for (const auto& path : paths) {
    if (mean.names.size() == static_cast<std::size_t>(count)) break;
    try {
      sum += load_flat_weights(path, model_.layout(), run_.device);
      mean.names.insert(mean.names.begin(), path.filename().string());
    } catch (const Error& damage) {
      warn_(join_text("left out of the average: ", damage.what()));
    }
  }
  if (!mean.names.empty())
    mean.weights = (sum / static_cast<double>(mean.names.size())).to(torch::kFloat32);
  return mean;
}

}  // namespace dragoman
