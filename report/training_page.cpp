#include "report/training_page.h"

#include "base/amounts.h"
#include "base/error.h"
#include "report/html.h"
#include "report/page_files.h"
#include "report/page_style.h"
#include "report/training_charts.h"
#include "report/training_samples.h"
#include "report/training_tables.h"

namespace dragoman {

namespace {

/// The switches come before <main>: the style sheet shows and hides by their state, without a
/// script.
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

std::string damage(const std::vector<PlottedRun>& runs) {
  std::string html;
  for (const PlottedRun& run : runs)
    if (run.history.damaged_lines > 0)
      html += join_text("<p class=\"note\">", escaped(run.name), ": ", run.history.damaged_lines,
                        " damaged lines of the log passed over</p>\n");
  return html;
}

}  // namespace

std::string training_page(const std::vector<PlottedRun>& runs) {
  const std::vector<XAxis> axes = training_axes(runs);
  std::string names;
  for (const PlottedRun& run : runs) names += (names.empty() ? "" : ", ") + run.name;
  return to_html({.title = "Training: " + names,
                  .style = training_style(runs.size()),
                  .body = switches(runs, axes) + "<main>\n<h1>Training</h1>\n" +
                          toolbar(runs, axes) + damage(runs) + training_charts(runs, axes) +
                          summary_table(runs) + training_samples(runs) + settings_tables(runs) +
                          "</main>\n" + chart_data(runs),
                  .script = std::string(page_file("training.js"))});
}

}  // namespace dragoman
