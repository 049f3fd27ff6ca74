#include "app/commands/evaluation_explanations.h"

#include <algorithm>
#include <numeric>
#include <stop_token>
#include <utility>

#include "app/commands/explain_text.h"
#include "app/commands/explanation_pages.h"
#include "app/frame/log.h"
#include "app/frame/signals.h"
#include "base/amounts.h"
#include "base/error.h"
#include "base/shell_word.h"

namespace dragoman {

namespace {

/// The lines with a source whose scores are the worst, worst first: those that the page shows
/// first, by the metric and the decimals by which it orders them (report/page/evaluation.js).
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

}  // namespace

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

std::vector<ExplainedLine> write_explanations(const EvaluatedTexts& texts,
                                              const std::vector<SystemCounts>& counts,
                                              const EvaluateOptions& options,
                                              const Origins& origins) {
  const std::stop_token stop = listen_for_stop();
  const std::size_t first = options.files.hypotheses.size();  // models stand behind them
  const std::vector<std::size_t> lines =
      worst_lines(texts.source, counts, first, static_cast<std::size_t>(options.files.explain));
  ExplanationPages pages(options.files.html);
  std::vector<ExplainedLine> written;
  for (std::size_t system = first; system < texts.systems.size(); ++system) {
    const ExplainedTranslator translator =
        explained_translator(texts.systems[system], options.decode, origins);
    for (const std::size_t line : lines) {
      if (stop.stop_requested()) return written;
      if (const auto json = explained(translator, texts.source[line], line))
        written.push_back({system, line, pages.write(system, line, *json)});
    }
  }
  pages.remove_others();
  return written;
}

}  // namespace dragoman
