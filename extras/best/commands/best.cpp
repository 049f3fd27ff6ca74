// dragoman best: makes the best model of a text that some hours allow, by data diversification
// (Nguyen et al. 2020). Models of both directions translate the training text, and a student learns
// from the pairs and from both translations. Each stage is a command of this program that runs as a
// process of its own. If it is stopped, the next call resumes it.
#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>
#include <iomanip>
#include <iostream>
#include <iterator>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "app/commands/commands.h"
#include "app/frame/child_program.h"
#include "app/frame/log.h"
#include "app/frame/signals.h"
#include "base/error.h"
#include "base/files.h"
#include "base/formatted_text.h"
#include "base/json.h"
#include "base/language_codes.h"
#include "base/machine.h"
#include "base/threads.h"
#include "data/pair_files.h"
#include "data/pair_selection.h"
#include "data/parallel_text.h"

namespace dragoman {

namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;
using Words = std::vector<std::string>;

struct BestOptions {
  DataConfig text;
  std::string output;
  double hours = 2;
  std::int64_t threads = 0;
  bool plan = false;

  void for_each_field(const auto& visit) {
    const auto run = fields_under("Run", visit);
    run("output", output, "folder for the stages, and for the model", {.placeholder = "FOLDER"});
    run("hours", hours,
        "time for all stages on this machine; it becomes a number of updates before the first one, "
        "and decides nothing afterwards");
    run("threads", threads, "threads to work on; 0: all cores that this process may use");
    run("plan", plan,
        "print the stages with their updates and times, the memory and the disk space, and do "
        "nothing else");
  }

  void check() const {
    text.check();
    if (!(hours > 0)) throw UsageError("--hours ", hours, ": must be above 0");
    if (output.empty() && !plan) throw UsageError("--output: name a folder for the model");
  }
};

/// Whether a flag of train names its text.
bool is_of_text(std::string_view flag) {
  return is_among(flag, {"train-src", "train-tgt", "train", "valid-src", "valid-tgt", "valid",
                         "columns", "source-lang", "target-lang", "invalid"});
}

std::vector<Field> text_fields(DataConfig& text) {
  std::vector<Field> fields = fields_of(text);
  std::erase_if(fields, [](const Field& field) { return !is_of_text(field.info.name); });
  return fields;
}

/// The settings of a run of train that the hours decide.
struct Length {
  std::string preset;
  std::int64_t updates = 0;
  double seconds = 0;
};

Json to_json(const Length& length) {
  return {{"preset", length.preset}, {"updates", length.updates}, {"seconds", length.seconds}};
}

Length length_from(const Json& json) {
  return {json.at("preset"), json.at("updates"), json.at("seconds")};
}

struct Plan {
  Length teacher;  ///< of the model of each direction
  Length student;
  std::int64_t memory = 0, disk = 0;  ///< bytes

  double seconds() const { return 2 * teacher.seconds + student.seconds; }
};

Json to_json(const Plan& plan) {
  return {{"teacher", to_json(plan.teacher)},
          {"student", to_json(plan.student)},
          {"seconds", plan.seconds()},
          {"memory_bytes", plan.memory},
          {"disk_bytes", plan.disk}};
}

/// The files of a text in the folder of all stages.
struct PlainFiles {
  std::string train_source, train_target, valid_source, valid_target;
};

PlainFiles plain_files(const fs::path& folder) {
  const auto in = [&](const char* name) { return (folder / "text" / name).string(); };
  return {in("train.source"), in("train.target"), in("valid.source"), in("valid.target")};
}

std::int64_t bytes_of(const PlainFiles& files) {
  return static_cast<std::int64_t>(fs::file_size(files.train_source) +
                                   fs::file_size(files.train_target));
}

/// The text as it was given.
struct GivenText {
  PlainData plain;
  ParallelText train;
  std::optional<ParallelText> valid;  ///< none: pairs of the training text are held out

