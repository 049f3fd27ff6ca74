#include "extras/report/translation_pages.h"

#include <initializer_list>

#include "base/error.h"
#include "base/json.h"
#include "extras/report/html_page.h"

namespace dragoman {

namespace {

/// The texts of files of extras/report/page/, one after the other.
std::string joined_files(std::initializer_list<std::string_view> names) {
  std::string text;
  for (const std::string_view name : names) text += page_file(name);
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
  return to_html(
      {.title = title,
       .style = training_style(1, {}) + joined_files({"controls.css", "evaluation.css"}),
       .body = filled_page_file("evaluation.html", {{"title", escaped(title)},
                                                    {"curves", curves_html(charts)},
                                                    {"data", json_in_script(json_text(data))}}),
       .script = joined_files({"words.js", "elements.js", "svg.js", "charts.js", "analysis.js",
                               "sentences.js", "tables.js", "ngrams.js", "evaluation.js"})});
}

std::string explanation_page(std::string_view json, const std::string& nonce) {
  const std::string title = "A translation, explained";
  std::string script = joined_files({"words.js", "elements.js", "svg.js"});
  for (const char* part : {"blocks", "view", "tokens", "text", "colors", "attention", "lines",
                           "matrix", "heads", "choice", "steps", "candidates", "tree", "parameters",
                           "boxes", "architecture", "positions", "translation", "saving"})
    script += page_file(join_text("explanation_", part, ".js"));
  script += page_file("explanation.js");
  return to_html({.title = title,
                  .style = joined_files({"style.css", "controls.css", "explanation.css"}),
                  .body = filled_page_file("explanation.html",
                                           {{"title", title}, {"data", json_in_script(json)}}),
                  .script = script,
                  .nonce = nonce});
}

}  // namespace dragoman
