// dragoman explain: the attention, the search and the sizes of a model, shown on given sentences.
#include <filesystem>
#include <iostream>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "app/commands/commands.h"
#include "app/commands/input_output.h"
#include "app/commands/open_model.h"
#include "app/frame/log.h"
#include "app/frame/signals.h"
#include "base/error.h"
#include "base/files.h"
#include "base/formatted_text.h"
#include "base/lines.h"
#include "base/threads.h"
#include "base/utf8.h"
#include "extras/explanation/commands/explain_figure.h"
#include "extras/explanation/explainer.h"
#include "extras/explanation/explanation_json.h"
#include "extras/report/commands/written_pages.h"
#include "extras/report/translation_pages.h"
#include "inference/model_settings.h"

namespace dragoman {

namespace {

enum class ExplanationFormat { Html, Json, Svg };
constexpr std::array<std::string_view, 3> names_of(ExplanationFormat) {
  return {"html", "json", "svg"};
}

struct ExplainFlags {
  std::string model, text, input, target, target_file, output;
  ExplanationFormat format = ExplanationFormat::Html;
  bool packed = false;
  std::int64_t threads = 0;

  void for_each_field(const auto& visit) {
    const auto field = fields_under("Files", visit);
    field("model", model, "run folder or model file", {.placeholder = "FILE"});
    field("text", text, "a sentence");
    field("input", input, "a file with a sentence a line; - for standard input",
          {.aliases = "src", .placeholder = "FILE"});
    field("target", target,
          "the translation of the sentence to look at, instead of the model's own");
    field("target-file", target_file, "the translations of --input to look at, one a line",
          {.aliases = "tgt", .placeholder = "FILE"});
    field("output", output, "the file to write; - for standard output", {.placeholder = "FILE"});
    field("format", format,
          "a page that shows everything (html), all numbers (json), or a figure of the first "
          "sentence (svg); by default the one that the name of --output ends in, else html");
    field("packed", packed,
          "with --format json: vectors and weights as base64 of 16-bit numbers, in a smaller file");
    fields_under("Hardware", visit)(
        "threads", threads, "sentences of --input that are explained at once; 0: as many as cores",
        {.aliases = "cpu-threads"});
  }
};

struct ExplainOptions {
  ExplainFlags flags;
  FigureFlags figure;
  DecodeConfig decode;

