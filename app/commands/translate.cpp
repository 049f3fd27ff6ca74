// dragoman translate: lines in, translations out, as a file or as a filter in a pipe.
#include "app/commands/translate.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <chrono>
#include <condition_variable>
#include <cstring>
#include <filesystem>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "app/commands/commands.h"
#include "app/commands/input_output.h"
#include "app/commands/json_requests.h"
#include "app/commands/open_model.h"
#include "app/commands/written_translations.h"
#include "app/frame/log.h"
#include "app/frame/signals.h"
#include "base/bytes.h"
#include "base/compressed_text.h"
#include "base/error.h"
#include "base/files.h"
#include "base/formatted_text.h"
#include "base/lines.h"
#include "base/machine.h"
#include "base/utf8.h"
#include "inference/demands.h"
#include "inference/translate_text.h"
#include "model/file/model_file.h"

namespace dragoman {

Demands DemandFiles::read() const {
  return demands_of({.terms = terms.empty() ? Terms() : Terms(terms),
                     .avoid = avoid.empty() ? std::vector<std::string>() : read_lines(avoid),
                     .protect = protect,
                     .terms_force = terms_force,
                     .number_format = number_format});
}

std::vector<Field> TranslateConfig::fields() {
  std::vector<Field> all = fields_of(files);
  for (const DocumentInput& document : documents)
    all.insert(all.end(), document.fields.begin(), document.fields.end());
  for (Field& field : fields_of(demands, decode, hardware)) all.push_back(std::move(field));
  return all;
}

std::vector<std::string> TranslateConfig::read_besides() const {
  std::vector<std::string> paths;
  for (const std::string& model : files.models) paths.push_back(resolve_model_path(model).string());
  for (const std::string& path : {files.prefix_file, demands.terms, demands.avoid})
    if (!path.empty() && path != "-") paths.push_back(path);
  return paths;
}

/// A word without a flag is a text, unless it names a file.
void TranslateConfig::check_text() const {
  std::error_code none;
  if (files.text.empty()) return;
  if (std::filesystem::exists(files.text, none))
    throw UsageError("unexpected argument '", files.text, "'; did you mean ",
                     std::filesystem::is_directory(files.text, none) || is_safetensors(files.text)
                         ? "-m "
                         : "--input ",
                     files.text, '?');
  if (files.input != "-")
    throw UsageError("--input: the command has a text already; give one of the two");
}

const DocumentInput* TranslateConfig::check() const {
  check_text();
  if (files.models.empty() || std::ranges::find(files.models, "") != files.models.end())
    throw UsageError("--model: name a run folder or a model file");
  if (files.input.empty()) throw UsageError("--input: name a file, or - for standard input");
  if (files.output.empty()) throw UsageError("--output: name a file, or - for standard output");
  if (demands.terms_force && !files.json && demands.terms.empty() && !demands.protect)
    throw UsageError("--terms-force: needs --terms or --protect");
  if (files.json && !files.prefix_file.empty())
    throw UsageError("--prefix-file: with --json the prefix is a field of each line");
  if (files.json && files.with_scores)
    throw UsageError("--with-scores: with --json each answer has its scores; leave the flag out");
  if (!files.json && files.json_errors == JsonErrors::Stop)
    throw UsageError("--json-errors: needs --json");
  if (files.resume && is_stream(files.output))
    throw UsageError("--resume: needs --output with the name of a file");
  check_standard_input({{"--input", files.input},
                        {"--prefix-file", files.prefix_file},
                        {"--terms", demands.terms},
                        {"--avoid", demands.avoid}});
  const auto document = std::ranges::find_if(
      documents, [this](const DocumentInput& input) { return input.is_asked_for(*this); });
  decode.check();
  return document == documents.end() ? nullptr : &*document;
}

namespace {

/// Not a pipe, a terminal or a device.
bool is_file(int descriptor) {
  struct stat status {};
  return fstat(descriptor, &status) == 0 && S_ISREG(status.st_mode);
}

/// The number of lines of a plain file; 0 for an input that must be read before it can be counted.
std::int64_t count_lines(int descriptor, const std::string& path) {
  if (path == "-" || !is_file(descriptor)) return 0;
  const MappedFile file(path);
  const std::string_view text = file.bytes();
  if (coding_of(text, true, path) != TextCoding::Plain) return 0;
  const bool has_open_end = !text.empty() && text.back() != '\n';
  return std::count(text.begin(), text.end(), '\n') + (has_open_end ? 1 : 0);
}

/// -m takes a list, so in `-m run/ "A man walks."` it has taken the text, too. A word without a
/// blank may be a mistyped model.
void take_text_from_models(TranslateFiles& files) {
  const std::string ending = std::filesystem::path(files.text).extension();
  const bool is_word = files.text.find_first_of(" \t\n:") == std::string::npos;
  if (is_word && ending.size() > 1 && std::isalpha(static_cast<unsigned char>(ending[1])))
    throw UsageError("the text '", files.text,
                     "' looks like the name of a file; did you mean --input ", files.text,
                     "? Such a text goes to standard input");
  if (files.models.size() < 2) return;
  const std::string last = files.models.back();
  std::error_code none;  // a text may be too long for a name
  if (std::filesystem::is_regular_file(last, none) && !is_safetensors(last))
    throw UsageError("--model: ", last, " is not a model; a text is given by --input ", last);
  if (std::filesystem::exists(last, none)) return;
  if (last.find_first_of(" \t\n") == std::string::npos) {
    if (last.find('/') != std::string::npos || last.ends_with(".safetensors")) return;
    throw UsageError("--model: ", last, " does not exist; if it is a text: --text \"", last,
                     "\", the whole of it in quotes");
  }
  if (!files.text.empty())
    throw UsageError("--text: there are two texts, '", files.text, "' and '", last,
                     "'; put one text in quotes, or the lines into a file (--input)");
  files.text = last;
  files.models.pop_back();
}

/// The text of the command, or --input.
Descriptor open_input(const TranslateFiles& files) {
  if (files.text.empty()) return Descriptor(files.input, STDIN_FILENO, O_RDONLY);
  const int memory = memfd_create("text", MFD_CLOEXEC);
  const std::string line = files.text + "\n";
  if (memory < 0 || ::write(memory, line.data(), line.size()) != std::ssize(line) ||
      lseek(memory, 0, SEEK_SET) != 0)
    throw Error("cannot store the text: ", std::strerror(errno));
  return Descriptor(memory);
}

/// Refuses an output that is one of the files that are read.
void refuse_own_input(const TranslateConfig& config, const Invocation& call, int input) {
  const std::string& path = config.files.output;
  struct stat in {
  }, out{};
  const bool exists = path == "-" ? fstat(STDOUT_FILENO, &out) == 0 : stat(path.c_str(), &out) == 0;
  if (!exists || !S_ISREG(out.st_mode)) return;
  const auto is_output = [&out](const struct stat& file) {
    return file.st_dev == out.st_dev && file.st_ino == out.st_ino;
  };
  if (fstat(input, &in) == 0 && is_output(in))
    throw UsageError("--output: is the input itself; name another file");
  std::vector<std::string> others = config.read_besides();
  if (call.given.contains("config")) others.push_back(call.given.at("config").back());
  for (const std::string& other : others)
    if (stat(other.c_str(), &in) == 0 && is_output(in))
      throw UsageError("--output: is ", other, ", which is read; name another file");
}

/// A hash of all that decides the lines of output. The contents of files count, not their names.
std::uint64_t work_hash(TranslateConfig config) {
  std::string text = DRAGOMAN_VERSION;
  for (const Field& field : config.fields())
    if (!is_among(field.info.name, {"model", "input", "output", "prefix-file", "terms", "avoid",
                                    "resume", "json-errors", "threads", "batch-size"}))
      for (const std::string& value : field.values())
        text += join_text('\n', field.info.name, ' ', value.size(), ' ', value);
  for (const std::string& model : config.files.models)
    text += "\nmodel " + ModelFileReader(resolve_model_path(model), Verify::Header).checksum();
  const auto add = [&text](std::string_view role, const std::string& path) {
    if (!path.empty() && !is_stream(path))
      text += join_text('\n', role, ' ', hex16(xxh3(MappedFile(path).bytes())));
  };
  add("input", config.files.input);
  add("prefixes", config.files.prefix_file);
  add("terms", config.demands.terms);
  add("avoid", config.demands.avoid);
  return xxh3(text);
}

PartFile part_of(const TranslateConfig& config) {
  const TranslateFiles& files = config.files;
  return {.path = files.output,
          .work = work_hash(config),
          .is_numbered = !files.json && config.decode.n_best > 1,
          .expects_last_lines_again = is_stream(files.input)};
}

std::unique_ptr<Output> open_output(const TranslateConfig& config) {
  if (is_stream(config.files.output)) return open_stream(config.files.output);
  check_text_output("--output", config.files.output, {});
  return open_part(part_of(config));
}

std::string name_of_input(const TranslateFiles& files) {
  if (!files.text.empty()) return "the text";
  return input_name(files.input);
}

enum class Work { ToDo, Done, Stopped };

/// Whether --resume finds the whole output. Reads the input to its end to count its lines. Throws
/// Error if the output has another number of lines.
Work find_work(const TranslateConfig& config, int input) {
  const TranslateFiles& files = config.files;
  if (!files.resume) return Work::ToDo;
  const std::optional<std::int64_t> there = finished_lines(part_of(config));
  if (!there) return Work::ToDo;
  const std::stop_token stop = listen_for_stop();
  LineReader reader(input, name_of_input(files));
  while (!reader.at_end()) {
    if (stop.stop_requested()) return Work::Stopped;
    reader.receive(std::chrono::milliseconds(100));
    while (reader.next_line()) continue;
  }
  if (reader.lines() != *there)
    throw Error(files.output, ": has ", counted(*there, "line"), " but ", name_of_input(files),
                " has ", counted(reader.lines(), "line"),
                ", and there is no unfinished output; without --resume all is translated again");
  log_info(join_text(files.output, ": is complete, ", counted(*there, "line"),
                     "; nothing to do (without --resume all is translated again)"));
  return Work::Done;
}

/// The request that flags and model make together.
TranslationRequest request_of(const TranslateConfig& config, const OpenedTranslator& model,
                              const Origins& origins, Demands demands) {
  return {.config = model.search_with(config.decode, origins),
          .demands = std::make_shared<const Demands>(std::move(demands)),
          .reports_words = config.files.word_scores,
          .reports_attention = config.files.alignment != AlignmentFormat::None};
}

/// A prefix for each line of input; null without a file.
using Prefixes = std::shared_ptr<const std::vector<std::string>>;

/// `lines`: of the input; 0: not known.
Prefixes read_prefixes(const std::string& path, std::int64_t lines) {
  if (path.empty()) return nullptr;
  std::vector<std::string> prefixes = read_lines(path);
  if (lines > 0 && lines != std::ssize(prefixes))
    throw Error(path, " has ", counted(std::ssize(prefixes), "line"), ", the input ",
                with_separators(lines), "; each line needs a prefix or a blank line");
  return std::make_shared<const std::vector<std::string>>(std::move(prefixes));
}

/// Refuses prefixes beyond the last line of an input whose lines could not be counted before.
void refuse_more_prefixes(const Prefixes& prefixes, const TranslateFiles& files,
                          std::int64_t lines) {
  if (prefixes && lines < std::ssize(*prefixes))
    throw Error(files.prefix_file, " has ", counted(std::ssize(*prefixes), "line"), ", the input ",
                with_separators(lines));
}

/// Warns of the first line that is not UTF-8 when it comes; at the end all are counted. `path` is
/// that of the prefixes.
ReadLine text_reader(const Prefixes& prefixes, const std::string& path) {
  return [prefixes, path, warned = false](std::string line, std::int64_t number) mutable {
    if (!warned && find_invalid_utf8(line) != std::string::npos) {
      warned = true;
      log_warning(join_text("line ", number + 1, ": invalid UTF-8, which is replaced", kWayToUtf8));
    }
    LineInput input{.text = std::move(line)};
    if (!prefixes) return input;
    if (number >= std::ssize(*prefixes))
      throw Error(path, " has ", counted(std::ssize(*prefixes), "line"), ", the input more");
    input.prefix = (*prefixes)[static_cast<std::size_t>(number)];
    return input;
  };
}

/// Turns a line of input into a request, as the flags say.
ReadLine request_reader(const TranslateFiles& files, JsonRequests& requests,
                        const Prefixes& prefixes) {
  if (files.json)
    return [&requests](std::string line, std::int64_t) { return requests.read(std::move(line)); };
  return text_reader(prefixes, files.prefix_file);
}

/// Leaves out the lines that an earlier call has translated.
void skip_lines(LineReader& reader, std::int64_t lines, const std::string& name,
                const std::stop_token& stop) {
  while (reader.lines() < lines && !stop.stop_requested()) {
    if (reader.next_line()) continue;
    if (reader.at_end())
      throw Error(name, ": has ", counted(reader.lines(), "line"), ", and ", with_separators(lines),
                  lines == 1 ? " is" : " are", " translated already");
    reader.receive(std::chrono::milliseconds(100));
  }
}

WrittenTranslations written_to(Output& output, JsonRequests& requests, const TranslateFiles& files,
                               const DecodeConfig& search) {
  if (files.json) return {output, requests, files.json_errors, name_of_input(files)};
  return {output, TranslationFormat{.all = search.n_best > 1,
                                    .scores = files.with_scores,
                                    .word_scores = files.word_scores,
                                    .alignment = files.alignment}};
}

/// Warns of the lines that are kept if the work has not come to its end. `translated`: their
/// number, if it is known.
void warn_of_kept_lines(Output& output, const std::string& path,
                        std::optional<std::int64_t> translated, std::int64_t lines) {
  const std::string kept = output.kept();
  if (kept.empty()) return;
  if (!translated) {
    log_warning(join_text(path, " is not written yet: what is translated is in ", kept,
                          "; once the cause of the error is fixed, the same command resumes "
                          "from there"));
    return;
  }
  const std::string of_all = lines > 0
                                 ? with_separators(*translated) + " of " + counted(lines, "line")
                                 : counted(*translated, "line");
  log_warning(
      join_text(path, " is not written yet: ", of_all,
                *translated == 1 ? " is translated. It is in " : " are translated. They are in ",
                kept, "; the same command resumes from there"));
}

/// Whether a stop is requested now or within 200 ms. Ctrl-C ends the writer of a pipe, too, and the
/// end of its text may be seen a moment before the signal: the text is not whole then.
bool is_stopped_at_the_end(const std::stop_token& stop) {
  constexpr std::chrono::milliseconds kMoment(200);
  std::mutex mutex;
  std::unique_lock lock(mutex);
  std::condition_variable_any never;
  never.wait_for(lock, stop, kMoment, [] { return false; });
  return stop.stop_requested();
}

/// The model, the request that the flags make of it, and the service that translates with it.
struct TranslationSession {
  TranslationSession(const TranslateConfig& config, const Origins& origins, Demands demands,
                     const MakeDeviceEngine& make_device_engine)
      : model(open_translator(config.files.models, config.hardware, make_device_engine)),
        request(request_of(config, model, origins, std::move(demands))),
        service(model.service({.rows = request.config.batch_size})) {}

