// dragoman translate: lines in, translations out, as a file or as a filter in a pipe.
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "app/command.h"
#include "app/json_lines.h"
#include "app/line_files.h"
#include "app/log.h"
#include "app/open_translator.h"
#include "app/signals.h"
#include "app/translation_format.h"
#include "app/written_translations.h"
#include "base/compressed_text.h"
#include "base/error.h"
#include "base/file_stamp.h"
#include "base/files.h"
#include "base/hash.h"
#include "base/utf8.h"
#include "evaluation/read_lines.h"
#include "inference/translate_text.h"

namespace dragoman {

namespace {

struct TranslateFiles {
  std::vector<std::string> models;
  std::string input = "-", output = "-";
  bool resume = false;
  std::string prefix_file;
  bool json = false;
  JsonErrors json_errors = JsonErrors::Answer;
  bool with_scores = false;
  bool word_scores = false;
  AlignmentFormat alignment = AlignmentFormat::None;

  template <class Visit>
  void for_each_field(Visit&& visit) {
    constexpr std::string_view kFiles = "Files";
    visit({.name = "model",
           .help = "run folder or model file; of several, which must have the same vocabulary, the "
                   "mean of their probabilities decides",
           .group = kFiles,
           .aliases = "models"},
          models);
    visit({.name = "input",
           .help = "sentences, one a line; - for standard input",
           .group = kFiles,
           .aliases = "src,source"},
          input);
    visit({.name = "output",
           .help = "translations, line for line; - for standard output",
           .group = kFiles,
           .aliases = "out"},
          output);
    visit({.name = "resume",
           .help = "go on with --output where an earlier call of the same command was stopped",
           .group = kFiles},
          resume);
    visit(
        {.name = "prefix-file",
         .help =
             "line i is what the translation of line i begins with; a blank line: anything; with a "
             "space at its end: its last word is whole",
         .group = kFiles},
        prefix_file);
    visit(
        {.name = "json",
         .help = "lines are JSON objects: in with the field text (and prefix, beam_size, n_best, "
                 "terms, alignment), out the same object with translation, score, log_probability",
         .group = kFiles},
        json);
    visit(
        {.name = "json-errors",
         .help = "a line that is no such object is answered by one with the field error, or stops "
                 "the work",
         .group = kFiles},
        json_errors);
    visit({.name = "with-scores",
           .help = "write \"line ||| translation ||| F0= log-probability ||| score\", as with "
                   "--n-best above 1",
           .group = kFiles,
           .aliases = "with-score"},
          with_scores);
    visit({.name = "word-scores",
           .help = "add each word's log-probability: \"||| WordScores= -0.1 -0.3\"",
           .group = kFiles},
          word_scores);
    visit({.name = "alignment",
           .help = "add the words that the translation's words come from: hard as source-target "
                   "pairs (\"||| 0-0 1-2\"), soft as each target word's attention",
           .group = kFiles},
          alignment);
  }
};

/// What the translations must have.
struct DemandFiles {
  std::string terms;
  std::string avoid;
  bool protect = false;
  bool terms_force = false;
  std::string number_format;

  template <class Visit>
  void for_each_field(Visit&& visit) {
    constexpr std::string_view kDemands = "Demands";
    visit({.name = "terms",
           .help = "file of \"source term<tab>target term\": where the source has the one, the "
                   "translation has the other",
           .group = kDemands,
           .aliases = "glossary"},
          terms);
    visit({.name = "avoid",
           .help = "file of texts, one a line, that no translation has",
           .group = kDemands,
           .aliases = "negative-constraints"},
          avoid);
    visit({.name = "protect",
           .help = "copy numbers, URLs, e-mail addresses and placeholders ({name}, %s, <tag>) as "
                   "they are",
           .group = kDemands},
          protect);
    visit(
        {.name = "terms-force",
         .help = "what --terms and --protect ask for always, also where it spoils the translation",
         .group = kDemands},
        terms_force);
    visit(
        {.name = "number-format",
         .help = "languages, as en-de: numbers that --protect copies are written as in the second "
                 "(6,263 becomes 6.263)",
         .group = kDemands},
        number_format);
  }

  Demands read() const {
    if (!number_format.empty() && !protect)
      throw UsageError("--number-format ", number_format, ": needs --protect");
    return {.terms = terms.empty() ? Terms() : Terms(terms),
            .protects = protect,
            .numbers = number_format.empty() ? std::optional<NumberConversion>()
                                             : NumberConversion(number_format),
            .demand = terms_force ? PhraseDemand::Always : PhraseDemand::Fluent,
            .avoided = avoid.empty() ? std::vector<std::string>() : read_lines(avoid)};
  }
};

struct TranslateConfig {
  TranslateFiles files;
  DemandFiles demands;
  DecodeConfig decode;
  EngineChoice hardware;

