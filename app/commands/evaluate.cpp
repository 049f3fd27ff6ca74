// dragoman evaluate: scores translations, or models' translations, against references.
#include <iostream>
#include <memory>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

#include "app/commands/commands.h"
#include "app/commands/evaluate_options.h"
#include "app/commands/evaluated_texts.h"
#include "app/commands/evaluated_translations.h"
#include "app/frame/signals.h"
#include "base/error.h"
#include "base/threads.h"
#include "evaluation/evaluate.h"
#include "evaluation/score_report.h"

namespace dragoman {

namespace {

int run_evaluate(const EvaluateOptions& options, const Origins& origins,
                 const DeviceEngine& device_engine) {
  const std::vector<const EvaluationPage*> pages = options.check(origins);
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
  if (texts.systems.size() == 1 && pages.empty()) {
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
  // The report first: a page may not be writable.
  std::cout << report(comparison, format, width) << std::flush;
  for (const EvaluationPage* page : pages)
    page->write({texts, comparison, counts, options, origins});
  return stop.stop_requested() ? 1 : 0;
}

}  // namespace

Command evaluate_command(DeviceEngine device_engine, std::vector<EvaluationPage> pages) {
  const auto options = std::make_shared<EvaluateOptions>();
  options->pages = std::move(pages);
  std::vector<std::string> examples = {
      "evaluate -m run/ --src test.en --ref test.de", "evaluate --hyp out.de --ref test.de",
      "evaluate --hyp out.de --ref a.de b.de --metrics bleu chrf++ ter --format json",
      "evaluate --hyp old.de new.de --ref test.de --paired-bootstrap",
      "evaluate -m run/ --src valid.en --ref valid.de --tune"};
  for (const EvaluationPage& page : options->pages)
    examples.insert(examples.end(), page.examples.begin(), page.examples.end());
  const auto invocation = std::make_shared<Invocation>();
  return {.name = "evaluate",
          .summary = "score translations: BLEU, chrF, chrF++, TER",
          .fields = options->fields(),
          .short_flags =
              {{"i", "hyp"}, {"m", "model"}, {"b", "beam-size"}, {"w", "width"}, {"f", "format"}},
          .run =
              [options, invocation, device_engine = std::move(device_engine)] {
                return run_evaluate(*options, invocation->origins, device_engine);
              },
          .examples = std::move(examples),
          .invocation = invocation};
}

}  // namespace dragoman