  const OpenedTranslator model;
  const TranslationRequest request;
  TranslationService service;
};

struct InputText {
  int descriptor;
  std::int64_t lines;  ///< 0: not known
  Prefixes prefixes;   ///< null: none
};

/// Translates the lines that the output does not have yet. Returns the number of lines that were
/// not requests (--json).
std::int64_t translate_input(TranslationSession& session, const TranslateFiles& files,
                             const InputText& input, Output& output) {
  TranslationService& service = session.service;
  const auto prepare = [&service](const TranslationRequest& any) { return service.prepare(any); };
  JsonRequests requests(prepare, session.request,
                        {.n_best = session.request.config.n_best,
                         .word_scores = files.word_scores,
                         .alignment = files.alignment});
  const StreamRequest stream{.request = prepare(session.request),
                             .read_line = request_reader(files, requests, input.prefixes)};
  WrittenTranslations written = written_to(output, requests, files, session.request.config);

  const std::stop_token stop = listen_for_stop();
  LineReader reader(input.descriptor, name_of_input(files));
  const Stopwatch watch;
  try {
    skip_lines(reader, output.done(), name_of_input(files), stop);
    const bool person_watches =
        isatty(input.descriptor) == 1 || (files.output == "-" && isatty(STDOUT_FILENO));
    if (!person_watches) written.show_progress(input.lines, output.done());
    TranslationFacts facts = translate_stream(service, reader, written, stream, stop);
    facts.empty -= written.failed();  // lines that are not requests went through as empty texts
    log_summary(facts, written.failed(), output.done(), watch.seconds());
    if (!stop.stop_requested()) refuse_more_prefixes(input.prefixes, files, reader.lines());
  } catch (const std::exception&) {
    // A full disk may have cost some of them.
    warn_of_kept_lines(output, files.output, {}, input.lines);
    throw;
  }
  const bool waits = !is_file(input.descriptor) && !is_stream(files.output);
  if (waits ? is_stopped_at_the_end(stop) : stop.stop_requested())
    warn_of_kept_lines(output, files.output, written.lines(), input.lines);
  else
    output.finish();
  return written.failed();
}

/// Replaces --number-format auto by the languages of the first model.
void settle_number_format(TranslateConfig& config) {
  std::string& format = config.demands.number_format;
  if (format != "auto") return;
  const ModelFileReader file(resolve_model_path(config.files.models.front()), Verify::Header);
  format = number_format_of(format, file.provenance());
}

ScoreUse score_use(const TranslateConfig& config) {
  const bool shows = config.files.json || config.files.with_scores || config.decode.n_best > 1;
  return shows ? ScoreUse::Shown : ScoreUse::None;
}

int run_translate(TranslateConfig config, const Invocation& call,
                  const MakeDeviceEngine& make_device_engine) {
  if (is_given(call.origins, "text") && config.files.text.empty())
    throw UsageError("--text: is empty; is it a variable of the shell that has no value?");
  take_text_from_models(config.files);
  const TranslateFiles& files = config.files;
  const DocumentInput* const document = config.check();
  refuse_flags_without_draws(config.decode, call.origins, score_use(config));
  settle_number_format(config);
  Demands demands = config.demands.read();
  const Descriptor input = open_input(files);
  refuse_own_input(config, call, input);
  if (document) {
    if (!is_stream(files.output)) check_text_output("--output", files.output, {});
    const TranslateDocument translate = document->read(input, name_of_input(files));
    TranslationSession session(config, call.origins, std::move(demands), make_device_engine);
    translate(session.service, session.request, files.output);
    return 0;
  }
  const Work work = find_work(config, input);
  if (work == Work::Done) return files.json && failed_answers(files.output) > 0 ? 1 : 0;
  if (work == Work::Stopped) return 0;
  const std::int64_t lines = count_lines(input, files.input);
  const Prefixes prefixes = read_prefixes(files.prefix_file, lines);
  const std::unique_ptr<Output> output = open_output(config);
  const std::int64_t failed_before = files.json ? failed_answers(output->kept()) : 0;
  TranslationSession session(config, call.origins, std::move(demands), make_device_engine);
  const std::int64_t failed = translate_input(session, files, {input, lines, prefixes}, *output);
  return failed_before + failed > 0 ? 1 : 0;
}

}  // namespace

Command translate_command(MakeDeviceEngine make_device_engine,
                          std::vector<DocumentInput> documents) {
  const auto config = std::make_shared<TranslateConfig>();
  config->documents = std::move(documents);
  std::vector<std::string> examples = {
      "translate -m run/ \"A man walks.\"", "translate -m run/ < in.en > out.de",
      "translate -m run/ -i in.en -o out.de -b 1", "translate -m run/ --n-best 5 < in.en",
      "translate -m run/ --terms terms.tsv --protect < in.en"};
  for (const DocumentInput& document : config->documents)
    examples.insert(examples.end(), document.examples.begin(), document.examples.end());
  return {.name = "translate",
          .summary = "translate lines: from a file, or as a filter in a pipe",
          .fields = config->fields(),
          .positionals = {"text"},
          .short_flags = {{"m", "model"}, {"i", "input"}, {"o", "output"}, {"b", "beam-size"}},
          .run =
              [config, make_device_engine = std::move(make_device_engine)](const Invocation& call) {
                return run_translate(*config, call, make_device_engine);
              },
          .examples = std::move(examples)};
}

}  // namespace dragoman
