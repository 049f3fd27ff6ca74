// evaluate --html: the evaluation as a page, and with --explain pages about its worst sentences
// beside it. Here the extra registers.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <numeric>
#include <optional>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

#include "app/commands/evaluate_options.h"
#include "app/commands/evaluated_texts.h"
#include "app/commands/extra.h"
#include "app/commands/output_file.h"
#include "app/frame/log.h"
#include "app/frame/signals.h"
#include "base/amounts.h"
#include "base/error.h"
#include "base/files.h"
#include "base/shell_word.h"
#include "evaluation/evaluate.h"
#include "extras/explanation/explain_text.h"
#include "extras/report/commands/evaluation_page_data.h"
#include "extras/report/commands/written_pages.h"

namespace dragoman {

Command plot_command();

namespace {

struct PageFlags {
  std::string html;
  std::int64_t explain = 0;

  template <class Visit>
  void for_each_field(Visit&& visit) {
    constexpr std::string_view kFiles = "Files";
    visit({.name = "html",
           .help = "also write a page with the scores, the statistics behind them, and the "
                   "sentences side by side, with those of --src if there are any",
           .group = kFiles,
           .placeholder = "FILE"},
          html);
    visit({.name = "explain",
           .help = "with --html: also explain this many of the sentences, those with the worst "
                   "scores of the first model, which the page then shows first; 100 at most; the "
                   "pages stand in a folder beside it",
           .group = kFiles},
          explain);
  }
};

/// The pages take a megabyte or more each.
void check_explain(const PageFlags& flags, const EvaluateFiles& files) {
  constexpr std::int64_t kMost = 100;
  if (flags.explain == 0) return;
  if (flags.explain < 0) throw UsageError("--explain: ", flags.explain, " is below 0");
  if (flags.explain > kMost)
    throw UsageError("--explain: ", flags.explain, " sentences are too many: ", kMost,
                     " at most, as each has a page of about a megabyte");
  if (flags.html.empty() || files.models.empty() || files.tune)
    throw UsageError("--explain: needs --html and a model (-m), and no --tune");
  if (is_stream(flags.html)) throw UsageError("--explain: --html must name a file");
}

bool is_asked_for(const PageFlags& flags, const EvaluateOptions& options,
                  const std::vector<std::string>& inputs) {
  if (!flags.html.empty()) {
    if (options.metrics.sentence_level)
      throw UsageError("--html: shows the scores of whole texts; leave --sentence-level out");
    check_page_output("--html", flags.html, inputs);
  }
  check_explain(flags, options.files);
  return !flags.html.empty();
}

/// The lines with a source whose scores are the worst, worst first: those that the page shows
/// first, by the metric and the decimals by which it orders them
/// (extras/report/page/evaluation.js).
std::vector<std::size_t> worst_lines(const std::vector<std::string>& source,
                                     const std::vector<SystemCounts>& all, std::size_t system,
                                     std::size_t most) {
  const auto chrf = std::ranges::find_if(
      all, [](const SystemCounts& counts) { return counts.metric.name.starts_with("chrF"); });
  const SystemCounts& counts = chrf == all.end() ? all.front() : *chrf;
  const Metric& metric = counts.metric;
  std::vector<double> goodness(source.size());
  for (std::size_t line = 0; line < source.size(); ++line) {
    const double score = std::stod(fixed_text(metric.score(counts.systems[system].line(line)), 1));
    goodness[line] = metric.lower_is_better ? -score : score;
  }
  std::vector<std::size_t> lines(source.size());
  std::iota(lines.begin(), lines.end(), std::size_t{0});
  std::erase_if(lines, [&](std::size_t line) { return source[line].empty(); });
  std::ranges::stable_sort(lines, {}, [&](std::size_t line) { return goodness[line]; });
  lines.resize(std::min(lines.size(), most));
  return lines;
}

/// The numbers of a page about the line, or none with a warning.
std::optional<std::string> explained(const ExplainedTranslator& translator, const std::string& text,
                                     std::size_t line) {
  try {
    return explain_text(translator, text, ExplanationForm::Page, {}).json;
  } catch (const Error& error) {
    log_warning(join_text("line ", line + 1, " is not explained: ", error.what()));
    return std::nullopt;
  }
}

/// The flags that were given of those by which `dragoman explain` searches, as a shell reads them:
/// "--beam-size 8". None where samples were drawn.
std::optional<std::string> search_flags(DecodeConfig decode, const Origins& origins) {
  if (decode.sampling) return std::nullopt;
  std::string flags;
  for (const Field& field : fields_of(decode)) {
    if (!is_flag_of_explain(field.info.name) || !is_given(origins, field.info.name)) continue;
    flags += join_text(flags.empty() ? "" : " ", "--", field.info.name);
    for (const std::string& value : field.values()) flags += join_text(" ", shell_word(value));
  }
  return flags;
}

/// Writes pages about the lines that --explain counts, those with the worst scores of the first
/// model, which the page shows first; each model has one of each. A line that cannot be explained
/// is left out, with a warning. Pages of an earlier call that are not written again are removed.
/// Returns what is written when a stop is requested.
std::vector<ExplainedLine> write_explanations(const Evaluation& evaluation,
                                              const PageFlags& flags) {
  const EvaluatedTexts& texts = evaluation.texts;
  const EvaluateOptions& options = evaluation.options;
  const std::stop_token stop = listen_for_stop();
  const std::size_t first = options.files.hypotheses.size();  // models stand behind them
  const std::vector<std::size_t> lines =
      worst_lines(texts.source, evaluation.counts, first, static_cast<std::size_t>(flags.explain));
  ExplanationPages pages(flags.html);
  std::vector<ExplainedLine> written;
  for (std::size_t system = first; system < texts.systems.size(); ++system) {
    const ExplainedTranslator translator =
        explained_translator(texts.systems[system], options.decode, evaluation.origins);
    for (const std::size_t line : lines) {
      if (stop.stop_requested()) return written;
      if (const auto json = explained(translator, texts.source[line], line))
        written.push_back({system, line, pages.write(system, line, *json)});
    }
  }
  pages.remove_others();
  return written;
}

void log_page(const std::string& html, const EvaluatedTexts& texts, std::size_t explained) {
  if (is_stream(html)) return;
  const auto count = [](std::size_t number) { return static_cast<std::int64_t>(number); };
  log_info(join_text(html, ": ", counted(count(texts.systems.size()), "system"), ", ",
                     counted(count(texts.references.front().size()), "sentence"),
                     explained == 0 ? "" : "; " + counted(count(explained), "page") + " in ",
                     explained == 0 ? "" : explanations_folder(html), "; open it in a browser"));
}

void write_page(const Evaluation& evaluation, const PageFlags& flags) {
  const auto explained =
      flags.explain == 0 ? std::vector<ExplainedLine>() : write_explanations(evaluation, flags);
  const std::string page = evaluation_page(
      evaluation, {explained, search_flags(evaluation.options.decode, evaluation.origins)});
  if (listen_for_stop().stop_requested()) return;  // the page may lack pairs of systems
  write_file(flags.html, page);
  log_page(flags.html, evaluation.texts, explained.size());
}

EvaluationPage html_page() {
  const auto flags = std::make_shared<PageFlags>();
  return {.fields = fields_of(*flags),
          .is_asked_for =
              [flags](const EvaluateOptions& options, const std::vector<std::string>& inputs) {
                return is_asked_for(*flags, options, inputs);
              },
          .write = [flags](const Evaluation& evaluation) { write_page(evaluation, *flags); },
          .examples = {"evaluate -m run/checkpoints/update-*.safetensors --src a.en --ref a.de "
                       "--html page.html"}};
}

}  // namespace

Extra report_extra(const DeviceEngine&) {
  return {.commands = {plot_command()}, .pages = {html_page()}};
}

}  // namespace dragoman