  std::string hash() const {
    return join_text(hex16(train.hash()), ' ', valid ? hex16(valid->hash()) : "");
  }
};

void heed_stop() {
  if (listen_for_stop().stop_requested()) throw PreparationStopped();
}

/// `folder` is for plain copies of files with both sides, which must stay as long as the text.
/// Throws Error for text that train refuses, too, and PreparationStopped.
GivenText read_text(const BestOptions& options, const fs::path& folder) {
  const auto no_report = [](std::int64_t) { heed_stop(); };
  PlainData plain = plain_data(options.text, folder, no_report);
  const DataConfig& data = plain.data;
  const TextReading reading{
      .threads = threads_to_use(options.threads), .stop = listen_for_stop(), .report = no_report};
  ParallelText train(data.train_source, data.train_target, data.invalid, reading);
  std::optional<ParallelText> valid;
  if (!data.valid_source.empty())
    valid.emplace(data.valid_source, data.valid_target, data.invalid, reading);
  return {std::move(plain), std::move(train), std::move(valid)};
}

/// Writes the training and the validation text as plain lines. Copies of pairs are left out;
/// without a validation text pairs are held out as train does it. Throws Error and
/// PreparationStopped.
void write_texts(const BestOptions& options, const GivenText& text, const PlainFiles& files) {
  const fs::path folder = fs::path(files.train_source).parent_path();
  create_folders(folder);
  const WorkContext context{.threads = threads_to_use(options.threads),
                            .stop = listen_for_stop(),
                            .report = [](std::int64_t, std::int64_t) { heed_stop(); }};
  constexpr std::uint64_t kSeed = 1;  // of the pairs that are held out
  PairSelection selection(text.train, text.plain.data, kSeed, context, {folder});
  PairWriter train(files.train_source, files.train_target);
  PairWriter valid(files.valid_source, files.valid_target);
  std::int64_t invalid = 0, copies = 0;
  text.train.for_each_pair(0, text.train.pairs(), [&](std::int64_t pair, auto source, auto target) {
    if (!text.train.is_valid(source, target)) {
      ++invalid;
      return;
    }
    const Fate fate = selection.next(pair, pair_hash(source, target));
    if (fate == Fate::Duplicate)
      ++copies;
    else
      (fate == Fate::HoldOut ? valid : train).write(source, target);
  });
  if (text.valid)
    text.valid->for_each_pair(0, text.valid->pairs(), [&](std::int64_t, auto source, auto target) {
      if (text.valid->is_valid(source, target)) valid.write(source, target);
    });
  if (valid.pairs() == 0)
    throw Error("no pair is left for a validation text; name one, --valid-src and --valid-tgt");
  train.commit();
  valid.commit();
  log_info(join_text("text: ", counted(train.pairs(), "training pair"), ", ",
                     counted(valid.pairs(), "validation pair"),
                     text.valid ? "" : " held out of them",
                     copies > 0 ? join_text("; without ", counted(copies, "copy", "copies")) : "",
                     invalid > 0 ? join_text("; without ", counted(invalid, "invalid pair")) : ""));
}

Words with(Words words, const Words& more) {
  words.insert(words.end(), more.begin(), more.end());
  return words;
}

/// Training on these texts, which are pairs of files.
Words train_words(const BestOptions& options, const PlainFiles& files,
                  const std::vector<std::array<std::string, 2>>& texts) {
  Words words = {"train", "--train-src"};
  for (const auto& text : texts) words.push_back(text[0]);
  words.push_back("--train-tgt");
  for (const auto& text : texts) words.push_back(text[1]);
  words.insert(words.end(), {"--valid-src", files.valid_source, "--valid-tgt", files.valid_target,
                             "--threads", std::to_string(options.threads)});
  if (!options.text.source_lang.empty())
    words.insert(words.end(), {"--source-lang", options.text.source_lang});
  if (!options.text.target_lang.empty())
    words.insert(words.end(), {"--target-lang", options.text.target_lang});
  return words;
}

/// The same on the text alone.
Words train_words(const BestOptions& options, const PlainFiles& files) {
  return train_words(options, files, {{files.train_source, files.train_target}});
}

/// What train --plan says about a run on the text.
struct TrainPlan {
  std::string preset;
  double seconds_per_update = 0;
  std::int64_t updates = 0;           ///< of the run, as train chooses it
  std::int64_t memory = 0, disk = 0;  ///< bytes

