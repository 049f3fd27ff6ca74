// dragoman evaluate: scores translations against their references, or a model by translating first.
#include <iostream>
#include <memory>
#include <utility>

#include "app/command.h"
#include "app/signals.h"
#include "base/error.h"
#include "evaluation/evaluate.h"
#include "evaluation/read_lines.h"
#include "evaluation/report.h"
#include "inference/model_tokenizers.h"
#include "inference/torch/torch_engine.h"
#include "inference/translator.h"
#include "model/device.h"
#include "model/load_transformer.h"

namespace dragoman {

namespace {

struct EvaluateFiles {
  std::string hypotheses;
  std::vector<std::string> references;
  std::string model, source;
  std::string device = "auto";
  std::int64_t threads = 0;

  template <class Visit>
  void for_each_field(Visit&& visit) {
    constexpr std::string_view kFiles = "Files";
    visit({.name = "hyp",
           .help = "translations to score, one a line; - for standard input",
           .group = kFiles,
           .aliases = "hypothesis,hypotheses"},
          hypotheses);
    visit({.name = "ref",
           .help = "their references, line for line; a file for each reference",
           .group = kFiles,
           .aliases = "reference,references,refs"},
          references);
    visit({.name = "model",
           .help = "run folder or model file to be scored, instead of --hyp",
           .group = kFiles},
          model);
    visit({.name = "src",
           .help = "what the model translates, line for line with --ref",
           .group = kFiles,
           .aliases = "source"},
          source);
    visit({.name = "device", .help = "auto, cpu, cuda or cuda:N", .group = "Hardware"}, device);
    visit({.name = "threads",
           .help = "of the CPU; 0: all that this process may use",
           .group = "Hardware",
           .aliases = "cpu-threads"},
          threads);
  }
};

struct EvaluateOptions {
  EvaluateFiles files;
  EvaluateConfig metrics;
  DecodeConfig decode;
};

void validate(const EvaluateOptions& options) {
  const EvaluateFiles& files = options.files;
  if (files.hypotheses.empty() == files.model.empty())
    throw UsageError("name what to score: either --hyp FILE, or -m MODEL with --src FILE");
  if (!files.model.empty() && files.source.empty())
    throw UsageError("--src: name the text that the model translates");
  if (files.threads < 0) throw UsageError("--threads: must not be negative");
  options.decode.validate();
  if (options.files.references.empty()) throw UsageError("--ref: name a file of references");
  options.metrics.validate();
}

/// Translates the whole text; empty where a stop was requested meanwhile.
std::vector<std::string> translate_text(const EvaluateOptions& options,
                                        const std::vector<std::string>& lines) {
  const EvaluateFiles& files = options.files;
  const ModelFileReader file(resolve_model_path(files.model));
  const Tokenizers tokenizers = load_tokenizers(file);
  const torch::Device device = parse_device(files.device);
  use_threads(files.threads);
  TorchEngine engine(load_transformer(file, device), tokenizers.target->never_emitted());
  Translator translator(engine, *tokenizers.source, *tokenizers.target, options.decode);
  std::vector<std::string> hypotheses;
  for (Translation& translation : translator.translate(lines, stop_token()))
    hypotheses.push_back(std::move(translation.n_best.front().text));
  if (stop_token().stop_requested()) hypotheses.clear();
  return hypotheses;
}

References read_references(const EvaluateFiles& files, std::size_t lines) {
  References references;
  for (const std::string& path : files.references) {
    references.push_back(read_lines(path));
    if (references.back().size() != lines)
      throw Error(files.model.empty() ? files.hypotheses : files.source, " has ", lines,
                  " lines but ", path, " has ", references.back().size());
  }
  return references;
}

int run_evaluate(const EvaluateOptions& options) {
  validate(options);
  const EvaluateFiles& files = options.files;
  const std::string& path = files.model.empty() ? files.hypotheses : files.source;
  const std::vector<std::string> lines = read_lines(path);
  // What is wrong with the references is said before a long translation.
  const References references = read_references(files, lines.size());
  if (lines.empty()) throw Error(path, " has no lines to score");
  const auto hypotheses = files.model.empty() ? lines : translate_text(options, lines);
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
