#include "training/model_selection.h"

#include <algorithm>

#include "base/error.h"
#include "base/files.h"
#include "base/formatted_text.h"
#include "base/machine.h"
#include "model/file/model_file.h"
#include "training/checkpoint.h"

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

/// The checkpoints that a model can be made from: the best one, then all from the newest to the
/// oldest.
std::vector<std::filesystem::path> sources_of(const RunFolder& folder, const BestModel& best) {
  auto sources = folder.numbered_if_listed();
  if (best.exists()) sources.push_back(folder.at_update(best.update));
  std::reverse(sources.begin(), sources.end());
  return sources;
}

/// The model of the progress, which is the best one.
BestModel best_model(const Scores& scores, const ProgressRecord& progress, BestMetric metric) {
  return {.update = progress.update,
          .value = scores.valid.value(metric),
          .loss = scores.valid.loss,
          .seconds = progress.seconds,
          .keep_value = scores.keep ? scores.keep->value(metric) : -1};
}

}  // namespace

ModelSelection::ModelSelection(const TrainingRun& run, TrainingModel& model, RunLog& log,
                               TrainingObserver& observer)
    : run_(run),
      model_(model),
      log_(log),
      observer_(observer),
      corpus_losses_(run.data),
      validator_(run.data, run.data.valid, run.config, run.attachments.provenance),
      keep_validator_(run.data, run.data.keep_valid, run.config, run.attachments.provenance) {}

void ModelSelection::require_memory() const {
  validator_.require_memory(model_, "validation text");
  keep_validator_.require_memory(model_, "text of --keep-valid-src");
}

Scores ModelSelection::scores_of(const torch::Tensor& weights, const ProgressRecord& progress,
                                 std::stop_token stop) {
  const auto scores_on = [&](const Validator& validator) {
    ValidationResult result = validator.run(model_, weights, stop);
    if (result.fewer_rows > 0)
      observer_.warned(join_text("update ", progress.update,
                                 ": memory has run out; the validation's translations began again "
                                 "with ",
                                 counted(result.fewer_rows, "row")));
    return result;
  };
  Scores scores{.valid = scores_on(validator_)};
  const Stopwatch watch;
  if (!stop.stop_requested()) scores.corpora = corpus_losses_.run(model_, weights);
  scores.valid.seconds += watch.seconds();
  if (keep_validator_.empty() || stop.stop_requested()) return scores;
  scores.keep = scores_on(keep_validator_);
  const BestMetric metric = run_.config.best_metric;
  scores.keep_has_fallen =
      progress.update > 0 && has_fallen(metric, scores.keep->value(metric), progress.keep_value,
                                        run_.config.keep_tolerance);
  return scores;
}

std::optional<double> ModelSelection::validate(ProgressRecord& progress, std::stop_token stop) {
  const Scores scores = scores_of(model_.result_weights(), progress, stop);
  if (stop.stop_requested()) return std::nullopt;
  const BestMetric metric = run_.config.best_metric;
  progress.seconds += scores.seconds();
  progress.validated_update = progress.update;
  if (progress.update == 0) {
    progress.initial_value = scores.valid.value(metric);
    if (scores.keep) progress.keep_value = scores.keep->value(metric);
  }
  const auto save = [&] {
    write_as_model(model_.result_weights(), provenance_of(progress, &scores.valid));
  };
  bool best = scores.beat(progress.best, metric);
  // A model that could not be saved does not count as the best, so that a later one can. At update
  // 0 save() throws: no later model could stand for the model of --init-from.
  if (best && progress.update == 0)
    save();
  else if (best)
    best = try_to_save("best model", "so it does not count as the best", observer_, save);
  if (best) progress.best = best_model(scores, progress, metric);
  PatienceState& patience = patience_of_stage(progress, run_.data.stage_passes);
  note_validation(patience, scores.for_patience(metric));
  const ValidationFacts facts{.update = progress.update,
                              .scores = scores,
                              .new_best = best,
                              .without_gain = patience.without_gain,
                              .target_tokens = progress.target_tokens,
                              .elapsed = progress.seconds,
                              .samples = samples_of(scores.valid)};
  log_.validated(facts);
  observer_.validated(facts);
  return scores.seconds();
}

