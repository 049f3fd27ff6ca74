// dragoman evaluate: scores translations, or models' translations, against references. With --tune
// it finds the best search of a model.
#include "app/commands/evaluate.h"

#include <algorithm>
#include <filesystem>
#include <iostream>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

#include "app/commands/commands.h"
#include "app/commands/input_output.h"
#include "app/commands/written_translations.h"
#include "app/frame/log.h"
#include "app/frame/signals.h"
#include "base/error.h"
#include "base/files.h"
#include "base/formatted_text.h"
#include "base/threads.h"
#include "data/trained_pairs.h"
#include "evaluation/evaluate.h"
#include "evaluation/evaluate_config.h"
#include "inference/model_settings.h"
#include "inference/translate_text.h"
#include "model/file/model_file.h"
#include "model/file/run_folder.h"
#include "tokenizer/tokenizer.h"

namespace dragoman {

namespace {

void check_systems(const EvaluateFiles& files, const EvaluateConfig& metrics) {
  std::vector<std::string> systems = files.hypotheses;
  systems.insert(systems.end(), files.models.begin(), files.models.end());
  if (systems.empty())
    throw UsageError("name what to score: --hyp FILE, or -m MODEL with --src FILE");
  const std::size_t count = files.tune ? 2 : systems.size();
  if ((metrics.paired_bootstrap || metrics.paired_approximate_randomization) && count < 2)
    throw UsageError(
        metrics.paired_bootstrap ? "--paired-bootstrap" : "--paired-approximate-randomization",
        ": name two or more systems with --hyp or -m, the baseline first");
  if (metrics.sentence_level && count > 1)
    throw UsageError("--sentence-level: name one system alone");
  std::ranges::sort(systems);
  if (const auto twice = std::ranges::adjacent_find(systems); twice != systems.end())
    throw UsageError(*twice, " is named twice among the systems to score");
}

void check_test_sets(const EvaluateFiles& files, const EvaluateConfig& metrics) {
  if (files.models.empty() || !files.hypotheses.empty())
    throw UsageError("--test: is translated by models; name them with -m, without --hyp");
  if (!files.source.empty() || !files.references.empty())
    throw UsageError("--test: has source and reference; leave out --src and --ref");
  if (files.tune) throw UsageError("--tune: takes one text, with --src and --ref");
  check_columns(files.columns);
  if (metrics.paired_bootstrap || metrics.paired_approximate_randomization ||
      metrics.sentence_level)
    throw UsageError(
        "--test: shows scores of whole test sets only; for tests of significance and "
        "scores of lines, take one text with --src and --ref");
}

/// Returns the files that are read.
std::vector<std::string> check_files(const EvaluateFiles& files) {
  if (!files.tests.empty()) return files.tests;
  if (!files.columns.empty()) throw UsageError("--columns: needs --test");
  if (!files.source_language.empty()) throw UsageError("--source-language: needs --test");
  if (files.references.empty()) throw UsageError("--ref: name a file of references");
  std::vector<FileFlag> flags{{"--src", files.source}};
  for (const std::string& hypotheses : files.hypotheses) flags.push_back({"--hyp", hypotheses});
  for (const std::string& reference : files.references) flags.push_back({"--ref", reference});
  check_standard_input(flags);
  std::vector<std::string> inputs;
  for (const FileFlag& input : flags) inputs.push_back(input.file);
  return inputs;
}

/// Throws UsageError for "-m bleu", which is sacreBLEU's flag for metrics.
void refuse_metrics_as_models(const EvaluateFiles& files) {
  for (const std::string& model : files.models)
    if (std::ranges::find(kMetricNames, model) != kMetricNames.end() &&
        !std::filesystem::exists(model))
      throw UsageError("--model: no model is named ", model, "; metrics are chosen by --metrics ",
                       model);
}

/// Throws UsageError for a flag that says how a model translates.
void refuse_flags_of_models(DecodeConfig decode, EngineChoice hardware, const Origins& origins) {
  for (const Field& field : fields_of(decode, hardware)) {
    if (field.info.name == "threads") continue;  // scores take them, too
    const auto origin = origins.find(std::string(field.info.name));
    if (origin != origins.end() && origin->second == Origin::CommandLine)
      throw UsageError("--", field.info.name,
                       ": is about how a model translates and needs -m; translations that are "
                       "there already are only scored");
  }
}

}  // namespace

std::vector<const EvaluationPage*> EvaluateOptions::check(const Origins& origins) const {
  refuse_metrics_as_models(files);
  check_systems(files, metrics);
  if (files.tune && (files.models.size() != 1 || !files.hypotheses.empty() || decode.sampling))
    throw UsageError("--tune: name one model with -m, and neither --hyp nor --sampling");
  if (!files.tests.empty()) check_test_sets(files, metrics);
  if (!files.models.empty() && files.source.empty() && files.tests.empty())
    throw UsageError("--src: name the text that the model translates");
  if (files.models.empty()) refuse_flags_of_models(decode, hardware, origins);
  decode.check();
  refuse_flags_without_draws(decode, origins, ScoreUse::None);
  const std::vector<std::string> inputs = check_files(files);
  std::vector<const EvaluationPage*> asked;
  for (const EvaluationPage& page : pages)
    if (page.is_asked_for(*this, inputs)) asked.push_back(&page);
  if (!files.tests.empty() && !asked.empty())
    throw UsageError("--test: there is no page of several test sets; give --src and --ref");
  metrics.check();
  return asked;
}

std::vector<Field> EvaluateOptions::fields() {
  std::vector<Field> all = fields_of(files);
  for (const EvaluationPage& page : pages)
    all.insert(all.end(), page.fields.begin(), page.fields.end());
  for (Field& field : fields_of(hardware, metrics, decode)) all.push_back(std::move(field));
  std::erase_if(all, [](const Field& field) { return field.info.name == "n-best"; });
  for (Field& field : all)
    if (field.info.name == "metrics")
      field.assign = [assign = field.assign](const std::vector<std::string>& texts) {
        assign(metric_names(texts));
      };
  return all;
}

namespace {

using Lines = std::vector<std::string>;

/// Warns of a choice that few lines decide.
void warn_of_few_lines(const Lines& lines) {
  constexpr std::size_t kFew = 200;
  if (lines.size() < kFew)
    log_warning(join_text("--tune: ", counted(std::ssize(lines), "line"),
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

/// Warns of references that the model cannot write; warn_of_case() warns of a model that
/// lower-cases.
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
  PairsFound found;
  for (std::size_t line = 0; line < texts.source.size(); ++line) {
    const auto is_trained = [&](const Lines& reference) {
      return trained.contains(likeness_hash(texts.source[line], reference[line]));
    };
    if (std::ranges::any_of(texts.references, is_trained))
      found.add(static_cast<std::int64_t>(line) + 1);
  }
  constexpr std::int64_t kByChance = 200;  // the filter is mistaken about far fewer than one in 200
  const auto lines = std::ssize(texts.source);
  if (found.pairs * kByChance <= lines) return;
  log_warning(join_text(path, ": was trained on ", with_separators(found.pairs), " of ",
                        counted(lines, "line"), ", or on nearly the same (",
                        lines_text(found.lines, found.pairs),
                        "): its scores say little about other text; --force turns this warning "
                        "off"));
}

/// Translates the lines; ends before the last one if a stop is requested.
Lines translated_lines(TranslationService& service, const DecodeConfig& search,
                       const Lines& lines) {
  return best_texts(translate_with_progress(service, lines, {.config = search}));
}

std::string search_name(const DecodeConfig& search) {
  return join_text("beam ", search.beam_size, ", length penalty ", text_of(search.length_penalty));
}

/// The model's defaults with the settings that --tune has chosen, and with those of the call, as
/// the choice was made with them.
DecodeDefaults defaults_of(DecodeConfig search, const Origins& origins, DecodeDefaults defaults) {
  for (const Field& field : fields_of(search)) {
    const std::string name(field.info.name);
    const bool is_of_the_call = is_among(name, {"batch-size", "seed"});
    if (is_among(name, {"beam-size", "length-penalty", "length-penalty-kind", "stop"}) ||
        (is_given(origins, name) && !is_of_the_call))
      defaults[name] = field.text();
  }
  return defaults;
}

/// Adds each model's translation of the source. Returns false if the user wants to stop.
bool add_translations(EvaluatedTexts& texts, const EvaluateOptions& options, const Origins& origins,
                      const MakeDeviceEngine& make_device_engine) {
  for (const std::string& path : options.files.models) {
    if (options.files.models.size() > 1) log_info("translating with " + path);
    const OpenedTranslator model = open_translator({path}, options.hardware, make_device_engine);
    if (!options.files.force) {
      warn_of_case(*model.tokenizers.target, options.metrics, path);
      warn_of_references(*model.tokenizers.target, texts, path);
      warn_of_trained(texts, path);
    }
    texts.systems.push_back(path);
    texts.training.push_back({model.run, model.updates});
    const DecodeConfig search = model.search_with(options.decode, origins);
    TranslationService service = model.service({.rows = search.batch_size});
    texts.hypotheses.push_back(translated_lines(service, search, texts.source));
    if (listen_for_stop().stop_requested()) return false;
    if (!options.files.force) warn_of_empty(texts.hypotheses.back(), texts.references, path);
  }
  return true;
}

/// Adds the model's translations of the source with different searches (tune_search), the model's
/// own search first. Writes the best search, by the first metric, into the model's file. Returns
/// false if the user wants to stop; nothing is written then.
bool add_tuned_translations(EvaluatedTexts& texts, const EvaluateOptions& options,
                            const Origins& origins, const MakeDeviceEngine& make_device_engine) {
  const std::string& path = options.files.models.front();
  const std::filesystem::path file = resolve_model_path(path);
  { const AtomicFile tried(file); }  // throws if the file cannot be written
  // A training would write over the search that is found here, and this command over its next
  // model.
  std::optional<FolderLock> no_training;
  if (const RunFolder run{folder_of(file)}; std::filesystem::exists(run.checkpoints()))
    no_training.emplace(run.root, ": a training is running here; tune its model when it has ended");
  const OpenedTranslator model = open_translator({path}, options.hardware, make_device_engine);
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
    Lines lines = translated_lines(service, search, texts.source);
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

constexpr const char* kVersion = "dragoman-" DRAGOMAN_VERSION;

/// Adds a mean of the scores of all test sets for each model. `table` has the models' scores of one
/// set after the other.
void add_means(Comparison& table, const std::vector<std::string>& models) {
  const std::size_t sets = table.systems.size() / models.size();
  for (std::vector<SystemScore>& scores : table.scores)
    for (std::size_t model = 0; model < models.size(); ++model) {
      double sum = 0;
      for (std::size_t set = 0; set < sets; ++set) sum += scores[set * models.size() + model].score;
      scores.push_back({.score = sum / static_cast<double>(sets)});
    }
  for (const std::string& model : models)
    table.systems.push_back(models.size() == 1 ? "mean" : model + ", mean");
}

/// Scores the models on each test set, in one table.
int run_test_sets(const EvaluateOptions& options, const Origins& origins,
                  const MakeDeviceEngine& make_device_engine) {
  const EvaluateFiles& files = options.files;
  const ScratchFolder scratch(std::filesystem::temp_directory_path() / "dragoman-evaluate-");
  std::vector<EvaluatedTexts> sets;
  for (const std::string& file : files.tests)
    sets.push_back(read_test_set(file, options, scratch.path()));
  const std::stop_token stop = listen_for_stop();
  Comparison table;
  for (std::size_t set = 0; set < sets.size(); ++set) {
    EvaluatedTexts& texts = sets[set];
    if (!add_translations(texts, options, origins, make_device_engine)) return 1;
    const auto counts =
        count_systems(texts.hypotheses, texts.references, options.metrics, kVersion, stop);
    const Comparison here = compare(texts.systems, counts, options.metrics, stop);
    if (stop.stop_requested()) return 1;
    if (set == 0) {
      table.metrics = here.metrics;
      table.signatures = here.signatures;
      table.scores.resize(here.scores.size());
    }
    for (const std::string& model : files.models)
      table.systems.push_back(files.models.size() == 1 ? files.tests[set]
                                                       : join_text(model, ", ", files.tests[set]));
    for (std::size_t metric = 0; metric < here.scores.size(); ++metric)
      table.scores[metric].insert(table.scores[metric].end(), here.scores[metric].begin(),
                                  here.scores[metric].end());
  }
  add_means(table, files.models);
  std::cout << report(table, options.metrics.format, static_cast<int>(options.metrics.width));
  return 0;
}

int run_evaluate(const EvaluateOptions& options, const Origins& origins,
                 const MakeDeviceEngine& make_device_engine) {
  const std::vector<const EvaluationPage*> pages = options.check(origins);
  limit_cores(threads_to_use(options.hardware.threads));
  const EvaluateFiles& files = options.files;
  if (!files.tests.empty()) return run_test_sets(options, origins, make_device_engine);
  // Files are read first, so that their faults are found before a long translation.
  EvaluatedTexts texts = read_texts(files, options.metrics);
  for (const std::string& model : files.models)
    const ModelFileReader tried(resolve_model_path(model), Verify::Header);
  const bool whole = files.tune
                         ? add_tuned_translations(texts, options, origins, make_device_engine)
                         : add_translations(texts, options, origins, make_device_engine);
  if (!whole) return 1;  // main turns it into the signal's code
  const std::stop_token stop = listen_for_stop();
  const auto width = static_cast<int>(options.metrics.width);
  const ReportFormat format = options.metrics.format;
  if (texts.systems.size() == 1 && pages.empty()) {
    const auto scores =
        evaluate_lines(texts.hypotheses.front(), texts.references, options.metrics, kVersion, stop);
    if (stop.stop_requested()) return 1;
    std::cout << report(scores, format, width);
    return 0;
  }
  const auto counts =
      count_systems(texts.hypotheses, texts.references, options.metrics, kVersion, stop);
  const Comparison comparison = compare(texts.systems, counts, options.metrics, stop);
  if (stop.stop_requested()) return 1;
  const auto write_pages = [&] {
    for (const EvaluationPage* page : pages)
      page->write({texts, comparison, counts, options, origins});
  };
  // The report first: a page may not be writable.
  try {
    std::cout << report(comparison, format, width) << std::flush;
  } catch (...) {
    write_pages();  // if its reader has gone (| head), that is no reason to lose the pages
    throw;
  }
  write_pages();
  return stop.stop_requested() ? 1 : 0;
}

}  // namespace

Command evaluate_command(MakeDeviceEngine make_device_engine, std::vector<EvaluationPage> pages) {
  const auto options = std::make_shared<EvaluateOptions>();
  options->pages = std::move(pages);
  std::vector<std::string> examples = {
      "evaluate -m run/ --src test.en --ref test.de",
      "evaluate --hyp out.de --ref test.de",
      "evaluate --hyp out.de --ref a.de b.de --metrics bleu chrf++ ter --format json",
      "evaluate --hyp old.de new.de --ref test.de --paired-bootstrap",
      "evaluate -m run/ --test news.tsv talks.tmx",
      "evaluate -m run/ --src valid.en --ref valid.de --tune"};
  for (const EvaluationPage& page : options->pages)
    examples.insert(examples.end(), page.examples.begin(), page.examples.end());
  return {
      .name = "evaluate",
      .summary = "score translations: BLEU, chrF, chrF++, TER",
      .fields = options->fields(),
      .short_flags =
          {{"i", "hyp"}, {"m", "model"}, {"b", "beam-size"}, {"w", "width"}, {"f", "format"}},
      .run =
          [options, make_device_engine = std::move(make_device_engine)](const Invocation& call) {
            return run_evaluate(*options, call.origins, make_device_engine);
          },
      .examples = std::move(examples)};
}

}  // namespace dragoman
