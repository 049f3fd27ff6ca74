#include "extras/corpus/survey_report.h"

#include <algorithm>
#include <cstdlib>
#include <utility>
#include <vector>

#include "base/formatted_text.h"
#include "extras/report/html_page.h"

namespace dragoman {

namespace {

using Values = std::vector<std::pair<std::string_view, std::string>>;

std::string page_part(std::string_view file, const Values& values) {
  return filled(corpus_page_file(file), values);
}

/// Which of the sets of cuts the fault belongs to.
std::string cut_text(PairFault fault) {
  const auto is_in = [fault](const std::vector<std::string>& names) {
    return std::ranges::find(names, name_of(fault)) != names.end();
  };
  if (is_in(safe_cuts())) return "Cut by --clean safe.";
  if (is_in(strict_cuts())) return "Cut by --clean strict.";
  return "Cut only by a file of filters.";
}

std::string example_html(const FaultExample& example, const UsualPair& usual) {
  const std::string detail = example.detail.empty() ? "" : " · " + example.detail;
  return page_part("example.html", {{"place", escaped(example.file) + ":" +
                                                  std::to_string(example.line) + escaped(detail)},
                                    {"source", escaped(example.source)},
                                    {"target", escaped(example.target)},
                                    {"source_language", escaped(usual.languages[0])},
                                    {"target_language", escaped(usual.languages[1])}});
}

std::string fault_html(const FaultReport& fault, const SurveyReport& report) {
  std::string examples;
  for (const FaultExample& example : fault.examples)
    examples += example_html(example, report.usual);
  return page_part("fault.html", {{"name", std::string(name_of(fault.fault))},
                                  {"title", escaped(title_of(fault.fault))},
                                  {"pairs", counted(fault.pairs, "pair")},
                                  {"explanation", escaped(explanation_of(fault.fault))},
                                  {"cut", cut_text(fault.fault)},
                                  {"examples", examples}});
}

std::string row_html(const FaultReport& fault, const SurveyReport& report) {
  return page_part("row.html", {{"name", std::string(name_of(fault.fault))},
                                {"title", escaped(title_of(fault.fault))},
                                {"pairs", with_separators(fault.pairs)},
                                {"share", escaped(share_text(fault.pairs, report.pairs))}});
}

std::string stretches_html(const std::vector<StretchReport>& stretches) {
  if (stretches.empty()) return "";
  std::string rows;
  for (const StretchReport& stretch : stretches)
    rows += page_part("stretch.html", {{"file", escaped(stretch.file)},
                                       {"first", std::to_string(stretch.first_line)},
                                       {"last", std::to_string(stretch.last_line)},
                                       {"shift", (stretch.shift > 0 ? "+ " : "− ") +
                                                     std::to_string(std::abs(stretch.shift))}});
  return page_part("stretches.html", {{"rows", rows}});
}

}  // namespace

std::string page_of(const SurveyReport& report) {
  std::string rows, faults;
  for (const FaultReport& fault : report.faults) {
    rows += row_html(fault, report);
    faults += fault_html(fault, report);
  }
  const std::string files =
      report.files.size() == 1 ? report.files.front() : counted(std::ssize(report.files), "file");
  const std::string title = files + ": " + counted(report.pairs, "pair");
  const std::string clean = counted(report.clean_pairs, "pair") + " (" +
                            escaped(share_text(report.clean_pairs, report.pairs)) + ")";
  return to_html(
      {.title = title,
       .style = std::string(page_file("style.css")) + std::string(corpus_page_file("survey.css")),
       .body = page_part("survey.html", {{"title", escaped(title)},
                                         {"usual", escaped(usual_text(report.usual))},
                                         {"clean", clean},
                                         {"rows", rows},
                                         {"stretches", stretches_html(report.stretches)},
                                         {"faults", faults}}),
       .script = ""});
}

}  // namespace dragoman