  double seconds() const { return seconds_per_update * static_cast<double>(updates); }
};

/// Works in `folder`. Throws PreparationStopped after a stop.
TrainPlan plan_of(const Words& words, const fs::path& folder) {
  const ChildOutput to{.output = (folder / "plan.json").string(),
                       .messages = (folder / "plan.log").string()};
  if (!run_child(with(words, {"--plan", "--quiet", "--log-format", "json"}), to))
    throw PreparationStopped();
  const Json plan = parse_json<Json>(read_file(to.output));
  return {plan.at("preset"), plan.at("seconds_per_update"), plan.at("updates"),
          plan.at("memory_bytes"), plan.at("disk_bytes")};
}

Length length_of(const TrainPlan& plan, double seconds, double most_updates) {
  const double updates = std::floor(std::min(seconds / plan.seconds_per_update, most_updates));
  return {plan.preset, static_cast<std::int64_t>(updates), updates * plan.seconds_per_update};
}

/// The fraction of the hours that is planned for updates. The rest is for validations and
/// translations, and for what a trial of some updates does not see.
constexpr double kTrained = 0.8;

/// What the stages gained over the first model, in the runs that docs/best.md names.
constexpr const char* kGain = "0.8 to 2.5 BLEU";

/// Divides the time for updates. A teacher is trained as long as a run on the text would be, but
/// for a quarter of that time at most; the student gets what is left, up to four times the updates,
/// as it has three texts to learn from. It is `small` if the time suffices for such a run.
Plan plan_stages(const BestOptions& options, const PlainFiles& files, const fs::path& folder) {
  log_info("planning: some updates are tried, to see how long they take here");
  const double usable = kTrained * 3600 * options.hours;
  const Words words = train_words(options, files);
  const TrainPlan usual = plan_of(words, folder);
  Plan plan;
  plan.teacher = length_of(usual, usable / 4, static_cast<double>(usual.updates));
  const double left = usable - 2 * plan.teacher.seconds;
  TrainPlan student = usual;
  if (usual.preset == "tiny") {
    const TrainPlan small = plan_of(with(words, {"--preset", "small"}), folder);
    if (small.seconds() <= left) student = small;
  }
  plan.student = length_of(student, left, 4 * static_cast<double>(student.updates));
  plan.memory = std::max(usual.memory, student.memory);
  // The text is here once as it is and once translated, and the student's corpus has both.
  plan.disk = 2 * usual.disk + student.disk + 4 * bytes_of(files);
  constexpr std::int64_t kLeast = 200;  // updates, for a warm-up and a little more
  if (plan.teacher.updates < kLeast)
    throw UsageError(
        "--hours ", options.hours, ": suffices for ", counted(plan.teacher.updates, "update"),
        " of a first model, which needs ", kLeast, "; give it --hours ",
        fixed_text(1.5 * 4 * kLeast * usual.seconds_per_update / 3600 / kTrained, 2), " or more");
  return plan;
}

/// A command that takes hours, or minutes.
struct Stage {
  std::string name;   ///< of its folder or file
  std::string about;  ///< for people
  Words words;
  double seconds = 0;  ///< planned for a training
};

std::vector<Stage> stages_of(const BestOptions& options, const Plan& plan, const fs::path& folder) {
  const auto in = [&](const char* name) { return (folder / name).string(); };
  const PlainFiles files = plain_files(folder);
  PlainFiles swapped = files;
  std::swap(swapped.train_source, swapped.train_target);
  std::swap(swapped.valid_source, swapped.valid_target);
  BestOptions reversed = options;
  std::swap(reversed.text.source_lang, reversed.text.target_lang);
  const auto length = [](const Length& l, const char* seed) {
    return Words{"--preset", l.preset, "--max-updates", std::to_string(l.updates), "--seed", seed};
  };
  const auto translation = [&](const char* model, const std::string& input, const char* output) {
    return Words{"translate", "-m",       in(model),  "-i",        input,
                 "-o",        in(output), "--resume", "--threads", std::to_string(options.threads)};
  };
  // Half of what it sees was written by people.
  const Words student = train_words(options, files,
                                    {{files.train_source, files.train_target},
                                     {files.train_source, in("forward.text")},
                                     {in("reverse.text"), files.train_target}});
  return {
      {"forward", "a model of the text",
       with(train_words(options, files), with({"-o", in("forward")}, length(plan.teacher, "1"))),
       plan.teacher.seconds},
      {"reverse", "a model of the other direction",
       with(train_words(reversed, swapped), with({"-o", in("reverse")}, length(plan.teacher, "2"))),
       plan.teacher.seconds},
      {"forward.text", "the training text, translated",
       translation("forward", files.train_source, "forward.text")},
      {"reverse.text", "the training text, translated into the source language",
       translation("reverse", files.train_target, "reverse.text")},
      {"student", "a model of the pairs and of both translations",
       with(student, with({"-o", in("student"), "--corpus-weights", "2", "1", "1"},
                          length(plan.student, "3"))),
       plan.student.seconds}};
}

/// The record of a folder: what was asked for, the plan and the stages that are done.
struct Record {
  Json asked;
  LanguagePair languages;
  Plan plan;
  std::vector<std::string> done;
  std::map<std::string, double> seconds;  ///< that all calls have taken, by stage

