#include "extras/report/training_page.h"

#include <algorithm>

#include "base/error.h"
#include "base/formatted_text.h"
#include "extras/report/html_page.h"

namespace dragoman {

namespace {

/// Several runs get short names; a single run keeps its name.
std::vector<PlottedRun> with_short_names(std::vector<PlottedRun> runs) {
  if (runs.size() == 1) return runs;
  std::vector<std::string> names;
  for (const PlottedRun& run : runs) names.push_back(run.name);
  names = short_names(names);
  for (std::size_t run = 0; run < runs.size(); ++run) runs[run].name = names[run];
  return runs;
}

/// The switches stand at the beginning of the page: the style sheet shows and hides the rest by
/// their state, without a script.
std::string switches(const std::vector<PlottedRun>& runs, const std::vector<XAxis>& axes) {
  std::string html;
  for (const XAxis& axis : axes)
    html += join_text("<input type=\"radio\" name=\"axis\" id=\"", axis.name, "\"",
                      html.empty() ? " checked" : "", ">\n");
  for (std::size_t run = 0; run < runs.size(); ++run)
    html += join_text("<input type=\"checkbox\" id=\"show-", run, "\" checked>\n");
  return html;
}

std::string toolbar(const std::vector<PlottedRun>& runs, const std::vector<XAxis>& axes) {
  std::string html = "<nav>\n<div class=\"axes\">";
  for (const XAxis& axis : axes)
    html += join_text("<label for=\"", axis.name, "\">", axis.name.substr(3), "</label>");
  html += "</div>\n<div class=\"keys\">";
  for (std::size_t run = 0; run < runs.size(); ++run)
    html += join_text("<label class=\"run-color-", run, "\" for=\"show-", run, "\">",
                      legend_mark(run), escaped(runs[run].name), "</label>");
  return html + "</div>\n</nav>\n";
}

/// A note for a run without a curve of its updates: its log only has a line every --log-every
/// updates.
std::string missing_curve(const RunHistory& run) {
  if (!run.updates.empty()) return "";
  const std::string every = run.setting("log-every");
  return join_text("no training curve: the log has a line every ",
                   every.empty() ? "--log-every" : every, " updates",
                   every.empty() ? "" : " (--log-every)", ", and its last one is about update ",
                   with_separators(run.validations.back().update));
}

std::string missing_validations(const RunHistory& run) {
  return run.validations.empty() ? "no validation yet, so no BLEU, chrF or samples" : "";
}

std::string missing_attention(const RunHistory& run) {
  const bool has_any = std::ranges::any_of(run.validations, [](const LogPoint& validation) {
    return !validation.attention.weights.empty();
  });
  if (run.validations.empty() || has_any) return "";
  return "no picture of how alignment comes about: the log has no attention to a sentence. A newer "
         "version of Dragoman writes it at each validation, if a pair is short enough";
}

std::string damage(const RunHistory& run) {
  if (run.damaged_lines == 0) return "";
  return counted(static_cast<std::int64_t>(run.damaged_lines), "damaged line") +
         " of the log skipped";
}

/// Notes about missing data, and about data that a reader should not trust.
std::string notes(const std::vector<PlottedRun>& runs) {
  std::string html;
  for (const PlottedRun& run : runs)
    for (const std::string& note : {missing_curve(run.history), missing_validations(run.history),
                                    missing_attention(run.history), damage(run.history)})
      if (!note.empty())
        html += join_text("<p class=\"note\">", escaped(run.name), ": ", escaped(note), "</p>\n");
  return html;
}

}  // namespace

std::string training_page(const std::vector<PlottedRun>& given) {
  const std::vector<PlottedRun> runs = with_short_names(given);
  const std::vector<XAxis> axes = training_axes(runs);
  return to_html(
      {.title = "Training: " + joined(runs, ", ", &PlottedRun::name),
       .style = training_style(runs.size(), axes) + std::string(page_file("alignment.css")),
       .body = "<main>\n" + switches(runs, axes) + "<h1>Training</h1>\n" + toolbar(runs, axes) +
               notes(runs) + training_charts(runs, axes) + summary_table(runs) +
               training_samples(runs) + training_attention(runs) + settings_tables(runs) +
               "</main>\n" + chart_data(runs),
       .script = std::string(page_file("training.js")) + std::string(page_file("alignment.js"))});
}

}  // namespace dragoman
