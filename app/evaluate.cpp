// dragoman evaluate: scores translations against their references.
#include <iostream>
#include <memory>
#include <utility>

#include "app/command.h"
#include "base/error.h"
#include "evaluation/evaluate.h"
#include "evaluation/read_lines.h"
#include "evaluation/report.h"

namespace dragoman {

namespace {

struct EvaluateFiles {
  std::string hypotheses;
  std::vector<std::string> references;

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
  }
};

struct EvaluateOptions {
  EvaluateFiles files;
  EvaluateConfig metrics;
};

void validate(const EvaluateOptions& options) {
  if (options.files.hypotheses.empty()) throw UsageError("--hyp: name the file to score");
  if (options.files.references.empty()) throw UsageError("--ref: name a file of references");
  options.metrics.validate();
}

References read_references(const EvaluateFiles& files, std::size_t lines) {
  References references;
  for (const std::string& path : files.references) {
    references.push_back(read_lines(path));
    if (references.back().size() != lines)
      throw Error(files.hypotheses, " has ", lines, " lines but ", path, " has ",
                  references.back().size());
  }
  return references;
}

int run_evaluate(const EvaluateOptions& options) {
  validate(options);
  const auto hypotheses = read_lines(options.files.hypotheses);
  const References references = read_references(options.files, hypotheses.size());
  if (hypotheses.empty()) throw Error(options.files.hypotheses, " has no lines to score");
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
  return {
      .name = "evaluate",
      .summary = "score translations: BLEU, chrF, chrF++",
      .fields = std::move(fields),
      .short_flags = {{"i", "hyp"}, {"w", "width"}, {"f", "format"}},
      .run = [options] { return run_evaluate(*options); },
      .examples = {"evaluate --hyp out.de --ref test.de",
                   "evaluate --hyp out.de --ref a.de b.de --metrics bleu chrf++ --format json"}};
}

}  // namespace dragoman