  static fs::path path(const fs::path& folder) { return folder / "best.json"; }

  void write(const fs::path& folder) const {
    const Json json = {{"asked", asked},
                       {"languages", {languages.source, languages.target}},
                       {"teacher", to_json(plan.teacher)},
                       {"student", to_json(plan.student)},
                       {"done", done},
                       {"seconds", seconds}};
    write_file(path(folder), json_text(json, 2) + "\n");
  }
};

/// Throws Error if the file is no such record.
Record read_record(const fs::path& folder) {
  const fs::path path = Record::path(folder);
  const std::string text = read_file(path);
  try {
    const Json json = parse_json<Json>(text);
    return {json.at("asked"),
            {json.at("languages").at(0), json.at("languages").at(1)},
            {length_from(json.at("teacher")), length_from(json.at("student"))},
            json.at("done"),
            json.at("seconds")};
  } catch (const std::exception& error) {
    throw Error(path.string(), ": is damaged, or no record of this command; name another folder (",
                error.what(), ')');
  }
}

Json asked_of(const BestOptions& options, const GivenText& text) {
  return {{"text", text.hash()},
          {"source-lang", options.text.source_lang},
          {"target-lang", options.text.target_lang},
          {"hours", options.hours}};
}

void require_same(const Json& asked, const Record& record, const fs::path& folder) {
  for (const auto& [name, value] : asked.items()) {
    const Json before = record.asked.value(name, Json());
    if (before == value || (name == "source-lang" && value == record.languages.source) ||
        (name == "target-lang" && value == record.languages.target))
      continue;
    if (name == "text")
      throw UsageError("the text is not the one that ", folder.string(),
                       " was begun with; restore it, or name another folder");
    const auto text_of = [](const Json& given) {
      const std::string text = given.is_string() ? given.get<std::string>() : json_text(given);
      return text.empty() ? "without it" : "with " + text;
    };
    throw UsageError("--", name, ": ", folder.string(), " was begun ", text_of(before), ", not ",
                     text_of(value), "; call it as before, or name another folder");
  }
}

std::string stage_time(const Length& length) {
  return join_text(duration_text(length.seconds), " for ", counted(length.updates, "update"),
                   " of --preset ", length.preset);
}

std::string plan_text(const Plan& plan) {
  return join_text("forward   ", stage_time(plan.teacher), "\nreverse   ", stage_time(plan.teacher),
                   "\nstudent   ", stage_time(plan.student), "\nall       ",
                   duration_text(plan.seconds()),
                   ", without validations and two translations of the text\nmemory    ",
                   bytes_text(plan.memory), "\ndisk      about ", bytes_text(plan.disk),
                   "\ngain      ", kGain, " over the first model, in five runs\n");
}

fs::path model_of(const fs::path& folder) { return folder / "model.safetensors"; }

struct Scores {
  double bleu = 0, chrf = 0;

