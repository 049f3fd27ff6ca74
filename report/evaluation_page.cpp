#include "report/evaluation_page.h"

#include <nlohmann/json.hpp>

#include "report/html.h"
#include "report/page_files.h"
#include "report/page_style.h"

namespace dragoman {

namespace {

/// The JSON with escapes, so that nothing in it ends its <script>.
std::string json_in_script(const nlohmann::ordered_json& data) {
  using Json = nlohmann::ordered_json;
  std::string text;
  for (const char c : data.dump(-1, ' ', false, Json::error_handler_t::replace))
    c == '<' ? text += "\\u003c" : text += c;
  return text;
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
  for (const char* file : {"words.js", "elements.js", "charts.js", "analysis.js", "sentences.js",
                           "tables.js", "ngrams.js", "evaluation.js"})
    script += page_file(file);
  return to_html({.title = title,
                  .style = training_style(1) + std::string(page_file("evaluation.css")),
                  .body = filled_page_file("evaluation.html", {{"title", escaped(title)},
                                                               {"curves", curves_html(charts)},
                                                               {"data", json_in_script(data)}}),
                  .script = script});
}

}  // namespace dragoman
