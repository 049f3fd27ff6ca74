#include "app/commands/evaluated_translations.h"

#include <algorithm>
#include <filesystem>
#include <optional>
#include <set>
#include <utility>

#include "app/commands/translation_summary.h"
#include "app/frame/log.h"
#include "app/frame/signals.h"
#include "base/amounts.h"
#include "base/files.h"
#include "base/joined.h"
#include "data/trained_pairs.h"
#include "evaluation/metric.h"
#include "inference/model_tokenizers.h"
#include "inference/translate_text.h"
#include "inference/tune_search.h"
#include "model/file/run_folder.h"
#include "tokenizer/text_rule.h"

namespace dragoman {

namespace {

using Lines = std::vector<std::string>;

/// Warns of a choice that few lines decide.
void warn_of_few_lines(const Lines& lines) {
  constexpr std::size_t kFew = 200;
  if (lines.size() < kFew)
    log_warning(join_text("--tune: ", counted(static_cast<std::int64_t>(lines.size()), "line"),
                          lines.size() == 1 ? " says" : " say",
                          " little about the best search; take ", kFew, " or more"));
}

void warn_of_case(const Tokenizer& tokenizer, const EvaluateConfig& metrics,
                  const std::string& path) {
  if (lower_cases(tokenizer) && !metrics.lowercase)
    log_warning(path +
                " writes lower case alone: with --lowercase BLEU does not count the references' "
                "capitals as errors (chrF: --chrf-lowercase)");
}

/// Warns of references that the model cannot write. Those of one that lower-cases are left to
/// warn_of_case().
void warn_of_references(const Tokenizer& target, const EvaluatedTexts& texts,
                        const std::string& path) {
  if (lower_cases(target)) return;
  ChangedLines changed;
  std::size_t lines = 0;
  for (const Lines& references : texts.references) {
    const ChangedLines here = changed_lines(target, references);
    if (changed.count == 0) changed = {0, here.first, here.example};
    changed.count += here.count;
    lines += references.size();
  }
  if (changed.count > 0)
    log_warning(join_text(path, " cannot write ", with_separators(changed.count), " of ",
                          counted(static_cast<std::int64_t>(lines), "reference line"),
                          " as they are, as its tokenizer changes text: line ", changed.first, ": ",
                          changed.example));
}

/// Warns of lines that the model was trained on, or nearly so, if its run folder tells.
void warn_of_trained(const EvaluatedTexts& texts, const std::string& path) {
  const auto file = RunFolder::of_model(resolve_model_path(path)).trained_pairs();
  if (!std::filesystem::exists(file)) return;
  const HashFilter trained(read_file(file), file.string());
  std::vector<std::int64_t> first;
  std::int64_t all = 0;
  for (std::size_t line = 0; line < texts.source.size(); ++line) {
    const auto is_trained = [&](const Lines& reference) {
      return trained.contains(likeness_hash(texts.source[line], reference[line]));
    };
    if (std::ranges::none_of(texts.references, is_trained)) continue;
    ++all;
    if (first.size() < kListedLines) first.push_back(static_cast<std::int64_t>(line) + 1);
  }
  constexpr std::int64_t kByChance = 200;  // the filter is mistaken about far fewer than one in 200
  const auto lines = static_cast<std::int64_t>(texts.source.size());
  if (all * kByChance <= lines) return;
  log_warning(join_text(path, ": was trained on ", with_separators(all), " of ",
                        counted(lines, "line"), ", or on nearly the same (", lines_text(first, all),
                        "): its scores say little about other text; --force leaves out this "
                        "warning"));
}

/// Translates the lines; ends before the last one where a stop is requested.
Lines translate_text(TranslationService& service, const DecodeConfig& search, const Lines& lines) {
  return best_texts(translate_with_progress(service, lines, {.config = search}));
}

std::string search_name(const DecodeConfig& search) {
  return join_text("beam ", search.beam_size, ", length penalty ", text_of(search.length_penalty));
}

/// The model's defaults with the settings that --tune has chosen, and those that it was given: the
/// choice holds with them.
DecodeDefaults defaults_of(DecodeConfig search, const Origins& origins, DecodeDefaults defaults) {
  const std::set<std::string_view> chosen = {"beam-size", "length-penalty", "length-penalty-kind",
                                             "stop"};
  const std::set<std::string_view> of_the_call = {"batch-size", "seed"};
  for (const Field& field : fields_of(search)) {
    const bool is_setting =
        is_given(origins, field.info.name) && !of_the_call.contains(field.info.name);
    if (chosen.contains(field.info.name) || is_setting)
      defaults[std::string(field.info.name)] = field.text();
  }
  return defaults;
}

}  // namespace

bool add_translations(EvaluatedTexts& texts, const EvaluateOptions& options, const Origins& origins,
                      const DeviceEngine& device_engine) {
  for (const std::string& path : options.files.models) {
    if (options.files.models.size() > 1) log_info("translating with " + path);
    const OpenedTranslator model = open_translator({path}, options.hardware, device_engine);
    if (!options.files.force) {
      warn_of_case(*model.tokenizers.target, options.metrics, path);
      warn_of_references(*model.tokenizers.target, texts, path);
      warn_of_trained(texts, path);
    }
    texts.systems.push_back(path);
    texts.training.push_back({model.run, model.updates});
    const DecodeConfig search = model.search_with(options.decode, origins);
    TranslationService service = model.service({.rows = search.batch_size});
    texts.hypotheses.push_back(translate_text(service, search, texts.source));
    if (listen_for_stop().stop_requested()) return false;
    if (!options.files.force) warn_of_empty(texts.hypotheses.back(), texts.references, path);
  }
  return true;
}

bool add_tuned_translations(EvaluatedTexts& texts, const EvaluateOptions& options,
                            const Origins& origins, const DeviceEngine& device_engine) {
  const std::string& path = options.files.models.front();
  const std::filesystem::path file = resolve_model_path(path);
  { const AtomicFile tried(file); }  // throws where the file cannot be written
  // The training would write over what is found here, and this over its next model.
  std::optional<FolderLock> no_training;
  if (const RunFolder run{folder_of(file)}; std::filesystem::exists(run.checkpoints()))
    no_training.emplace(run.root, ": a training is at work here; tune its model when it has ended");
  const OpenedTranslator model = open_translator({path}, options.hardware, device_engine);
  if (!options.files.force) {
    warn_of_case(*model.tokenizers.target, options.metrics, path);
    warn_of_trained(texts, path);
  }
  warn_of_few_lines(texts.source);
  const Metric metric = metrics_of(options.metrics, texts.references, "").front();
  const DecodeConfig start = model.search_with(options.decode, origins);
  TranslationService service = model.service({.rows = start.batch_size});
  const auto score = [&](const DecodeConfig& search) {
    if (listen_for_stop().stop_requested()) return 0.0;
    log_info("translating with " + search_name(search));
    Lines lines = translate_text(service, search, texts.source);
    if (listen_for_stop().stop_requested()) return 0.0;
    const double found = metric.score(metric.count(lines, texts.references).sum());
    texts.systems.push_back(search_name(search));
    texts.hypotheses.push_back(std::move(lines));
    return metric.lower_is_better ? -found : found;
  };
  const DecodeConfig best = tune_search(start, score);
  if (listen_for_stop().stop_requested()) return false;
  const DecodeDefaults tuned = defaults_of(best, origins, model.decode_defaults);
  write_decode_defaults(file, tuned);
  const bool as_before = defaults_of(model.search_with({}, {}), {}, model.decode_defaults) == tuned;
  log_info(join_text(path, ": translates with ", search_name(best),
                     as_before ? ", as before: nothing scored better" : " from now on"));
  return true;
}

}  // namespace dragoman
