#include "training/checkpoint.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>

#include "base/error.h"
#include "training/settings/divergence.h"

namespace dragoman {

// ---- files --------------------------------------------------------------------------------------

namespace {

constexpr const char* kFirstMoment = "training.adam.first_moment";
constexpr const char* kSecondMoment = "training.adam.second_moment";
constexpr const char* kSteps = "training.adam.steps";
constexpr const char* kWeights = "training.weights";

/// Views of contiguous fp32 CPU tensors.
TensorData tensor_data(const std::string& name, const torch::Tensor& tensor) {
  return {name, Dtype::F32, tensor.sizes().vec(), tensor.const_data_ptr()};
}

torch::Tensor read_tensor(const ModelFileReader& reader, std::string_view name) {
  auto tensor = torch::empty(reader.tensor(name).shape, torch::kFloat32);
  reader.read_floats(name,
                     {tensor.mutable_data_ptr<float>(), static_cast<std::size_t>(tensor.numel())});
  return tensor;
}

ModelContents contents_of(TrainingModel& model, const torch::Tensor& cpu_weights,
                          const ModelAttachments& attachments) {
  return {.config = model.config(),
          .tokenizer_source = attachments.tokenizer_source,
          .tokenizer_target = attachments.tokenizer_target,
          .provenance = attachments.provenance,
          .parameters = model.layout().tensors(cpu_weights),
          .decode_defaults = attachments.decode_defaults};
}

/// The start checkpoint and the numbered ones, by rising update.
std::vector<std::filesystem::path> start_and_numbered(const RunFolder& run) {
  auto paths = run.numbered();
  if (std::error_code none; std::filesystem::exists(run.start(), none))
    paths.insert(paths.begin(), run.start());
  return paths;
}

std::optional<FoundCheckpoint> read_progress(const std::filesystem::path& path, const Warn& warn) {
  require_readable(path);
  try {
    const ModelFileReader file(path);
    const auto& data = file.provenance().data;
    const auto checksum = data.find(kInitFrom);
    return FoundCheckpoint{path, progress_from_json(file.progress()),
                           checksum == data.end() ? "" : checksum->second,
                           file.provenance().characters};
  } catch (const Error& damage) {
    warn(join_text("checkpoint passed over: ", damage.what()));
    return std::nullopt;
  }
}

}  // namespace

void require_readable(const std::filesystem::path& path) {
  const int file = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0 && errno != ENOENT)
    throw std::filesystem::filesystem_error("cannot open", path,
                                            std::error_code(errno, std::generic_category()));
  if (file >= 0) close(file);
}

void write_weights(const std::filesystem::path& path, TrainingModel& model,
                   const torch::Tensor& flat_weights, const ModelAttachments& attachments) {
  const auto weights = flat_weights.cpu();
  write_model_file(path, contents_of(model, weights, attachments));
}

void write_checkpoint(const std::filesystem::path& path, TrainingModel& model,
                      const ModelAttachments& attachments, const ProgressRecord& progress) {
  const auto weights = model.result_weights().cpu(), last_weights = model.weights().cpu();
  const auto first = model.adam().first_moment.cpu(), second = model.adam().second_moment.cpu();
  const auto steps = model.adam().steps.cpu();
  ModelContents contents = contents_of(model, weights, attachments);
  contents.training = {tensor_data(kFirstMoment, first), tensor_data(kSecondMoment, second),
                       tensor_data(kSteps, steps)};
  if (model.has_moving_average()) contents.training.push_back(tensor_data(kWeights, last_weights));
  contents.progress = to_json(progress);
  write_model_file(path, contents);
}

std::optional<FoundCheckpoint> find_checkpoint_to_resume(const RunFolder& run, const Warn& warn) {
  const auto paths = start_and_numbered(run);
  const bool has_latest = std::filesystem::exists(run.latest());
  const auto latest = has_latest ? read_progress(run.latest(), warn) : std::nullopt;
  const auto is_obsolete = [&latest](const ProgressRecord& progress) {
    return latest && progress.update > latest->progress.update &&
           progress.rollbacks < latest->progress.rollbacks;
  };
  bool any_readable = latest.has_value();
  for (auto path = paths.rbegin(); path != paths.rend(); ++path) {  // from the newest on
    // Names compare like updates: numbers have eight digits, and "start" comes before "update".
    if (latest && *path <= run.at_update(latest->progress.update)) return latest;
    const auto found = read_progress(*path, warn);
    any_readable = any_readable || found;
    if (found && !is_obsolete(found->progress)) return found;
  }
  if (!any_readable && (has_latest || !paths.empty()))
    throw Error(run.checkpoints().string(),
                ": no checkpoint is readable; name another folder to start again, as "
                "this one may still have a model (model.safetensors)");
  return latest;
}

void load_checkpoint(const std::filesystem::path& path, TrainingModel& model) {
  const ModelFileReader reader(path);
  if (to_json(reader.config()) != to_json(model.config()))
    throw Error(path.string(), ": the checkpoint's architecture is not this run's");
  const torch::NoGradGuard no_grad;
  for (auto& view : model.layout().views(model.result_weights()))
    view.tensor.copy_(read_tensor(reader, view.name));
  if (model.has_moving_average()) model.weights().copy_(read_tensor(reader, kWeights));
  model.adam().first_moment.copy_(read_tensor(reader, kFirstMoment));
  model.adam().second_moment.copy_(read_tensor(reader, kSecondMoment));
  model.adam().steps.copy_(read_tensor(reader, kSteps));
  model.weights_changed();
}