  auto operator<=>(const Scores&) const = default;
};

/// Scores the models of both stages on the validation text. Returns nothing after a stop.
std::optional<std::array<Scores, 2>> scores_of(const BestOptions& options, const fs::path& folder,
                                               const std::array<std::string, 2>& stages) {
  const PlainFiles files = plain_files(folder);
  const ScratchFolder scratch(folder / "scoring-");
  const std::string output = scratch.path() / "scores.json";
  const Words words = {"evaluate",        "--quiet",
                       "--format",        "json",
                       "--threads",       std::to_string(options.threads),
                       "--src",           files.valid_source,
                       "--ref",           files.valid_target,
                       "--model",         folder / stages[0],
                       folder / stages[1]};
  if (!run_child(words, {.output = output})) return std::nullopt;
  const Json table = parse_json<Json>(read_file(output));
  std::array<Scores, 2> scores;
  for (std::size_t i = 0; i < stages.size(); ++i)
    scores[i] = {table.at(i).at("BLEU").at("score"), table.at(i).at("chrF2").at("score")};
  return scores;
}

/// Makes the better one of the student and the first model the model, on the validation text. A run
/// without the other stages would have been the first model. Returns false after a stop.
bool choose_model(const BestOptions& options, const fs::path& folder) {
  const std::array<std::string, 2> stages = {"forward", "student"};
  const auto scores = scores_of(options, folder, stages);
  if (!scores) return false;
  for (std::size_t i = 0; i < stages.size(); ++i)
    std::cout << std::left << std::setw(9) << stages[i] << " BLEU "
              << fixed_text((*scores)[i].bleu, 2) << "  chrF2 " << fixed_text((*scores)[i].chrf, 2)
              << '\n';
  const auto& [of_first, of_student] = *scores;
  if (of_first > of_student)
    log_warning(
        "the student is no better than the first model, which is kept: more --hours would help");
  const fs::path best = folder / stages[of_first > of_student ? 0 : 1];
  write_file(model_of(folder), MappedFile(model_of(best)).bytes());
  return true;
}

/// One page with the curves of the first model and of the student.
bool draw(const fs::path& folder) {
  return run_child({"plot", "--quiet", (folder / "forward").string(), (folder / "student").string(),
                    "-o", (folder / "best.html").string()},
                   {});
}

/// The training that is left from this stage on.
double seconds_left(const std::vector<Stage>& stages, std::size_t stage, const Record& record) {
  double sum = 0;
  for (; stage < stages.size(); ++stage) {
    const auto before = record.seconds.find(stages[stage].name);
    const double done = before == record.seconds.end() ? 0 : before->second;
    sum += std::max(0.0, stages[stage].seconds - done);
  }
  return sum;
}

/// Throws UsageError if the folder holds a file or folder with a name that a stage or this command
/// gives: somebody else made it, and it would be lost.
void require_free(const BestOptions& options, const fs::path& folder) {
  Words names = {"text", "best.html", "model.safetensors"};
  for (const Stage& stage : stages_of(options, {}, folder)) names.push_back(stage.name);
  for (const std::string& name : names)
    if (const fs::path path = folder / name; fs::exists(fs::symlink_status(path)))
      throw UsageError("--output: ", path.string(),
                       " was not made by this command and would be lost; name another folder");
}

/// Writes the texts into the folder, and plans the stages. `scratch` is for what is needed no
/// longer than that. Leaves nothing behind if that fails.
Record begin(const BestOptions& options, const GivenText& text, const fs::path& folder,
             const fs::path& scratch) {
  require_free(options, folder);
  const PlainFiles files = plain_files(scratch);
  write_texts(options, text, files);
  Record record{.asked = asked_of(options, text),
                .languages = text.plain.languages,
                .plan = plan_stages(options, files, scratch),
                .done = {},
                .seconds = {}};
  fs::rename(scratch / "text", folder / "text");
  record.write(folder);
  return record;
}

void warn_of_little_disk(const Plan& plan, const fs::path& folder) {
  std::error_code none;
  const auto available = static_cast<std::int64_t>(fs::space(folder, none).available);
  if (!none && available < plan.disk)
    log_warning(join_text(folder.string(), ": ", bytes_text(available),
                          " are free, and the stages need about ", bytes_text(plan.disk)));
}

/// The record of the folder, which is made if there is none.
Record open_record(const BestOptions& options, const fs::path& folder) {
  const ScratchFolder scratch(folder / "planning-");
  const GivenText text = read_text(options, scratch.path());
  if (fs::exists(Record::path(folder))) {
    Record record = read_record(folder);
    require_same(asked_of(options, text), record, folder);
    return record;
  }
  Record record = begin(options, text, folder, scratch.path());
  warn_of_little_disk(record.plan, folder);
  return record;
}

/// Returns false after a stop.
bool make_model(BestOptions options) {
  const fs::path folder = options.output;
  const FolderLock lock(folder, "this command runs here already; wait until it ends");
  Record record = open_record(options, folder);
  options.text.source_lang = record.languages.source;
  options.text.target_lang = record.languages.target;
  log_info(join_text("planned: ", duration_text(record.plan.seconds()), " of training; ",
                     Record::path(folder).string()));
  const std::vector<Stage> stages = stages_of(options, record.plan, folder);
  for (std::size_t i = 0; i < stages.size(); ++i) {
    if (std::ranges::count(record.done, stages[i].name) > 0) continue;
    log_info(join_text("stage ", i + 1, " of ", stages.size(), ": ", stages[i].about, ", ",
                       (folder / stages[i].name).string(), "; ",
                       duration_text(seconds_left(stages, i, record)), " of training left in all"));
    const Stopwatch watch;
    const bool ended = run_child(stages[i].words, {});
    record.seconds[stages[i].name] += watch.seconds();
    if (ended) record.done.push_back(stages[i].name);
    record.write(folder);
    if (!ended) return false;
  }
  if (!choose_model(options, folder) || !draw(folder)) return false;
  double seconds = 0;
  for (const Stage& stage : stages) seconds += record.seconds[stage.name];
  log_facts(join_text(model_of(folder).string(), ": done in ", duration_text(seconds),
                      "; asked for ", duration_text(3600 * options.hours)),
            {{"seconds", seconds}, {"hours", options.hours}});
  return true;
}

/// Prints the stages from texts that are removed again.
void print_plan(const BestOptions& options) {
  const ScratchFolder scratch(fs::temp_directory_path() / "dragoman-best-");
  const PlainFiles files = plain_files(scratch.path());
  write_texts(options, read_text(options, scratch.path()), files);
  const Plan plan = plan_stages(options, files, scratch.path());
  std::cout << (log_format() == LogFormat::Json ? json_text(to_json(plan)) + "\n"
                                                : plan_text(plan));
}

int run(const BestOptions& options) {
  options.check();
  const bool is_new = !options.plan && !fs::exists(options.output);
  const auto remove_unused = [&] {
    std::error_code none;
    if (is_new) fs::remove(options.output, none);  // only if it is empty
  };
  int code = 1;  // after a stop; main turns it into the signal's code
  try {
    if (options.plan) {
      print_plan(options);
      return 0;
    }
    create_folders(options.output);
    code = make_model(options) ? 0 : 1;
  } catch (const PreparationStopped&) {
  } catch (...) {
    remove_unused();
    throw;
  }
  remove_unused();
  return code;
}

/// Names this command to whoever trains on a text and leaves the rest to the program. A first
/// model, one of the other direction and a student of twice their length take four times as long.
std::string longer_training(const GivenValues& given, double seconds) {
  std::string command = "dragoman best";
  for (const auto& [flag, values] : given) {
    const bool is_of_the_call = is_among(flag, {"output", "plan", "config", "quiet", "log-format"});
    if (is_of_the_call || values == Words{"auto"} || values == Words{""}) continue;
    if (!is_of_text(flag)) return "";
    command.append(" --").append(flag);
    for (const std::string& word : values) {
      if (word.starts_with("/dev/")) return "";  // a pipe, which is read only once
      command += " " + shell_word(word);
    }
  }
  const double hours = std::ceil(4 * seconds / kTrained / 360) / 10;
  return join_text("with more time, a better model: ", command, " --hours ", text_of(hours),
                   " -o best/ (", kGain, " more in five runs on small texts)");
}

Command best_command() {
  const auto options = std::make_shared<BestOptions>();
  std::vector<Field> fields = text_fields(options->text);
  std::ranges::move(fields_of(*options), std::back_inserter(fields));
  return {.name = "best",
          .summary = "the best model of a text in some hours; the same command resumes",
          .fields = std::move(fields),
          .short_flags = {{"o", "output"}},
          .run = [options](const Invocation&) { return run(*options); },
          .needs_training = true,
          .examples = {"best --train-src train.en --train-tgt train.de -o best/ --hours 2",
                       "best --train memory.tmx --source-lang en --target-lang de --plan"}};
}

}  // namespace

Extra best_extra(const MakeDeviceEngine&) {
  return {.commands = {best_command()}, .longer_training = longer_training};
}

}  // namespace dragoman
