// dragoman corpus: what is in a parallel text, and the text without the pairs that are faulty.
#include <algorithm>
#include <array>
#include <filesystem>
#include <iostream>
#include <iterator>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "app/commands/commands.h"
#include "app/commands/input_output.h"
#include "app/frame/child_program.h"
#include "app/frame/config_file.h"
#include "app/frame/log.h"
#include "app/frame/signals.h"
#include "app/frame/terminal.h"
#include "base/compressed_text.h"
#include "base/error.h"
#include "base/files.h"
#include "base/formatted_text.h"
#include "base/language_codes.h"
#include "base/made_files.h"
#include "base/threads.h"
#include "data/data_config.h"
#include "data/pair_files.h"
#include "data/parallel_text.h"
#include "extras/corpus/commands/measured_filters.h"
#include "extras/corpus/corpus_survey.h"
#include "extras/corpus/survey_report.h"
#include "extras/report/commands/written_pages.h"

namespace dragoman {

namespace {

namespace fs = std::filesystem;

/// The files of a text: pairs of text files, and files with both sides.
struct TextFiles {
  std::vector<std::string> source, target, both;

  bool empty() const { return source.empty() && target.empty() && both.empty(); }
};

struct CorpusOptions {
  TextFiles train, valid, test;
  std::string source_lang, target_lang;
  std::vector<std::string> columns;
  std::int64_t examples = 5;
  std::string json, html;
  std::string clean, output, write_filters;
  std::int64_t measure_updates = 2000, measure_runs = 2;
  bool quick = false;
  std::int64_t threads = 0;

  void for_each_field(const auto& visit) {
    const auto input = fields_under("Input", visit);
    const FieldInfo file{.placeholder = "FILE"};
    input("train", train.both,
          "text with both sides in each file: TMX, XLIFF, PO, TSV, JSON lines, or a zip archive of "
          "OPUS",
          file);
    input("source", train.source, "source side of the text, one sentence per line",
          {.aliases = "train-src,train-source", .placeholder = "FILE"});
    input("target", train.target, "target side of the text: line i translates line i of --source",
          {.aliases = "train-tgt,train-target", .placeholder = "FILE"});
    input("valid", valid.both, "validation text, as for --train, which the text must not have",
          file);
    input("valid-src", valid.source, "source side of the validation text", file);
    input("valid-tgt", valid.target, "target side of the validation text", file);
    input("test", test.both, "test text, likewise", file);
    input("test-src", test.source, "source side of the test text", file);
    input("test-tgt", test.target, "target side of the test text", file);
    input("source-lang", source_lang,
          "language of the source, for example en; default: that of most lines",
          {.placeholder = "CODE"});
    input("target-lang", target_lang, "language of the target, likewise", {.placeholder = "CODE"});
    input("columns", columns,
          "source and target column of TSV files, or fields of JSON lines: numbers from 1, or "
          "names",
          {.placeholder = "COLUMN"});
    const auto result = fields_under("Output", visit);
    result("quick", quick,
           "do not look for pairs that are not translations of each other, which takes a word "
           "aligner that learns from the text");
    result("examples", examples, "examples of each fault in --json and --html");
    result("json", json, "file for the counts and examples as JSON; - for standard output", file);
    result("html", html, "file for the counts and examples as a page", file);
    result("clean", clean,
           "write the text without some pairs into --output; safe: those with a fault that hardly "
           "any useful pair has; strict: also those with numbers, links or sentences that differ, "
           "markup, near copies, boilerplate, words of two scripts and capitals on one side; FILE: "
           "as a file of filters says; measure: train for "
           "a short time without a filter, with safe and with strict, and compare",
           {.placeholder = "safe|strict|FILE|measure"});
    result("output", output,
           "folder for the clean text, and for cut.tsv, the list of the other "
           "pairs with file, line and fault",
           {.placeholder = "FOLDER"});
    result("measure-updates", measure_updates, "--clean measure: updates of a run");
    result("measure-runs", measure_runs,
           "--clean measure: runs with each text, which differ in their seeds");
    result("write-filters", write_filters,
           "file for the filters that were used, to be edited for --clean FILE", file);
    result("threads", threads, "threads to work on; 0: all cores that this process may use");
  }