torch::Tensor load_flat_weights(const std::filesystem::path& path, const FlatLayout& layout,
                                torch::Device device) {
  const ModelFileReader reader(path);
  auto flat = layout.zeros(torch::kFloat32, device);
  for (auto& view : layout.views(flat)) {
    const torch::Tensor tensor = read_tensor(reader, view.name);
    if (tensor.sizes() != view.tensor.sizes())
      throw Error(path.string(), ": belongs to another model: ", view.name, " has another shape");
    view.tensor.copy_(tensor);
  }
  return flat;
}

bool try_to_save(std::string_view name, std::string_view consequence, TrainingObserver& observer,
                 const std::function<void()>& save) {
  const auto warn = [&](const std::exception& problem) {
    observer.warned(join_text(name, " not saved, ", consequence, ": ", problem.what()));
    return false;
  };
  try {
    save();
    return true;
  } catch (const Error& problem) {
    return warn(problem);
  } catch (const std::system_error& problem) {
    return warn(problem);
  }
}

// ---- the keeper ---------------------------------------------------------------------------------

namespace {

/// Removes numbered checkpoints and the start checkpoint, except the newest `keep` of them and
/// those of the updates `needed`.
void remove_old_checkpoints(const RunFolder& run, std::int64_t keep,
                            const std::vector<std::int64_t>& needed) {
  std::vector<std::filesystem::path> old = run.numbered_if_listed();
  const auto newest = std::min(static_cast<std::size_t>(keep), old.size());
  if (!old.empty()) old.insert(old.begin(), run.start());
  old.resize(old.size() - newest);
  for (const std::int64_t update : needed) std::erase(old, run.at_update(update));
  for (const auto& path : old) {
    std::error_code ignored;  // a file that stays only costs disk space
    std::filesystem::remove(path, ignored);
  }
}

/// Removes numbered checkpoints of later updates, which a rollback has made obsolete.
void remove_checkpoints_after(const RunFolder& run, std::int64_t update) {
  for (const auto& path : run.numbered_if_listed()) {
    std::error_code ignored;  // a file that stays does not count: it is from before the rollback
    // Names compare like updates: numbers have eight digits.
    if (path > run.at_update(update)) std::filesystem::remove(path, ignored);
  }
}

/// The newest checkpoint that fits, among the numbered ones and the start checkpoint.
/// latest.safetensors does not count, so a run that was stopped rolls back like one that was not.
std::optional<FoundCheckpoint> find_checkpoint_to_return_to(
    const RunFolder& run, const Warn& warn,
    const std::function<bool(const ProgressRecord&)>& fits) {
  const auto paths = start_and_numbered(run);
  for (auto path = paths.rbegin(); path != paths.rend(); ++path)
    if (auto found = read_progress(*path, warn); found && fits(found->progress)) return found;
  return std::nullopt;
}

/// A rollback multiplies the learning rate by this.
constexpr double kRollbackRate = 0.5;

/// The record after a rollback: that of the checkpoint, except for members that no rollback undoes.
ProgressRecord rolled_back(const ProgressRecord& diverged, ProgressRecord earlier) {
  // The run has cancelled the checkpoint's cooldown since, because it was made longer.
  if (earlier.cooldown.begin != diverged.cooldown.begin ||
      earlier.cooldown.end != diverged.cooldown.end)
    earlier.cooldown = {};
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
    : run_(run), model_(model), log_(log), observer_(observer) {}

void CheckpointKeeper::resume(const FoundCheckpoint& checkpoint) {
  const ProgressRecord& progress = checkpoint.progress;
  load_checkpoint(checkpoint.path, model_);
  if (progress.rollbacks > 0) remove_checkpoints_after(run_.folder, progress.update);
  if (checkpoint.path == run_.folder.at_update(progress.update))
    numbered_ = NumberedState(progress);
}

void CheckpointKeeper::save(const std::filesystem::path& path, ProgressRecord& progress) {
  // The clock starts before the attempt, so that a full disk is not tried again after every update.
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
  // There may be damaged ones of higher numbers, but the one just written stays in any case.
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
  std::error_code ignored;  // one that stays only costs disk space
  std::filesystem::remove(run_.folder.latest(), ignored);
}

FoundCheckpoint CheckpointKeeper::rollback_target(const ProgressRecord& diverged) const {
  const std::string advice = "start again with a lower --lr, or more --warmup-updates";
  if (diverged.rollbacks >= run_.config.max_rollbacks)
    throw Error("training has diverged at update ", diverged.update, ", after ", diverged.rollbacks,
                " rollbacks; ", advice);
  const Warn warn = [this](const std::string& text) { observer_.warned(text); };
  auto target = find_checkpoint_to_return_to(run_.folder, warn, [&](const ProgressRecord& earlier) {
    return is_sound(earlier.history, diverged.update - earlier.update);
  });
  if (!target)  // diverged again before a newer sound checkpoint: return to the same one once more
    target = find_checkpoint_to_return_to(run_.folder, warn, [&](const ProgressRecord& earlier) {
      return earlier.update <= diverged.returned_to;
    });
  if (!target)
    throw Error("training has diverged at update ", diverged.update,
                ", and there is no earlier checkpoint to roll back to; ", advice);
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
                             target.path.string(), "), to continue with ", progress.rate_factor,
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
      observer_.warned(join_text("left out of the average: ", damage.what()));
    }
  }
  if (!mean.names.empty())
    mean.weights = (sum / static_cast<double>(mean.names.size())).to(torch::kFloat32);
  return mean;
}

}  // namespace dragoman
