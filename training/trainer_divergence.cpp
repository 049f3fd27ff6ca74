// What the trainer does about updates that explode: leaves them out, and rolls back a run that has
// diverged.
#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "training/trainer.h"

namespace dragoman {

namespace {

/// What a rollback does to the learning rate.
constexpr double kRollbackRate = 0.5;

}  // namespace

void Trainer::leave_out(const std::vector<std::int64_t>& sentences, double loss, double norm) {
  ++progress_.skipped;
  note_left_out(progress_.history);
  const bool finite = std::isfinite(loss) && std::isfinite(norm);
  const char* why = finite ? "spike" : "not finite";
  std::vector<std::int64_t> lines;
  for (const std::int64_t sentence : ranks_.gather(sentences))
    lines.push_back(run_.data.train.line(sentence) + 1);
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
  if (ranks_.leads()) return_to_sound_checkpoint();
  share_state();
  interval_ = {.sums = {}, .gradient_norm = 0, .waited = 0, .start = seconds_here(), .updates = 0};
  open_stream();
}

void Trainer::return_to_sound_checkpoint() {
  const std::string advice = "start again with a lower --lr, or more --warmup-updates";
  if (progress_.rollbacks >= run_.config.max_rollbacks)
    throw Error("training has diverged at update ", progress_.update, ", after ",
                progress_.rollbacks, " rollbacks; ", advice);
  const auto warn = [this](const std::string& text) { observer_.warned(text); };
  auto sound = find_rollback_target(run_.folder, warn, [this](const ProgressRecord& progress) {
    return is_sound(progress.history, progress_.update - progress.update);
  });
  if (!sound)  // the one before has turned out to be too near: once more from where it went
    sound = find_rollback_target(run_.folder, warn, [this](const ProgressRecord& progress) {
      return progress.update <= progress_.returned_to;
    });
  if (!sound)
    throw Error("training has diverged at update ", progress_.update,
                ", and no earlier checkpoint is there to roll back to; ", advice);
  const ProgressRecord diverged = progress_;
  load_checkpoint(sound->path, model_);
  progress_ = sound->progress;
  progress_.returned_to = progress_.update;
  progress_.rollbacks = diverged.rollbacks + 1;
  progress_.rate_factor = diverged.rate_factor * kRollbackRate;
  progress_.skipped = diverged.skipped;
  progress_.token_budget = diverged.token_budget;
  progress_.best = diverged.best;  // it is in the folder
  progress_.keep_value = diverged.keep_value;
  progress_.settings = diverged.settings;
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
}

}  // namespace dragoman
