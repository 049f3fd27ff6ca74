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
  std::vector<std::string> hypotheses;
  std::vector<std::string> references;
  std::string source;

  template <class Visit>
  void for_each_field(Visit&& visit) {
    constexpr std::string_view kFiles = "Files";
    visit(
        {.name = "hyp",
         .help = "translations to score, one a line; a file for each system, of which the first is "
                 "the baseline; - for standard input; or --model and --src",
         .group = kFiles,
         .aliases = "hypothesis,hypotheses,input"},
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
  std::vector<std::string> texts() const {
    return with_model() ? std::vector{files.source} : files.hypotheses;
  }
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
  const EvaluateConfig& metrics = options.metrics;
  const bool paired = metrics.paired_bootstrap || metrics.paired_approximate_randomization;
  if (paired && files.hypotheses.size() < 2)
    throw UsageError(
        metrics.paired_bootstrap ? "--paired-bootstrap" : "--paired-approximate-randomization",
        ": name two or more systems with --hyp, the baseline first");
  if (metrics.sentence_level && files.hypotheses.size() > 1)
    throw UsageError("--sentence-level: name one system with --hyp");
  auto inputs = options.texts();
  std::sort(inputs.begin(), inputs.end());
  if (const auto twice = std::adjacent_find(inputs.begin(), inputs.end()); twice != inputs.end())
    throw UsageError("--hyp ", *twice, ": named twice");
  inputs.insert(inputs.end(), files.references.begin(), files.references.end());
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

/// Texts of so many lines, which `first_path` has.
std::vector<std::vector<std::string>> read_parallel(const std::vector<std::string>& paths,
                                                    const std::string& first_path,
                                                    std::size_t lines) {
  std::vector<std::vector<std::string>> texts;
  for (const std::string& path : paths) {
    texts.push_back(read_lines(path));
    if (texts.back().size() != lines)
      throw Error(first_path, " has ", lines, " lines but ", path, " has ", texts.back().size());
  }
  return texts;
}

int run_evaluate(const EvaluateOptions& options) {
  validate(options);
  const std::vector<std::string> paths = options.texts();
  std::vector<std::vector<std::string>> texts = {read_lines(paths.front())};
  const std::size_t lines = texts.front().size();
  for (auto& text : read_parallel({paths.begin() + 1, paths.end()}, paths.front(), lines))
    texts.push_back(std::move(text));
  // What is wrong with the references is said before a long translation.
  const References references = read_parallel(options.files.references, paths.front(), lines);
  if (lines == 0) throw Error(paths.front(), " has no lines to score");
  if (options.with_model()) texts.front() = translate_text(options, texts.front());
  if (texts.front().empty()) return 1;  // stopped: main turns it into the signal's code
  const auto width = static_cast<int>(options.metrics.width);
  constexpr const char* kVersion = "dragoman-" DRAGOMAN_VERSION;
  std::cout << (texts.size() == 1
                    ? report(evaluate_lines(texts.front(), references, options.metrics, kVersion),
                             options.metrics.format, width)
                    : report(compare_systems(paths, texts, references, options.metrics, kVersion),
                             options.metrics.format, width));
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
          .summary = "score translations: BLEU, chrF, chrF++, TER",
          .fields = std::move(fields),
          .short_flags =
              {{"i", "hyp"}, {"m", "model"}, {"b", "beam-size"}, {"w", "width"}, {"f", "format"}},
          .run = [options] { return run_evaluate(*options); },
          .examples = {
              "evaluate -m run/ --src test.en --ref test.de", "evaluate --hyp out.de --ref test.de",
              "evaluate --hyp out.de --ref a.de b.de --metrics bleu chrf++ ter --format json",
              "evaluate --hyp old.de new.de --ref test.de --paired-bootstrap"}};
}

}  // namespace dragoman