  std::vector<Field> fields() {
    std::vector<Field> all = fields_of(flags, figure);
    for (Field& field : fields_of(decode))
      if (is_flag_of_explain(field.info.name)) all.push_back(std::move(field));
    return all;
  }
};

/// Browsers cannot open a page with more sentences.
constexpr std::size_t kMostSentences = 100;

void validate_texts(const ExplainFlags& flags, const GivenValues& given) {
  const auto is_empty = [&given](const std::string& name, const std::string& value) {
    return given.contains(name) && strip(replace_invalid_utf8(value)).empty();
  };
  if (is_empty("text", flags.text)) throw UsageError("--text: the sentence has no text");
  if (is_empty("target", flags.target))
    throw UsageError(
        "--target: the translation has no text; without --target explain looks at the model's own");
  if (flags.text.empty() == flags.input.empty())
    throw UsageError(
        flags.text.empty()
            ? "name a sentence (explain -m run/ \"a sentence\" -o page.html) or --input"
            : "--input: there is a sentence already; give one of the two");
  if (!flags.target.empty() && !flags.input.empty())
    throw UsageError("--target: belongs to one sentence; several have --target-file");
  if (!flags.target_file.empty() && flags.input.empty())
    throw UsageError("--target-file: belongs to --input; one sentence has --target");
  check_standard_input({{"--input", flags.input}, {"--target-file", flags.target_file}});
}

/// --format, or the format that the name of the output implies.
ExplanationFormat format_of(const ExplainFlags& flags, const GivenValues& given) {
  if (given.contains("format")) return flags.format;
  const std::string ending = ascii_lower(std::filesystem::path(flags.output).extension().string());
  for (const ExplanationFormat format : {ExplanationFormat::Json, ExplanationFormat::Svg})
    if (ending == join_text('.', name_of(format))) return format;
  if (!ending.empty() && ending != ".html" && ending != ".htm")
    throw UsageError("--output: the name ends in ", ending,
                     "; explain writes .html, .json or .svg; give --format to say which");
  return flags.format;
}

/// The flags of a call, which were checked for contradictions.
struct ExplainCall {
  ExplainFlags flags;
  FigureFlags figure;
};

ExplainCall checked(const ExplainOptions& options, const GivenValues& given) {
  ExplainCall call{options.flags, options.figure};
  if (call.flags.model.empty()) throw UsageError("--model: name a run folder or a model file");
  validate_texts(call.flags, given);
  if (call.flags.output.empty())
    throw UsageError("--output: name the file to write, or - for standard output");
  call.flags.format = format_of(call.flags, given);
  if (call.flags.packed && call.flags.format != ExplanationFormat::Json)
    throw UsageError("--packed: belongs to --format json");
  if (call.flags.format == ExplanationFormat::Svg) {
    call.figure = checked(call.figure, given);
    return call;
  }
  for (const std::string name : kFigureFlags)
    if (given.contains(name)) throw UsageError("--", name, ": belongs to --format svg");
  return call;
}

/// The lines that have text, with their translations if `targets` has any.
std::vector<GivenSentence> sentences_of_lines(const std::string& file,
                                              const std::vector<std::string>& lines,
                                              const std::vector<std::string>& targets) {
  std::vector<GivenSentence> sentences;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    if (strip(lines[i]).empty()) {
      log_warning(join_text(file, ": line ", i + 1, " has no text and is left out"));
      continue;
    }
    GivenSentence& sentence = sentences.emplace_back();
    sentence.source = lines[i];
    sentence.line = static_cast<std::int64_t>(i) + 1;
    if (!targets.empty()) sentence.target = targets[i];
  }
  if (sentences.empty()) throw Error(file, ": no line has text");
  return sentences;
}

std::vector<GivenSentence> sentences_of(const ExplainFlags& flags) {
  if (flags.input.empty())
    return {{flags.text,
             flags.target.empty() ? std::nullopt : std::optional<std::string>(flags.target)}};
  const std::vector<std::string> lines = read_lines(flags.input);
  require_lines(flags.input, lines.size());
  const std::string name = input_name(flags.input);
  if (lines.size() > kMostSentences)
    throw Error(name, ": has ", counted(static_cast<std::int64_t>(lines.size()), "line"),
                "; explain looks at ", kMostSentences, " at most");
  std::vector<std::string> targets;
  if (!flags.target_file.empty()) {
    targets = read_lines(flags.target_file);
    require_same_lines(flags.input, lines.size(), flags.target_file, targets.size());
  }
  return sentences_of_lines(name, lines, targets);
}

/// Ends the work if a stop is requested.
OnStep stopping() {
  return [stop = listen_for_stop()] {
    if (stop.stop_requested()) throw Error("stopped; nothing is written");
  };
}

void write(const ExplainFlags& flags, const std::string& text) {
  if (flags.output == "-")
    std::cout << text;
  else
    write_file(flags.output, text);
}

/// A page replaces only a page; numbers and a figure, which -o names, replace any text.
void check_output(const ExplainFlags& flags, const std::string& model) {
  if (is_stream(flags.output)) return;
  const std::vector<std::string> inputs = {flags.input, flags.target_file, model};
  if (flags.format == ExplanationFormat::Html)
    check_page_output("--output", flags.output, inputs);
  else
    check_text_output("--output", flags.output, inputs);
}

void log_written(const ExplainFlags& flags, std::size_t sentences) {
  if (is_stream(flags.output)) return;
  const bool is_first_alone = flags.format == ExplanationFormat::Svg && sentences > 1;
  log_info(join_text(flags.output, ": ", is_first_alone ? "the first of " : "",
                     counted(static_cast<std::int64_t>(sentences), "sentence"), " as ",
                     name_of(flags.format),
                     flags.format == ExplanationFormat::Html ? "; open it in a browser" : ""));
}

int run_explain(const ExplainOptions& options, const Invocation& invocation) {
  const auto [flags, figure] = checked(options, invocation.given);
  const std::string path = resolve_model_path(flags.model).string();
  check_output(flags, path);
  const std::vector<GivenSentence> sentences = sentences_of(flags);
  const ModelFileReader file(path, Verify::Header);
  const TokenizerPair tokenizers = load_tokenizers(file);
  const DecodeConfig search =
      search_with(options.decode, invocation.origins, file.decode_defaults());
  if (flags.format == ExplanationFormat::Svg) check(figure, file.config());
  const auto weights = std::make_shared<const CpuModel>(file, ComputeType::Float32);
  if (flags.format == ExplanationFormat::Svg) {
    const GivenSentence& first = sentences.front();
    const SentenceExplanation explanation =
        Explainer(weights, tokenizers, search, stopping()).explain(first.source, first.target);
    write(flags, figure_of(figure, weights->config, explanation));
    log_written(flags, sentences.size());
    return 0;
  }
  const ExplainedModel model{
      .program_version = DRAGOMAN_VERSION,
      .name = flags.model,
      .tokenizers = tokenizers,
      .weights = weights,
      .search = search,
      .characters = file.provenance().characters,
      .form = flags.format == ExplanationFormat::Json
                  ? flags.packed ? ExplanationForm::Packed : ExplanationForm::Numbers
                  : ExplanationForm::Page};
  const std::string json =
      explain_all(model, sentences, stopping(), threads_to_use(flags.threads)).json;
  write(flags, flags.format == ExplanationFormat::Json ? json + "\n" : explanation_page(json));
  log_written(flags, sentences.size());
  return 0;
}

Command explain_command() {
  const auto options = std::make_shared<ExplainOptions>();
  return {.name = "explain",
          .summary = "show what a model does with a sentence: attention, search, probabilities",
          .fields = options->fields(),
          .positionals = {"text"},
          .short_flags = {{"m", "model"},
                          {"i", "input"},
                          {"o", "output"},
                          {"b", "beam-size"},
                          {"f", "format"}},
          .run = [options](const Invocation& call) { return run_explain(*options, call); },
          .examples = {"explain -m run/ \"The old teacher does not know.\" -o page.html",
                       "explain -m run/ -i sentences.en --target-file sentences.de -o page.html",
                       "explain -m run/ \"A sentence.\" --kind encoder --layer 2 --head 1 "
                       "-o figure.svg"}};
}

}  // namespace

Extra explanation_extra(const MakeDeviceEngine&) { return {.commands = {explain_command()}}; }

}  // namespace dragoman
