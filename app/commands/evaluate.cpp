// dragoman evaluate: scores translations, or models' translations, against references.
#include <iostream>
#include <memory>
#include <stop_token>
#include <string>

#include "app/commands/commands.h"
#include "app/commands/evaluate_options.h"
#include "app/commands/evaluated_texts.h"
#include "app/commands/evaluated_translations.h"
#include "app/commands/evaluation_explanations.h"
#include "app/commands/evaluation_page_data.h"
#include "app/commands/explanation_pages.h"
#include "app/commands/output_file.h"
#include "app/frame/log.h"
#include "app/frame/signals.h"
#include "base/amounts.h"
#include "base/error.h"
#include "base/files.h"
#include "base/threads.h"
#include "evaluation/evaluate.h"
#include "evaluation/score_report.h"

namespace dragoman {

namespace {

void log_page(const EvaluateFiles& files, const EvaluatedTexts& texts, std::size_t explained) {
  if (is_stream(files.html)) return;
  const auto count = [](std::size_t number) { return static_cast<std::int64_t>(number); };
  log_info(join_text(files.html, ": ", counted(count(texts.systems.size()), "system"), ", ",
                     counted(count(texts.references.front().size()), "sentence"),
                     explained == 0 ? "" : "; " + counted(count(explained), "page") + " in ",
                     explained == 0 ? "" : explanations_folder(files.html),
                     "; open it in a browser"));
}

int run_evaluate(const EvaluateOptions& options, const Origins& origins,
                 const DeviceEngine& device_engine) {
  options.check(origins);
  limit_cores(threads_to_use(options.hardware.threads));
  const EvaluateFiles& files = options.files;
  // Files are read first, so that their faults are found before a long translation.
  EvaluatedTexts texts = read_texts(files);
  for (const std::string& model : files.models)
    const ModelFileReader tried(resolve_model_path(model), Verify::Header);
  const bool whole = files.tune ? add_tuned_translations(texts, options, origins, device_engine)
                                : add_translations(texts, options, origins, device_engine);
  if (!whole) return 1;  // main turns it into the signal's code
  const std::stop_token stop = listen_for_stop();
  const auto width = static_cast<int>(options.metrics.width);
  constexpr const char* kVersion = "dragoman-" DRAGOMAN_VERSION;
  const ReportFormat format = options.metrics.format;
  if (texts.systems.size() == 1 && files.html.empty()) {
    const auto scores =
        evaluate_lines(texts.hypotheses.front(), texts.references, options.metrics, kVersion, stop);
    if (stop.stop_requested()) return 1;
    std::cout << report(scores, format, width);
    return 0;
  }
  const auto counts =
      count_systems(texts.hypotheses, texts.references, options.metrics, kVersion, stop);
  const Comparison comparison = compare(texts.systems, counts, options.metrics, stop);
  if (stop.stop_requested()) return 1;
  // The report first: the page may not be writable.
  std::cout << report(comparison, format, width) << std::flush;
  if (files.html.empty()) return 0;
  const auto explained = files.explain == 0 ? std::vector<ExplainedLine>()
                                            : write_explanations(texts, counts, options, origins);
  const std::string page = evaluation_page(
      texts, comparison, counts, {explained, search_flags(options.decode, origins)}, options);
  if (stop.stop_requested()) return 1;  // the page may lack pairs of systems
  write_file(files.html, page);
  log_page(files, texts, explained.size());
  return 0;
}

}  // namespace

Command evaluate_command(DeviceEngine device_engine) {
  const auto options = std::make_shared<EvaluateOptions>();
  const auto invocation = std::make_shared<Invocation>();
  return {
      .name = "evaluate",
      .summary = "score translations: BLEU, chrF, chrF++, TER",
      .fields = options->fields(),
      .short_flags =
          {{"i", "hyp"}, {"m", "model"}, {"b", "beam-size"}, {"w", "width"}, {"f", "format"}},
      .run =
          [options, invocation, device_engine = std::move(device_engine)] {
            return run_evaluate(*options, invocation->origins, device_engine);
          },
      .examples = {"evaluate -m run/ --src test.en --ref test.de",
                   "evaluate --hyp out.de --ref test.de",
                   "evaluate --hyp out.de --ref a.de b.de --metrics bleu chrf++ ter --format json",
                   "evaluate --hyp old.de new.de --ref test.de --paired-bootstrap",
                   "evaluate -m run/ --src valid.en --ref valid.de --tune",
                   "evaluate -m run/checkpoints/update-*.safetensors --src a.en --ref a.de --html "
                   "page.html"},
      .invocation = invocation};
}

}  // namespace dragoman
