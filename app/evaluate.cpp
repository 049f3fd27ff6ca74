// dragoman evaluate: scores translations against their references, or a model by translating first.
#include <algorithm>
#include <iostream>
#include <memory>
#include <utility>

#include "app/command.h"
#include "app/open_model.h"
#include "app/signals.h"
#include "base/error.h"
#include "evaluation/evaluate.h"
#include "evaluation/read_lines.h"
#include "evaluation/report.h"
#include "inference/translator.h"

namespace dragoman {

namespace {

struct EvaluateFiles {
  std::string hypotheses;
  std::vector<std::string> references;
  std::string source;

  template <class Visit>
  void for_each_field(Visit&& visit) {
    constexpr std::string_view kFiles = "Files";
    visit({.name = "hyp",
           .help = "translations to score, one a line; - for standard input; or --model and --src",
           .group = kFiles,
           .aliases = "hypothesis,hypotheses"},
          hypotheses);
    visit({.name = "ref",
           .help = "their references, line for line; a file for each reference",
           .group = kFiles,
           .aliases = "reference,references,refs"},
          references);
    visit({.name = "src",
           .help = "what the model translates, line for line with --ref",
           .group = kFiles,
           .aliases = "source"},
          source);
  }
};

struct EvaluateOptions {
  ModelChoice model;
  EvaluateFiles files;
  EvaluateConfig metrics;
  DecodeConfig decode;

  bool with_model() const { return !model.model.empty(); }
  /// What the references belong to, line for line.
  const std::string& text() const { return with_model() ? files.source : files.hypotheses; }
};

void validate(const EvaluateOptions& options) {
  const EvaluateFiles& files = options.files;
  const bool with_model = options.with_model();
  if (files.hypotheses.empty() != with_model)
    throw UsageError("name what to score: either --hyp FILE, or -m MODEL with --src FILE");
  if (with_model && files.source.empty())
    throw UsageError("--src: name the text that the model translates");
  if (with_model) options.model.validate();
  options.decode.validate();
  if (options.files.references.empty()) throw UsageError("--ref: name a file of references");
  options.metrics.validate();
  auto inputs = files.references;
  inputs.push_back(options.text());
  if (std::count(inputs.begin(), inputs.end(), "-") > 1)
    throw UsageError("--hyp, --src and --ref: standard input (-) can be only one of them");
}

/// Translates the whole text; empty where a stop was requested meanwhile.
std::vector<std::string> translate_text(const EvaluateOptions& options,
                                        const std::vector<std::string>& lines) {
  const OpenedModel model = open_model(options.model);
  TorchEngine engine = model.engine();
  Translator translator(engine, *model.tokenizers.source, *model.tokenizers.target, options.decode);
  std::vector<std::string> hypotheses;
  for (Translation& translation : translator.translate(lines, stop_token()))
    hypotheses.push_back(std::move(translation.n_best.front().text));
  if (stop_token().stop_requested()) hypotheses.clear();
  return hypotheses;
}

/// References of as many lines as `text` has.
References read_references(const std::vector<std::string>& paths, const std::string& text,
                           std::size_t lines) {
  References references;
  for (const std::string& path : paths) {
    references.push_back(read_lines(path));
    if (references.back().size() != lines)
      throw Error(text, " has ", lines, " lines but ", path, " has ", references.back().size());
  }
  return references;
}

int run_evaluate(const EvaluateOptions& options) {
  validate(options);
  const std::string& path = options.text();
  const std::vector<std::string> lines = read_lines(path);
  // What is wrong with the references is said before a long translation.
  const References references = read_references(options.files.references, path, lines.size());
  if (lines.empty()) throw Error(path, " has no lines to score");
  const auto hypotheses = options.with_model() ? translate_text(options, lines) : lines;
  if (hypotheses.empty()) return 1;  // stopped: main turns it into the signal's code
  const auto scores =
      evaluate_lines(hypotheses, references, options.metrics, "dragoman-" DRAGOMAN_VERSION);
  std::cout << report(scores, options.metrics.format, static_cast<int>(options.metrics.width));
  return 0;
}

}  // namespace

Command evaluate_command() {
  const auto options = std::make_shared<EvaluateOptions>();
  std::vector<Field> fields = fields_of(options->files);
  for (Field& field : fields_of(options->model)) fields.push_back(std::move(field));
  for (Field& field : fields_of(options->metrics)) fields.push_back(std::move(field));
  for (Field& field : fields_of(options->decode)) fields.push_back(std::move(field));
  return {.name = "evaluate",
          .summary = "score translations: BLEU, chrF, chrF++",
          .fields = std::move(fields),
          .short_flags =
              {{"i", "hyp"}, {"m", "model"}, {"b", "beam-size"}, {"w", "width"}, {"f", "format"}},
          .run = [options] { return run_evaluate(*options); },
          .examples = {
              "evaluate -m run/ --src test.en --ref test.de", "evaluate --hyp out.de --ref test.de",
              "evaluate --hyp out.de --ref a.de b.de --metrics bleu chrf++ --format json"}};
}

}  // namespace dragoman
