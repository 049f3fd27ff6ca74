#include "extras/report/evaluation_page.h"

#include <nlohmann/json.hpp>

#include "extras/report/html.h"
#include "extras/report/page_files.h"
#include "extras/report/page_style.h"

namespace dragoman {

namespace {

/// Its texts may be no UTF-8.
std::string dumped(const nlohmann::ordered_json& data) {
  return data.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
}

std::string curves_html(const std::vector<PageChart>& charts) {
  if (charts.empty()) return "";
  std::string figures;
  for (const PageChart& chart : charts)
    figures += filled_page_file(
        "figure.html", {{"title", escaped(chart.title)}, {"drawing", to_svg(chart.chart)}});
  return filled_page_file("curves.html", {{"figures", figures}});
}

}  // namespace

std::string evaluation_page(const std::string& title, const std::vector<PageChart>& charts,
                            const nlohmann::ordered_json& data) {
  std::string script;
  for (const char* file : {"words.js", "elements.js", "svg.js", "charts.js", "analysis.js",
                           "sentences.js", "tables.js", "ngrams.js", "evaluation.js"})
    script += page_file(file);
  return to_html(
      {.title = title,
       .style = training_style(1, {}) + std::string(page_file("controls.css")) +
                std::string(page_file("evaluation.css")),
       .body = filled_page_file("evaluation.html", {{"title", escaped(title)},
                                                    {"curves", curves_html(charts)},
                                                    {"data", json_in_script(dumped(data))}}),
       .script = script});
}

}  // namespace dragoman