  std::vector<Field> fields() {
    std::vector<Field> all;
    for (auto& part :
         {fields_of(files), fields_of(demands), fields_of(decode), fields_of(hardware)})
      all.insert(all.end(), part.begin(), part.end());
    return all;
  }

  /// Files that are read, besides the input.
  std::vector<std::string> read_besides() const {
    std::vector<std::string> paths;
    for (const std::string& model : files.models)
      paths.push_back(resolve_model_path(model).string());
    for (const std::string& path : {files.prefix_file, demands.terms, demands.avoid})
      if (!path.empty()) paths.push_back(path);
    return paths;
  }

  void validate() const {
    if (files.models.empty()) throw UsageError("--model: name a run folder or a model file");
    if (files.json && !files.prefix_file.empty())
      throw UsageError("--prefix-file: with --json the prefix is a field of each line");
    if (files.resume && is_stream(files.output))
      throw UsageError("--resume: needs --output with the name of a file");
    decode.validate();
  }
};

/// The lines of a plain file, 0 for what cannot be counted before it is read.
std::int64_t count_lines(int descriptor, const std::string& path) {
  struct stat status {};
  if (path == "-" || fstat(descriptor, &status) != 0 || !S_ISREG(status.st_mode)) return 0;
  const MappedFile file(path);
  const std::string_view text = file.bytes();
  if (coding_of(text, true, path) != TextCoding::Plain) return 0;
  const bool has_open_end = !text.empty() && text.back() != '\n';
  return std::count(text.begin(), text.end(), '\n') + (has_open_end ? 1 : 0);
}

/// "-m run/ in.en": the text was meant for --input.
void refuse_text_as_model(const TranslateFiles& files) {
  const std::string& last = files.models.back();
  if (files.models.size() < 2 || !std::filesystem::is_regular_file(last)) return;
  constexpr std::size_t kHeader = 8;  // of a safetensors file its length, then an object of JSON
  const MappedFile file(last);
  if (file.size() <= kHeader || file.bytes()[kHeader] != '{')
    throw UsageError("--model: ", last, " is no model; a text is given by --input ", last);
}

/// What is written would be lost to what is read.
void refuse_own_input(const TranslateConfig& config, int input) {
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
  for (const std::string& other : config.read_besides())
    if (stat(other.c_str(), &in) == 0 && is_output(in))
      throw UsageError("--output: is ", other, ", which is read; name another file");
}

/// A hash of all that decides the lines of output.
std::uint64_t work_of(TranslateConfig config) {
  constexpr std::string_view kDecideNothing[] = {"output", "resume", "json-errors", "threads",
                                                 "batch-size"};
  std::string text = DRAGOMAN_VERSION;
  for (const Field& field : config.fields())
    if (std::ranges::find(kDecideNothing, field.info.name) == std::end(kDecideNothing))
      for (const std::string& value : field.values())
        text += join_text('\n', field.info.name, ' ', value.size(), ' ', value);
  std::vector<std::string> paths = config.read_besides();
  if (!is_stream(config.files.input)) paths.push_back(config.files.input);
  for (const std::string& path : paths) {
    const FileStamp stamp = stamp_of(path);
    text += join_text('\n', stamp.size, ' ', stamp.modified);
  }
  return xxh3(text);
}

std::unique_ptr<Output> open_output(const TranslateConfig& config) {
  const TranslateFiles& files = config.files;
  if (is_stream(files.output)) return open_stream(files.output);
  const bool is_numbered = !files.json && config.decode.n_best > 1;
  return open_part({.path = files.output,
                    .work = work_of(config),
                    .goes_on = files.resume,
                    .is_numbered = is_numbered});
}

std::string name_of_input(const TranslateFiles& files) {
  return files.input == "-" ? "standard input" : files.input;
}

/// What flags and model ask for.
TranslationRequest request_of(const TranslateConfig& config, const OpenedTranslator& model,
                              const Origins& origins, Demands demands) {
  return {.search = model.search_with(config.decode, origins),
          .demands = std::make_shared<const Demands>(std::move(demands)),
          .reports_words = config.files.word_scores,
          .reports_attention = config.files.alignment != AlignmentFormat::None};
}

using Prefixes = std::shared_ptr<const std::vector<std::string>>;

/// Of each line of input; null where none are given. `lines` of input, 0: not known.
Prefixes read_prefixes(const std::string& path, std::int64_t lines) {
  if (path.empty()) return nullptr;
  std::vector<std::string> prefixes = read_all_lines(path);
  for (std::size_t i = 0; i < prefixes.size(); ++i)
    if (find_invalid_utf8(prefixes[i]) != std::string::npos)
      throw Error(path, ":", i + 1, ": invalid UTF-8");
  if (lines > 0 && lines != static_cast<std::int64_t>(prefixes.size()))
    throw Error(path, " has ", prefixes.size(), " lines, the input ", lines);
  return std::make_shared<const std::vector<std::string>>(std::move(prefixes));
}

/// What lines are, by the flags.
ReadLine line_reader(const TranslateFiles& files, JsonLines& requests, const Prefixes& prefixes) {
  if (files.json)
    return [&requests](std::string line, std::int64_t) { return requests.read(std::move(line)); };
  if (!prefixes) return {};
  return [prefixes, path = files.prefix_file](std::string line, std::int64_t number) {
    if (number >= static_cast<std::int64_t>(prefixes->size()))
      throw Error(path, " has ", prefixes->size(), " lines, the input more");
    return LineInput{.text = std::move(line),
                     .prefix = (*prefixes)[static_cast<std::size_t>(number)]};
  };
}

/// Leaves out the lines that an earlier run has translated.
void skip_lines(LineReader& reader, std::int64_t lines, const std::string& name,
                const std::stop_token& stop) {
  while (reader.lines() < lines && !stop.stop_requested()) {
    if (reader.next_line()) continue;
    if (reader.at_end())
      throw Error(name, ": has ", reader.lines(), " lines, and ", lines, " are translated already");
    reader.receive(std::chrono::milliseconds(100));
  }
}

WrittenTranslations written_to(Output& output, JsonLines& requests, const TranslateFiles& files,
                               const DecodeConfig& search) {
  if (files.json) return {output, requests, files.json_errors, name_of_input(files)};
  return {output, TranslationFormat{.all = search.n_best > 1,
                                    .scores = files.with_scores,
                                    .word_scores = files.word_scores,
                                    .alignment = files.alignment}};
}

/// What is left where the work has not come to its end.
void tell_kept(Output& output, const std::string& path) {
  if (const std::string kept = output.kept(); !kept.empty())
    log_warning(join_text(path,
                          ": not written, as not all lines are translated; the others are in ",
                          kept, ", and the same command with --resume goes on from there"));
}

int run_translate(const TranslateConfig& config, const Origins& origins) {
  const TranslateFiles& files = config.files;
  config.validate();
  refuse_text_as_model(files);
  Demands demands = config.demands.read();
  const Descriptor input(files.input, STDIN_FILENO, O_RDONLY);
  refuse_own_input(config, input);
  const std::int64_t lines = count_lines(input, files.input);
  const Prefixes prefixes = read_prefixes(files.prefix_file, lines);
  const std::unique_ptr<Output> output = open_output(config);
  const OpenedTranslator model = open_translator(files.models, config.hardware);
  const TranslationRequest request = request_of(config, model, origins, std::move(demands));
  TranslationService service = model.service(request.search.batch_size);
  JsonLines requests(service, request,
                     {.n_best = request.search.n_best,
                      .word_scores = files.word_scores,
                      .alignment = files.alignment});
  const StreamRequest asked{.request = service.prepare(request),
                            .read_line = line_reader(files, requests, prefixes)};
  WrittenTranslations written = written_to(*output, requests, files, request.search);

  const std::stop_token stop = stop_token();
  LineReader reader(input, name_of_input(files));
  const auto start = std::chrono::steady_clock::now();
  try {
    skip_lines(reader, output->done(), name_of_input(files), stop);
    const bool person_watches =
        isatty(input) == 1 || (files.output == "-" && isatty(STDOUT_FILENO));
    if (!person_watches) written.show_progress(lines, output->done());
    TranslationFacts facts = translate_stream(service, reader, written, asked, stop);
    facts.empty -= written.failed();
    const std::chrono::duration<double> spent = std::chrono::steady_clock::now() - start;
    log_summary(facts, written.failed(), spent.count());
    if (prefixes && !stop.stop_requested() &&
        reader.lines() < static_cast<std::int64_t>(prefixes->size()))
      throw Error(files.prefix_file, " has ", prefixes->size(), " lines, the input ",
                  reader.lines());
  } catch (const std::exception&) {
    tell_kept(*output, files.output);
    throw;
  }
  if (stop.stop_requested())
    tell_kept(*output, files.output);
  else
    output->finish();
  return written.failed() > 0 ? 1 : 0;
}

}  // namespace

Command translate_command() {
  const auto config = std::make_shared<TranslateConfig>();
  const auto invocation = std::make_shared<Invocation>();
  return {.name = "translate",
          .summary = "translate lines: from a file, or as a filter in a pipe",
          .fields = config->fields(),
          .short_flags = {{"m", "model"}, {"i", "input"}, {"o", "output"}, {"b", "beam-size"}},
          .run = [config, invocation] { return run_translate(*config, invocation->origins); },
          .examples = {"translate -m run/ < in.en > out.de",
                       "translate -m run/ -i in.en -o out.de -b 1",
                       "translate -m run/ --n-best 5 < in.en",
                       "translate -m run/ --terms terms.tsv --protect < in.en"},
          .invocation = invocation};
}

}  // namespace dragoman
