#include "app/torch/training_view.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <string_view>
#include <utility>
#include <vector>

#include "app/frame/child_program.h"
#include "app/frame/log.h"
#include "base/formatted_text.h"
#include "base/utf8.h"
#include "training/run_log.h"
#include "training/settings/stopping.h"

namespace dragoman {

namespace {

template <class... Numbers>
std::string format(const char* pattern, Numbers... numbers) {
  char buffer[256];
  std::snprintf(buffer, sizeof buffer, pattern, numbers...);
  return buffer;
}

/// "12:30 left"; without a limit "12:30 left at the earliest"; after a validation without a gain
/// "12:30 left, 4:10 without a gain"; "" if the run has no end.
std::string left_text(const Outlook& outlook, const ProgressRecord& progress) {
  const auto left = [](const ExpectedEnd& end) { return duration_text(end.seconds_left); };
  if (!outlook.end)
    return outlook.end_without_gain ? left(*outlook.end_without_gain) + " left at the earliest"
                                    : "";
  std::string text = left(*outlook.end) + " left";
  if (outlook.end_without_gain && progress.patience.without_gain > 0)
    text += ", " + left(*outlook.end_without_gain) + " without a gain";
  return text;
}

/// "BLEU 38.20"; for the loss "nll 1.873".
std::string score_text(BestMetric metric, double value) {
  switch (metric) {
    case BestMetric::Bleu:
      return "BLEU " + fixed_text(value, 2);
    case BestMetric::Chrf:
      return "chrF " + fixed_text(value, 2);
    case BestMetric::Loss:
      break;
  }
  return "nll " + fixed_text(value, 3);
}

/// "12:30 left  validation in 1:20  best BLEU 38.20, 4:10 ago"; without validations the first of
/// these fields alone.
std::string outlook_text(const TrainConfig& config, const ProgressRecord& progress,
                         const Outlook& outlook) {
  std::vector<std::string> fields;
  if (std::string left = left_text(outlook, progress); !left.empty())
    fields.push_back(std::move(left));
  if (outlook.seconds_to_validation) {
    fields.push_back("validation in " + duration_text(*outlook.seconds_to_validation));
    if (progress.best.exists())
      fields.push_back(join_text("best ", score_text(config.best_metric, progress.best.value), ", ",
                                 duration_text(progress.seconds - progress.best.seconds), " ago"));
  }
  return joined(fields, "  ");
}

std::string dropped_text(const CorpusReport& report) {
  std::string text;
  const auto add = [&](std::int64_t count, const char* reason) {
    if (count > 0) text += join_text(", ", with_separators(count), " ", reason);
  };
  add(report.held_out, "held out for validation");
  add(report.in_validation, "in the validation text");
  add(report.empty, "empty");
  add(report.duplicates, report.duplicates == 1 ? "duplicate" : "duplicates");
  add(report.too_long, "too long");
  add(report.ratio, "of unequal lengths");
  add(report.invalid, "invalid");
  return text;
}

/// Logs the validation pairs that are also in the training text.
void log_trained_validation(const ValidSet& valid) {
  if (valid.trained.pairs == 0) return;
  const std::string lines = valid.trained.lines.empty()
                                ? std::string()
                                : " (" + lines_text(valid.trained.lines, valid.trained.pairs) +
                                      (valid.held_out ? " of the training text)" : ")");
  const std::string found = join_text(counted(valid.trained.pairs, "validation pair"), lines,
                                      valid.trained.pairs == 1 ? " stands" : " stand",
                                      " in the training text too, or nearly so: ");
  if (valid.has_trained)
    log_warning(found +
                "they are scored all the same, as fewer than half would remain without "
                "them; the scores say little about text that is not trained on");
  else
    log_info(found + "left out of the validation");
}

}  // namespace

std::string weights_text(const std::vector<double>& weights) {
  return joined(weights, ", ", [](double weight) { return format("%.4g", weight); });
}

void log_data(const PreparedData& data) {
  const CorpusReport& report = data.report;
  if (data.cache == CacheUse::Rebuilt)
    log_warning("the token cache was damaged, and was made again: " + data.cache_problem);
  for (const std::string& found : data.pair_files) log_info(found);
  log_info(join_text(
      data.cache == CacheUse::Reused ? "data (from the cache): " : "data: ",
      with_separators(report.kept), " of ", counted(report.read, "pair"), dropped_text(report),
      "; ", with_separators(report.source_tokens), " source and ",
      counted(report.target_tokens, "target piece"), "; ",
      counted(std::ssize(data.valid.source_lines), "validation pair"),
      data.valid.too_long > 0
          ? ", " + with_separators(data.valid.too_long) + " of them too long for the loss"
          : "",
      data.valid.invalid > 0 ? ", " + with_separators(data.valid.invalid) + " more are invalid"
                             : "",
      "; ",
      format("%.1f %% of the lines have several sentences",
             100 * report.several_sentences_fraction())));
  log_trained_validation(data.valid);
  if (const std::int64_t copies = data.survey->survey.copies.pairs; 2 * copies > report.kept)
    log_warning(join_text("in ", with_separators(copies), " of ", counted(report.kept, "pair"),
                          " both sides are the same text: is --train-tgt the right file?"));
  const ValidSet& keep = data.keep_valid;
  if (!keep.source_lines.empty())
    log_info(join_text("text of --keep-valid-src: ", counted(std::ssize(keep.source_lines), "pair"),
                       ", ", with_separators(keep.invalid), " more invalid, ",
                       with_separators(keep.too_long), " too long for the loss"));
  if (data.pairs_with_terms)
    log_info(format("%.1f %% of the pairs have a term of --train-terms and its translation",
                    100 * *data.pairs_with_terms));
  if (data.pairs_with_terms == 0.0)
    log_warning("--train-terms: no pair has one of its terms, so it learns nothing about them");
  if (data.sections.size() > 1)
    for (const CorpusSection& section : data.sections)
      log_info(join_text("    ", section.name, ": ", counted(section.pairs, "pair"),
                         section.weights.size() > 1 ? ", weights " : ", weight ",
                         weights_text(section.weights),
                         section.tag.empty() ? std::string() : ", tag " + section.tag));
  const auto size = std::min(data.tokenizers.source->size(), data.tokenizers.target->size());
  if (data.tokenizers_trained && size < data.asked_vocab_size)
    log_info(join_text("vocabulary lowered from ", with_separators(data.asked_vocab_size), " to ",
                       with_separators(size), " pieces: the text allows no more"));
}

void log_survey(const TextSurvey& survey, const std::string& examination) {
  constexpr double kFew = 0.03;
  constexpr double kDoubt = 0.01;  // of languages, which are uncertain in single lines
  std::vector<std::string> kinds;
  const auto add = [&](const PairsFound& found, std::string_view one, std::string_view many) {
    if (found.pairs == 0) return;
    const double fraction = static_cast<double>(found.pairs) / static_cast<double>(survey.pairs);
    kinds.push_back(join_text(with_separators(found.pairs), format(" (%.1f %%) ", 100 * fraction),
                              found.pairs == 1 ? one : many));
    if (fraction > kFew) kinds.back() += " (" + lines_text(found.lines, found.pairs) + ")";
  };
  const auto add_of_sample = [&](const PairsFound& found, std::string_view side) {
    const double looked_at = static_cast<double>(std::max<std::int64_t>(survey.language_pairs, 1));
    const double fraction = static_cast<double>(found.pairs) / looked_at;
    if (fraction <= kDoubt) return;
    kinds.push_back(join_text(format("%.1f %% have ", 100 * fraction), side,
                              " in another language (", lines_text(found.lines, found.pairs), ")"));
  };
  add(survey.copies, "has the source as its target", "have the source as their target");
  add(survey.near_copies, "is nearly an earlier pair", "are nearly earlier pairs");
  add(survey.other_script_source, "has a source in another script than the rest",
      "have a source in another script than the rest");
  add(survey.other_script_target, "has a target in another script than the rest",
      "have a target in another script than the rest");
  add_of_sample(survey.other_language_source, "a source");
  add_of_sample(survey.other_language_target, "a target");
  add(survey.odd_length, "has sides of unusual lengths", "have sides of unusual lengths");
  add(survey.repeated_source, "has the source of an earlier pair, with another target",
      "have the source of an earlier pair, with another target");
  add(survey.repeated_target, "has the target of an earlier pair, with another source",
      "have the target of an earlier pair, with another source");
  log_info(
      join_text("pairs that look wrong: ", kinds.empty() ? "none" : joined(kinds, ", "),
                kinds.empty() || examination.empty() ? "" : "; to look closer: " + examination));
}

void warn_of_changed_targets(const PreparedData& data) {
  const CorpusReport& report = data.report;
  if (data.tokenizers_trained || report.changed_targets == 0) return;
  log_warning(join_text("the tokenizer that was given changes ",
                        with_separators(report.changed_targets), " of ",
                        counted(report.kept, "target line"),
                        ", so the model cannot learn to write them: ", data.changed_target,
                        "; a tokenizer that is trained here keeps them"));
}

void log_run(const TrainingRun& run) {
  log_info(join_text(
      "model: ", with_separators(FlatLayout(run.model).parameters()), " parameters, d_model ",
      run.model.d_model, ", ", run.model.encoder_layers, "+", run.model.decoder_layers, " layers, ",
      with_separators(run.model.target_vocabulary), " pieces; ", name_of(run.precision), " on ",
      run.device.is_cpu()
          ? join_text(run.start.machine.processor, ", ", counted(run.threads, "thread"))
          : run.device.str()));
  const std::string root = run.folder.root.string();
  log_info(join_text("to watch it: dragoman plot ", root, " -o page.html, or tensorboard --logdir ",
                     root));
}

namespace {

/// A sentence of at most 160 characters; log.jsonl has all of it.
std::string start_of(const std::string& sentence) {
  constexpr std::size_t kLongest = 160;
  const std::u32string characters = code_points(sentence);
  if (characters.size() <= kLongest) return sentence;
  return to_utf8(characters.substr(0, kLongest - 1)) + "\u2026";
}

/// Logs the shortest way to a good end of a stopped run. Its learning rate is still at the peak; a
/// cooldown from here brings most of what the rest of the run would bring. Not for a stage of
/// another command, which has no such flag.
void log_shortest_end(const ProgressRecord& progress, const TrainConfig& config) {
  const bool at_the_peak = config.scheduler == LrScheduler::Wsd && !progress.cooldown.has_begun() &&
                           progress.update > config.warmup_updates;
  if (!at_the_peak || is_part()) return;
  const std::int64_t end = end_of_cooldown(config, progress.update);
  const double seconds = progress.seconds / static_cast<double>(progress.update) *
                         static_cast<double>(end - progress.update);
  log_info(
      join_text("the learning rate has not fallen yet; to end the run soon and well, add "
                "--max-updates ",
                end, ": about ", duration_text(seconds), " more"));
}

/// Logs the scores of the model of --init-from, and of the one that came of it.
void log_before_and_after(const ProgressRecord& progress, BestMetric metric) {
  if (progress.initial_value < 0) return;
  const auto change = [metric](double before, double after) {
    return join_text(score_text(metric, before), " before, ", score_text(metric, after), " after (",
                     format(metric == BestMetric::Loss ? "%+.3f" : "%+.2f", after - before), ")");
  };
  log_info("validation text: " + change(progress.initial_value, progress.best.value));
  if (progress.keep_value >= 0 && progress.best.keep_value >= 0)
    log_info("text of --keep-valid-src: " + change(progress.keep_value, progress.best.keep_value));
}

}  // namespace

void log_end(StopReason reason, const ProgressRecord& progress, const RunFolder& folder,
             const TrainConfig& config) {
  const std::string text = join_text(
      reason == StopReason::Requested ? "stopped by " : "finished by ", name_of(reason), " after ",
      counted(progress.update, "update"), ", ", counted(progress.target_tokens, "target piece"),
      ", ", duration_text(progress.seconds));
  if (reason == StopReason::Requested) {
    log_info(text + "; saved: the same command resumes it");
    log_shortest_end(progress, config);
    return;
  }
  if (!progress.best.exists()) {
    log_info(join_text(text, ", without validation; the model is ", folder.model().string()));
    return;
  }
  log_info(join_text(text, "; best ", score_text(config.best_metric, progress.best.value),
                     progress.best.update == 0
                         ? ", of the model of --init-from itself: no update took its place"
                         : " at update " + with_separators(progress.best.update),
                     "; the model is ", folder.model().string()));
  log_before_and_after(progress, config.best_metric);
  if (reason == StopReason::Patience) {
    const std::int64_t in_cooldown = progress.patience.without_gain - config.patience;
    log_info(join_text(
        "--patience has ended the run: ", counted(progress.patience.without_gain, "validation"),
        " without a gain",
        in_cooldown > 0 ? join_text(", the last ", in_cooldown, " while the rate fell") : "",
        "; to train on, give the same command a --patience above ",
        std::max(progress.patience.without_gain, config.patience),
        ", or 0 to train up to the other limits"));
  }
}

TrainingView::TrainingView(const TrainConfig& config, std::int64_t updates)
    : config_(config),
      bar_(std::in_place, "train", "updates", config.max_updates, PlainLines::None, updates) {}

void TrainingView::updated(const ProgressRecord& progress, double loss, const Outlook& outlook) {
  const std::string left = outlook_text(config_, progress, outlook);
  const std::string status =
      join_text("loss ", format("%.3f", loss), "  epoch ", progress.epoch + 1);
  if (!shown_) {
    shown_ = true;
    log_info(join_text("first update done (", with_separators(progress.update), "): ", status,
                       left.empty() ? "" : "  ", left));
  }
  bar_->update(
      {.done = progress.update,
       .total = outlook.end ? progress.update + std::llround(outlook.end->updates_left) : 0,
       .outlook = left,
       .status = status});
}

void TrainingView::logged(const UpdateFacts& f, const ProgressRecord& progress) {
  const std::string left = outlook_text(config_, progress, f.outlook);
  const IntervalMeans& means = f.means;
  const std::string text = join_text(
      "epoch ", f.epoch, f.stage > 0 ? join_text("  stage ", f.stage) : "", "  update ",
      with_separators(f.update),
      format("  loss %.3f  nll %.3f  ppl %.2f  gnorm %.2f  lr %.2e", means.loss,
             std::log(means.perplexity), means.perplexity, means.gradient_norm, f.learning_rate),
      means.alignment_loss ? format("  align %.3f", *means.alignment_loss) : "", "  ",
      with_separators(static_cast<std::int64_t>(means.source_tokens_per_second)), " + ",
      with_separators(static_cast<std::int64_t>(means.target_tokens_per_second)), " pieces/s",
      format("  wait %.0f %%", 100 * means.data_wait), left.empty() ? "" : "  ", left);
  nlohmann::ordered_json json = to_json(f);
  if (f.outlook.end) json["seconds_left"] = f.outlook.end->seconds_left;
  log_facts(text, json);
}

namespace {

/// Logs the scores of one of several validation texts.
void log_part(const TextScores& part) {
  log_info(join_text("    ", part.name,
                     format(":  BLEU %.2f ± %.2f  chrF %.2f ± %.2f", part.bleu, part.bleu_error,
                            part.chrf, part.chrf_error)));
}

}  // namespace

void TrainingView::validated(const ValidationFacts& facts) {
  const ValidationResult& r = facts.scores.valid;
  const auto& kept = facts.scores.keep;
  const std::string verdict = facts.new_best ? "  (best so far)"
                              : facts.without_gain > 0
                                  ? join_text("  (", facts.without_gain, " without a gain)")
                                  : std::string();
  const std::string keep = kept ? join_text(format("  kept text: nll %.3f  BLEU %.2f  chrF %.2f",
                                                   kept->loss, kept->bleu, kept->chrf),
                                            facts.scores.keep_has_fallen ? ", has fallen" : "")
                                : std::string();
  log_facts(join_text(facts.update == 0 ? std::string("validation before the first update")
                                        : "validation at update " + with_separators(facts.update),
                      format(":  nll %.3f  ppl %.2f  BLEU %.2f ± %.2f  chrF %.2f ± %.2f", r.loss,
                             r.perplexity, r.bleu, r.bleu_error, r.chrf, r.chrf_error),
                      keep, verdict, format("  in %.1f s", facts.scores.seconds())),
            {{"update", facts.update},
             {"valid_loss", r.loss},
             {"valid_perplexity", r.perplexity},
             {"valid_bleu", r.bleu},
             {"valid_chrf", r.chrf},
             {"keep_has_fallen", facts.scores.keep_has_fallen},
             {"best", facts.new_best}});
  for (const TextScores& part : r.parts) log_part(part);
  if (!r.parts.empty()) log_part(mean_of(r.parts));
  for (const CorpusLoss& corpus : facts.scores.corpora)
    log_info(join_text("    training pairs of ", corpus.name, format(":  nll %.3f", corpus.loss)));
  for (std::size_t i = 0; i < facts.samples.size(); ++i) {
    const auto& [source, text, reference] = facts.samples[i];
    if (!validated_)
      log_info(join_text("    sample ", i + 1, ": \"", start_of(source), "\", in the text: \"",
                         start_of(reference), '"'));
    log_info(join_text("    sample ", i + 1, ": ", text.empty() ? "(empty)" : start_of(text)));
  }
  validated_ = true;
}

void TrainingView::noticed(const std::string& text) { log_info(text); }

void TrainingView::warned(const std::string& text) { log_warning(text); }

}  // namespace dragoman