  void check() const;
};

void check_sides(const TextFiles& files, const std::string& flags) {
  if (files.source.size() != files.target.size())
    throw UsageError(flags, ": name as many files for one side as for the other, not ",
                     files.source.size(), " and ", files.target.size());
}

void CorpusOptions::check() const {
  if (train.empty())
    throw UsageError(
        "--source: name the text: --source FILE --target FILE, or a file with both "
        "sides");
  check_sides(train, "--source, --target");
  check_sides(valid, "--valid-src, --valid-tgt");
  check_sides(test, "--test-src, --test-tgt");
  check_columns(columns);
  if (source_lang.empty() != target_lang.empty() && !train.both.empty())
    throw UsageError("--source-lang, --target-lang: name both");
  if (examples < 0) throw UsageError("--examples: must not be negative");
  if (clean == "measure" && valid.empty())
    throw UsageError("--clean measure: name a validation text, by which the runs are compared");
  if (clean == "measure" && json == "-")
    throw UsageError("--json: with --clean measure name a file; its table goes to standard output");
  if (measure_updates < 1) throw UsageError("--measure-updates: must be at least 1");
  if (measure_runs < 1) throw UsageError("--measure-runs: must be at least 1");
  const CorpusOptions usual;
  if (clean != "measure" && measure_updates != usual.measure_updates)
    throw UsageError("--measure-updates: needs --clean measure");
  if (clean != "measure" && measure_runs != usual.measure_runs)
    throw UsageError("--measure-runs: needs --clean measure");
  if (clean.empty() != output.empty())
    throw UsageError(clean.empty() ? "--output: goes with --clean safe, strict, FILE or measure"
                                   : "--output: name a folder for the clean text");
}

/// Whether --clean names a file of filters.
bool is_filter_file(const std::string& clean) {
  return !clean.empty() && clean != "safe" && clean != "strict" && clean != "measure";
}

std::vector<std::string> inputs_of(const CorpusOptions& options) {
  std::vector<std::string> inputs;
  if (is_filter_file(options.clean)) inputs.push_back(options.clean);
  for (const TextFiles* files : {&options.train, &options.valid, &options.test})
    for (const auto* names : {&files->source, &files->target, &files->both})
      inputs.insert(inputs.end(), names->begin(), names->end());
  return inputs;
}

/// The files that are named. Those of the clean text follow from the text.
std::vector<FileFlag> outputs_of(const CorpusOptions& options) {
  return {{"--json", options.json},
          {"--html", options.html},
          {"--write-filters", options.write_filters}};
}

/// A text that is read, and the files that hold it.
struct ReadText {
  std::vector<std::string> names;  ///< as the user gave them, one for two sides
  std::vector<std::array<std::string, 2>> clean_names;  ///< of cleaned files, without a folder
  std::unique_ptr<ParallelText> text;
};

/// Reads the files, those with both sides through plain copies in the folder.
ReadText read_text(const std::vector<const TextFiles*>& all, const CorpusOptions& options,
                   const WorkContext& context, const fs::path& folder) {
  ReadText read;
  std::vector<std::string> sources, targets;
  for (const TextFiles* files : all)
    for (std::size_t i = 0; i < files->source.size(); ++i) {
      sources.push_back(files->source[i]);
      targets.push_back(files->target[i]);
      read.names.push_back(files->source[i]);
      read.clean_names.push_back({plain_name(files->source[i]), plain_name(files->target[i])});
    }
  const auto no_report = [&](std::int64_t) {
    if (context.stop.stop_requested()) throw PreparationStopped();
  };
  for (const TextFiles* files : all)
    for (const std::string& file : files->both) {
      const PlainTexts plain = plain_texts_of(
          file, {options.source_lang, options.target_lang, options.columns}, folder, no_report);
      log_info(plain.summary);
      sources.push_back(plain.source);
      targets.push_back(plain.target);
      read.names.push_back(file);
      const std::string name = plain_name(file);
      read.clean_names.push_back({name + ".source", name + ".target"});
    }
  read.text = std::make_unique<ParallelText>(
      sources, targets, InvalidLines::Skip,
      TextReading{.threads = context.threads, .stop = context.stop, .report = no_report});
  return read;
}

/// The filters that --clean names; the safe ones without it.
CorpusFilters filters_of(const std::string& clean) {
  CorpusFilters filters{.cut = clean == "strict" ? strict_cuts() : safe_cuts()};
  if (!is_filter_file(clean)) return filters;
  if (!fs::exists(clean))
    throw UsageError("--clean: ", clean, " is neither safe nor strict, nor a file of filters");
  const std::vector<Field> fields = fields_of(filters);
  for (const auto& [name, value] : read_config(clean, fields)) {
    const auto field =
        std::ranges::find(fields, name, [](const Field& one) { return one.info.name; });
    field->assign(value.texts);
  }
  try {
    filters.check();
  } catch (const UsageError& error) {
    throw UsageError("--clean: ", clean, ": ", error.what());
  }
  return filters;
}

/// The files of a folder that earlier calls have made.
MadeFiles made_in(const fs::path& folder) { return {folder, ".clean"}; }

/// Throws UsageError if this command has not made the file that is there, or not as it is now.
void require_replaceable(const fs::path& path) {
  if (!made_in(path.parent_path()).may_replace(path.filename().string()))
    throw UsageError("--output: ", path.string(),
                     " is there, was not made by this command or has changed since, and would be "
                     "lost; name another folder");
}

/// Notes these files of a folder as made by this command.
void note_made(const std::vector<std::string>& paths) {
  std::vector<std::string> names;
  for (const fs::path path : paths) names.push_back(path.filename().string());
  MadeFiles made = made_in(fs::path(paths.front()).parent_path());
  made.take(names);
  made.write();
}

std::vector<std::string> paths_of(const CleanFiles& files) {
  std::vector<std::string> paths = {files.cuts};
  for (const auto& sides : files.sides) paths.insert(paths.end(), sides.begin(), sides.end());
  return paths;
}

/// The paths of the clean text in a folder. Throws UsageError if two of them are the same, or one
/// is an input, another output, or a file that this command has not made.
CleanFiles clean_files(const CorpusOptions& options, const ReadText& read, const fs::path& folder) {
  create_folders(folder);
  CleanFiles files{.sides = {}, .cuts = (folder / "cut.tsv").string()};
  for (const auto& [source, target] : read.clean_names)
    files.sides.push_back({(folder / source).string(), (folder / target).string()});
  const std::vector<std::string> paths = paths_of(files);
  std::vector<FileFlag> outputs;
  for (const std::string& path : paths) {
    if (std::ranges::count(paths, path) > 1)
      throw UsageError("--output: two files would be ", path,
                       "; clean texts with files of the same name one by one");
    check_text_output("--output", path, inputs_of(options));
    outputs.push_back({"--clean", path});
  }
  std::ranges::copy(outputs_of(options), std::back_inserter(outputs));
  require_different_outputs(outputs);
  for (const std::string& path : paths) require_replaceable(path);
  return files;
}

CleanCounts write_clean(const CorpusSurvey& found, const ReadText& read,
                        const CorpusFilters& filters, const CleanFiles& files) {
  try {
    const CleanCounts counts =
        write_clean_text(found, {*read.text, read.names}, filters.faults_to_cut(), files);
    note_made(paths_of(files));
    return counts;
  } catch (...) {
    note_made(paths_of(files));  // some may be there, and the next call may replace them
    throw;
  }
}

void log_clean(const CleanCounts& counts, std::int64_t pairs, const CleanFiles& files) {
  std::vector<std::string> reasons;
  for (std::size_t fault = 0; fault < kPairFaults; ++fault)
    if (counts.cut[fault] > 0)
      reasons.push_back(join_text(name_of(static_cast<PairFault>(fault)), " ",
                                  with_separators(counts.cut[fault])));
  log_info(join_text(with_separators(counts.kept), " of ", counted(pairs, "pair"), " kept, ",
                     with_separators(pairs - counts.kept), " cut",
                     reasons.empty() ? "" : " (" + joined(reasons, ", ") + ")", "; ", files.cuts,
                     " lists the cuts"));
}

/// The validation text of --clean measure.
std::array<std::string, 2> valid_sides(const fs::path& folder) {
  return {(folder / "valid.source").string(), (folder / "valid.target").string()};
}

/// Writes the pairs of a text as two files. Returns their paths.
std::array<std::string, 2> write_valid(const ParallelText& text, const fs::path& folder) {
  std::array<std::string, 2> paths = valid_sides(folder);
  PairWriter written(paths[0], paths[1]);
  text.for_each_pair(0, text.pairs(), [&](std::int64_t, auto source, auto target) {
    if (text.is_valid(source, target)) written.write(source, target);
  });
  written.commit();
  note_made({paths[0], paths[1]});
  return paths;
}

/// A text that --clean writes.
struct CleanText {
  std::string name;  ///< of the filters
  CorpusFilters filters;
  CleanFiles files;
};

/// One text, or those that are measured. Throws UsageError as clean_files() does, before the work
/// begins.
std::vector<CleanText> planned_texts(const CorpusOptions& options, const CorpusFilters& filters,
                                     const ReadText& read) {
  if (options.clean.empty()) return {};
  if (options.clean != "measure")
    return {{options.clean, filters, clean_files(options, read, options.output)}};
  std::vector<CleanText> texts;
  for (const std::string name : {"safe", "strict"})
    texts.push_back(
        {name, filters_of(name), clean_files(options, read, fs::path(options.output) / name)});
  for (const std::string& path : valid_sides(options.output)) require_replaceable(path);
  return texts;
}

std::vector<FilteredText> write_clean(const CorpusSurvey& found, const ReadText& read,
                                      const std::vector<CleanText>& texts) {
  std::vector<FilteredText> written;
  for (const CleanText& text : texts) {
    const CleanCounts counts = write_clean(found, read, text.filters, text.files);
    log_clean(counts, read.text->pairs(), text.files);
    written.push_back({.name = text.name, .pairs = counts.kept, .sides = text.files.sides});
  }
  return written;
}

/// --clean measure. Returns false after a stop.
bool measure(const CorpusOptions& options, const ReadText& read,
             const std::vector<FilteredText>& filtered, const WorkContext& context,
             const fs::path& scratch) {
  FilteredText all{.name = "none", .pairs = read.text->pairs()};
  for (std::size_t file = 0; file < read.text->source_files().size(); ++file)
    all.sides.push_back(
        {read.text->source_files()[file].path(), read.text->target_files()[file].path()});
  std::vector<FilteredText> texts = {all};
  texts.insert(texts.end(), filtered.begin(), filtered.end());
  const ReadText valid = read_text({&options.valid}, options, context, scratch);
  const std::string table =
      measure_filters(texts, {.folder = options.output,
                              .valid = write_valid(*valid.text, options.output),
                              .updates = options.measure_updates,
                              .runs = options.measure_runs});
  std::cout << (table.empty() ? "" : "\n" + table) << std::flush;
  return !table.empty();
}

std::string filters_text(CorpusFilters filters) { return config_text(fields_of(filters)); }

/// A file of filters replaces only one that nobody has edited.
void check_filters_output(const std::string& path, const std::string& clean,
                          const std::vector<std::string>& inputs) {
  check_text_output("--write-filters", path, inputs);
  check_replaced("--write-filters", path, "a file of filters as this command writes it",
                 [&clean](const std::string& file) {
                   const std::string there = read_file(file);
                   const std::string filters[] = {"safe", "strict", clean};
                   return std::ranges::any_of(filters, [&there](const std::string& filter) {
                     return there == filters_text(filters_of(filter));
                   });
                 });
}

void check_outputs(const CorpusOptions& options) {
  const std::vector<std::string> inputs = inputs_of(options);
  if (!options.json.empty() && options.json != "-") {
    check_text_output("--json", options.json, inputs);
    check_replaced("--json", options.json, "a report of this command", [](const std::string& file) {
      return is_json_report(MappedFile(file).bytes());
    });
  }
  if (!options.html.empty()) check_page_output("--html", options.html, inputs);
  if (!options.write_filters.empty())
    check_filters_output(options.write_filters, options.clean, inputs);
  require_different_outputs(outputs_of(options));
}

void write_files(const SurveyReport& report, const CorpusFilters& filters,
                 const CorpusOptions& options) {
  if (!options.write_filters.empty()) write_file(options.write_filters, filters_text(filters));
  if (!options.json.empty() && options.json != "-") write_file(options.json, json_of(report));
  if (options.html.empty()) return;
  write_file(options.html, page_of(report));
  log_page(options.html, counted(std::ssize(report.faults), "kind of fault", "kinds of faults"), 0);
}

/// A text of another encoding has few valid lines, which are those without special letters.
void warn_of_encoding(const CorpusSurvey& found, std::int64_t pairs) {
  constexpr double kFew = 0.02;
  const std::int64_t invalid = found.counts()[static_cast<std::size_t>(PairFault::Invalid)];
  if (static_cast<double>(invalid) > kFew * static_cast<double>(pairs))
    log_warning(join_text(with_separators(invalid), " of ", counted(pairs, "pair"),
                          " are not UTF-8", kWayToUtf8));
}

int survey(const CorpusOptions& options, const CorpusFilters& filters) {
  const ScratchFolder scratch(fs::temp_directory_path() / "dragoman-corpus-");
  Progress progress("corpus", "pairs", 0);
  const WorkContext context{.threads = threads_to_use(options.threads),
                            .stop = listen_for_stop(),
                            .report = [&](std::int64_t done, std::int64_t all) {
                              progress.update({.done = done, .total = all});
                            }};
  const ReadText read = read_text({&options.train}, options, context, scratch.path());
  const bool has_held_out = !options.valid.empty() || !options.test.empty();
  const ReadText held_out =
      has_held_out ? read_text({&options.valid, &options.test}, options, context, scratch.path())
                   : ReadText();
  const std::vector<CleanText> clean = planned_texts(options, filters, read);
  const CorpusSurvey found = survey_corpus(
      *read.text, held_out.text.get(),
      {.languages = {normal_code(options.source_lang), normal_code(options.target_lang)},
       .filters = filters,
       .alignment = options.quick ? WordAlignment::LeftOut : WordAlignment::Learned},
      context);
  const NamedText text{*read.text, read.names};
  std::optional<NamedText> held_out_text;
  if (has_held_out) held_out_text.emplace(NamedText{*held_out.text, held_out.names});
  read.text->require_unchanged();
  warn_of_encoding(found, read.text->pairs());
  const SurveyReport report =
      report_of(found, text, has_held_out ? &*held_out_text : nullptr, options.examples);
  // The files come first: the reader of standard output may leave early (| head).
  write_files(report, filters, options);
  const std::vector<FilteredText> filtered = write_clean(found, read, clean);
  std::cout << (options.json == "-" ? json_of(report) : text_of(report)) << std::flush;
  if (options.clean != "measure") return 0;
  return measure(options, read, filtered, context, scratch.path()) ? 0 : 1;
}

int run(const CorpusOptions& options, const Invocation& invocation) {
  options.check();
  if (options.clean == "measure") require_train("--clean measure", invocation);
  check_outputs(options);
  limit_cores(threads_to_use(options.threads));
  try {
    return survey(options, filters_of(options.clean));
  } catch (const PreparationStopped&) {
    return 1;  // main turns it into the signal's code
  }
}

Command corpus_command() {
  const auto options = std::make_shared<CorpusOptions>();
  return {.name = "corpus",
          .summary = "show what is wrong with a parallel text, and clean it",
          .fields = fields_of(*options),
          .positionals = {"train"},
          .short_flags = {{"o", "output"}},
          .run = [options](const Invocation& call) { return run(*options, call); },
          .examples = {"corpus --source train.en --target train.de --html corpus.html",
                       "corpus opus.zip --source-lang en --target-lang de --valid valid.tsv",
                       "corpus --source train.en --target train.de --clean safe -o clean/"}};
}

/// The command that looks at the text of a training.
std::string command_for(const DataConfig& data) {
  std::string command = "dragoman corpus";
  const auto add = [&command](std::string_view flag, const std::vector<std::string>& words) {
    if (!words.empty()) command.append(" --").append(flag);
    for (const std::string& word : words) command += " " + shell_word(word);
  };
  const auto add_one = [&add](std::string_view flag, const std::string& word) {
    if (!word.empty()) add(flag, {word});
  };
  add("source", data.train_source);
  add("target", data.train_target);
  add("train", data.train);
  add("valid-src", data.valid_source);
  add("valid-tgt", data.valid_target);
  add("valid", data.valid);
  add_one("source-lang", data.source_lang);
  add_one("target-lang", data.target_lang);
  add("columns", data.columns);
  return command;
}

}  // namespace

Extra corpus_extra(const MakeDeviceEngine&) {
  return {.commands = {corpus_command()}, .examination = command_for};
}

}  // namespace dragoman
