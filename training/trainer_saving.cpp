// What the trainer leaves in the run folder: checkpoints, the best model, and at the end the
// average where it is better, and a model that is there.
#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/amounts.h"
#include "base/error.h"
#include "base/files.h"
#include "training/trainer.h"

namespace dragoman {

namespace {

bool is_model(const std::filesystem::path& path) {
  try {
    const ModelFileReader model(path);
    return true;
  } catch (const Error&) {
    return false;
  }
}

}  // namespace

void Trainer::save(const std::filesystem::path& path) {
  last_save_ = seconds_here();
  progress_.seconds = seconds_before_ + seconds_here();
  if (log_) {
    log_->sync();
    progress_.log_bytes = log_->bytes();
  }
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

void Trainer::save_start() {
  progress_.sound = {0};
  save(run_.folder.start());
}

void Trainer::save_numbered() {
  auto& sound = progress_.sound;
  std::erase(sound, progress_.update);
  std::erase_if(sound, [this](std::int64_t update) {  // not saved, or removed
    return !std::filesystem::exists(run_.folder.at_update(update));
  });
  sound = still_needed(sound, progress_.update);
  if (is_sound_in_itself(progress_.history)) sound.push_back(progress_.update);
  save(run_.folder.at_update(progress_.update));
  numbered_update_ = progress_.update;
  remove_old_checkpoints(run_.folder, run_.config.keep_last, sound);
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
  if (run_.config.average_last > 1 && !validator_.empty())
    if (const auto kept = average(stop)) {
      take_as_best(*kept);
      save_numbered();
    }
  if (validator_.empty()) write_model(run_.folder.model(), model_.averaged_weights(), {});
  check_model();
  std::error_code ignored;  // what the clock or a rollback has written is of no use any more
  std::filesystem::remove(run_.folder.latest(), ignored);
}

/// After a signal; a second one leaves at once, so the state is saved before anything else.
void Trainer::save_stopped() {
  save(run_.folder.latest());
  if (validator_.empty()) write_model(run_.folder.model(), model_.averaged_weights(), {});
  if (run_.config.average_last <= 1 || !progress_.best.is_there()) return;
  if (const auto kept = average({})) {
    take_as_best(*kept);
    save(run_.folder.latest());
  }
}

/// The model may have been lost since it was written.
void Trainer::check_model() {
  const std::filesystem::path model = run_.folder.model(), best = run_.folder.best();
  if (is_model(model)) return;
  const auto warn = [&](const std::filesystem::path& source) {
    observer_.warned(
        join_text(model.string(), ": missing or damaged; made anew from ", source.string()));
  };
  if (is_model(best)) {
    warn(best);
    write_file(model, read_file(best));
    return;
  }
  auto sources = run_.folder.numbered();  // the best of them last
  const std::int64_t best_update = progress_.best.update;
  if (progress_.best.is_there())
    sources.push_back(best_update == 0 ? run_.folder.start() : run_.folder.at_update(best_update));
  std::reverse(sources.begin(), sources.end());
  const auto source = std::find_if(sources.begin(), sources.end(), is_model);
  if (source == sources.end())
    throw Error(model.string(), ": missing or damaged, and so is every checkpoint");
  warn(*source);
  ModelOrigin origin = run_.origin;
  origin.provenance.updates = ModelFileReader(*source).provenance().updates;
  write_weights(model, model_, load_flat_weights(*source, model_.layout(), run_.device), origin);
}

Trainer::Mean Trainer::mean_of_last_checkpoints() {
  auto paths = run_.folder.numbered();
  std::reverse(paths.begin(), paths.end());
  Mean mean;
  auto sum = torch::zeros_like(model_.weights(), torch::kFloat64);
  for (const auto& path : paths) {
    if (mean.names.size() == static_cast<std::size_t>(run_.config.average_last)) break;
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

std::optional<ValidationResult> Trainer::average(std::stop_token stop) {
  if (progress_.averaged_update == progress_.update) return {};  // as the model in the folder is
  const Mean mean = mean_of_last_checkpoints();
  const std::size_t count = mean.names.size();
  if (count < 2) return {};
  const Scores scores = scores_of(mean.weights, stop);
  if (stop.stop_requested()) return {};
  const ValidationResult& result = scores.valid;
  const bool better = beats_the_best(scores);
  append_log({{"type", "average"},
              {"checkpoints", count},
              {"loss", result.loss},
              {"bleu", result.bleu},
              {"chrf", result.chrf},
              {"kept", better}});
  observer_.noticed(
      join_text("average of the last ", count, " checkpoints: nll ", fixed_text(result.loss, 3),
                ", BLEU ", fixed_text(result.bleu, 2), ", chrF ", fixed_text(result.chrf, 2),
                better ? "; kept as the model" : "; the best checkpoint stays the model"));
  if (!better) return {};
  const ModelOrigin origin = run_.origin;
  run_.origin.provenance.averaged_from = mean.names;
  const bool saved =
      try_to("average", [&] { write_model(run_.folder.model(), mean.weights, result); });
  run_.origin = origin;
  return saved ? std::optional(result) : std::nullopt;
}

/// Where the run goes on, this is what a checkpoint must beat.
void Trainer::take_as_best(const ValidationResult& average) {
  write_file(run_.folder.best(), read_file(run_.folder.model()));
  progress_.averaged_update = progress_.update;
  progress_.best = {.update = progress_.update,
                    .value = average.value(run_.config.best_metric),
                    .loss = average.loss,
                    .seconds = seconds_before_ + seconds_here()};
}

}  // namespace dragoman
