// dragoman evaluate: scores translations against their references, or a model by translating first.
#include <algorithm>
#include <iostream>
#include <memory>
#include <optional>
#include <utility>

#include "app/command.h"
#include "app/evaluation_page.h"
#include "app/log.h"
#include "app/open_model.h"
#include "app/signals.h"
#include "base/error.h"
#include "base/files.h"
#include "evaluation/evaluate.h"
#include "evaluation/read_lines.h"
#include "evaluation/report.h"
#include "inference/translator.h"

namespace dragoman {

namespace {

struct EvaluateFiles {
  std::vector<std::string> hypotheses;
  std::vector<std::string> models;
  std::vector<std::string> references;
  std::string source;
  std::string html;

  template <class Visit>
  void for_each_field(Visit&& visit) {
    constexpr std::string_view kFiles = "Files";
    visit(
        {.name = "hyp",
         .help = "translations to score, one a line; a file for each system, of which the first is "
                 "the baseline; - for standard input",
         .group = kFiles,
         .aliases = "hypothesis,hypotheses,input"},
        hypotheses);
    visit({.name = "model",
           .help = "run folders or model files that translate --src, each a system to score, too",
           .group = kFiles},
          models);
    visit({.name = "ref",
           .help = "references of the translations, line for line; a file for each reference",
           .group = kFiles,
           .aliases = "reference,references,refs"},
          references);
    visit(
        {.name = "src",
         .help = "what the models translate, line for line with --ref; without models it is shown "
                 "in --html",
         .group = kFiles,
         .aliases = "source"},
        source);
    visit(
        {.name = "html",
         .help = "also write a page with the scores, where they come from, and the sentences side "
                 "by side",
         .group = kFiles},
        html);
  }
};

struct EvaluateOptions {
  EvaluateFiles files;
  HardwareChoice hardware;
  EvaluateConfig metrics;
  DecodeConfig decode;

  /// Files whose lines belong to those of the references.
  std::vector<std::string> texts() const {
    std::vector<std::string> texts = files.hypotheses;
    if (!files.source.empty()) texts.push_back(files.source);
    return texts;
  }
  /// Names of what is scored.
  std::vector<std::string> systems() const {
    std::vector<std::string> systems = files.hypotheses;
    systems.insert(systems.end(), files.models.begin(), files.models.end());
    return systems;
  }
};

void check_systems(const EvaluateOptions& options) {
  std::vector<std::string> systems = options.systems();
  if (systems.empty())
    throw UsageError("name what to score: --hyp FILE, or -m MODEL with --src FILE");
  const EvaluateConfig& metrics = options.metrics;
  const bool paired = metrics.paired_bootstrap || metrics.paired_approximate_randomization;
  if (paired && systems.size() < 2)
    throw UsageError(
        metrics.paired_bootstrap ? "--paired-bootstrap" : "--paired-approximate-randomization",
        ": name two or more systems with --hyp or -m, the baseline first");
  if (metrics.sentence_level && (systems.size() > 1 || !options.files.html.empty()))
    throw UsageError("--sentence-level: name one system alone, without --html");
  std::sort(systems.begin(), systems.end());
  if (const auto twice = std::adjacent_find(systems.begin(), systems.end()); twice != systems.end())
    throw UsageError(*twice, " is named twice among the systems to score");
}

void validate(const EvaluateOptions& options) {
  const EvaluateFiles& files = options.files;
  check_systems(options);
  if (!files.models.empty() && files.source.empty())
    throw UsageError("--src: name the text that the model translates");
  options.decode.validate();
  if (files.references.empty()) throw UsageError("--ref: name a file of references");
  options.metrics.validate();
  auto inputs = options.texts();
  inputs.insert(inputs.end(), files.references.begin(), files.references.end());
  if (std::count(inputs.begin(), inputs.end(), "-") > 1)
    throw UsageError("--hyp, --src and --ref: standard input (-) can be only one of them");
}

/// Translates the whole text; stops early where a stop is requested.
std::vector<std::string> translate_text(const EvaluateOptions& options, const std::string& path,
                                        const std::vector<std::string>& lines) {
  const OpenedModel model = open_model(path, options.hardware);
  TorchEngine engine = model.engine();
  Translator translator(engine, *model.tokenizers.source, *model.tokenizers.target, options.decode);
  std::vector<std::string> hypotheses;
  for (Translation& translation : translator.translate(lines, stop_token()))
    hypotheses.push_back(std::move(translation.n_best.front().text));
  return hypotheses;
}

using Texts = std::vector<std::vector<std::string>>;

/// Each of as many lines as the first of them all, which is `first_path`.
Texts read_parallel(const std::vector<std::string>& paths, const std::string& first_path,
                    std::optional<std::size_t>& lines) {
  Texts texts;
  for (const std::string& path : paths) {
    texts.push_back(read_lines(path));
    const std::size_t found = texts.back().size();
    if (found != lines.value_or(found))
      throw Error(first_path, " has ", *lines, " lines but ", path, " has ", found);
    lines = found;
  }
  return texts;
}

int run_evaluate(const EvaluateOptions& options) {
  validate(options);
  // What is wrong with a file is said before a long translation.
  std::optional<std::size_t> lines;
  const std::vector<std::string> paths = options.texts();
  Texts texts = read_parallel(paths, paths.front(), lines);
  const References references = read_parallel(options.files.references, paths.front(), lines);
  if (*lines == 0) throw Error(paths.front(), " has no lines to score");
  const EvaluateFiles& files = options.files;
  std::vector<std::string> source;
  if (!files.source.empty()) {
    source = std::move(texts.back());
    texts.pop_back();
  }
  for (const std::string& model : files.models) {
    if (files.models.size() > 1) log_info(join_text("translating with ", model));
    texts.push_back(translate_text(options, model, source));
    if (stop_token().stop_requested()) return 1;  // main turns it into the signal's code
  }
  const auto width = static_cast<int>(options.metrics.width);
  constexpr const char* kVersion = "dragoman-" DRAGOMAN_VERSION;
  const ReportFormat format = options.metrics.format;
  if (texts.size() == 1 && files.html.empty()) {
    std::cout << report(evaluate_lines(texts.front(), references, options.metrics, kVersion),
                        format, width);
    return 0;
  }
  const auto counts = count_systems(texts, references, options.metrics, kVersion);
  const Comparison comparison = compare(options.systems(), counts, options.metrics);
  if (!files.html.empty())
    write_file(files.html,
               to_html(evaluation_page({comparison, counts, texts, references, source}, width)));
  std::cout << report(comparison, format, width);
  return 0;
}

}  // namespace

Command evaluate_command() {
  const auto options = std::make_shared<EvaluateOptions>();
  std::vector<Field> fields = fields_of(options->files);
  for (Field& field : fields_of(options->hardware)) fields.push_back(std::move(field));
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
              "evaluate --hyp old.de new.de --ref test.de --paired-bootstrap",
              "evaluate -m run/checkpoints/update-*.safetensors --src test.en --ref test.de"}};
}

}  // namespace dragoman