bool ModelSelection::take_average_if_better(const CheckpointMean& mean, ProgressRecord& progress,
                                            std::stop_token stop) {
  const std::size_t count = mean.names.size();
  if (count < 2) return false;
  const Scores scores = scores_of(mean.weights, progress, stop);
  if (stop.stop_requested()) return false;
  progress.seconds += scores.seconds();
  progress.averaged_update = progress.update;
  const ValidationResult& result = scores.valid;
  Provenance provenance = provenance_of(progress, &result);
  provenance.averaged_from = mean.names;
  const auto save = [&] { write_as_model(mean.weights, provenance); };
  const bool kept = scores.beat(progress.best, run_.config.best_metric) &&
                    try_to_save("average", "the best checkpoint stays the model", observer_, save);
  log_.averaged({.checkpoints = count, .result = result, .kept = kept});
  observer_.noticed(
      join_text("average of the last ", count, " checkpoints: nll ", fixed_text(result.loss, 3),
                ", BLEU ", fixed_text(result.bleu, 2), ", chrF ", fixed_text(result.chrf, 2),
                kept ? "; kept as the model" : "; the best checkpoint stays the model"));
  if (!kept) return false;
  // If the run continues, later models must beat this one.
  progress.best = best_model(scores, progress, run_.config.best_metric);
  return true;
}

void ModelSelection::take_last_weights(const ProgressRecord& progress) {
  write(run_.folder.model(), model_.result_weights(), provenance_of(progress, nullptr));
}

void ModelSelection::restore_if_lost(const ProgressRecord& progress) {
  const std::filesystem::path model = run_.folder.model(), best = run_.folder.best();
  require_readable(model);
  if (is_model(model)) return;
  const auto warn = [&](const std::filesystem::path& source) {
    observer_.warned(
        join_text(model.string(), ": missing or damaged; made again from ", source.string()));
  };
  if (is_model(best)) {
    warn(best);
    write_file(model, read_file(best));
    return;
  }
  const auto sources = sources_of(run_.folder, progress.best);
  const auto source = std::find_if(sources.begin(), sources.end(), is_model);
  if (source == sources.end())
    throw Error(model.string(), ": missing or damaged, and so is every checkpoint");
  warn(*source);
  Provenance provenance = run_.attachments.provenance;
  provenance.updates = ModelFileReader(*source).provenance().updates;
  write(model, load_flat_weights(*source, model_.layout(), run_.device), provenance);
}

void ModelSelection::write_as_model(const torch::Tensor& weights, const Provenance& provenance) {
  for (const auto& path : {run_.folder.best(), run_.folder.model()})
    write(path, weights, provenance);
}

void ModelSelection::write(const std::filesystem::path& path, const torch::Tensor& weights,
                           const Provenance& provenance) {
  ModelAttachments attachments = run_.attachments;
  attachments.provenance = provenance;
  write_weights(path, model_, weights, attachments);
}

Provenance ModelSelection::provenance_of(const ProgressRecord& progress,
                                         const ValidationResult* result) const {
  Provenance provenance = run_.attachments.provenance;
  provenance.updates = progress.update;
  if (result != nullptr)
    provenance.scores = {{"valid-loss", result->loss},
                         {"valid-perplexity", result->perplexity},
                         {"valid-bleu", result->bleu},
                         {"valid-chrf", result->chrf}};
  return provenance;
}

std::vector<TranslatedSample> ModelSelection::samples_of(const ValidationResult& result) const {
  const auto count = std::min<std::size_t>(result.translations.size(),
                                           static_cast<std::size_t>(run_.config.samples));
  std::vector<TranslatedSample> samples;
  for (std::size_t i = 0; i < count; ++i)
    samples.push_back({.source = validator_.set().source_lines[i],
                       .translation = result.translations[i],
                       .reference = validator_.set().target_lines[i]});
  return samples;
}

}  // namespace dragoman
