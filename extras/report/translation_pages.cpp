#include "extras/report/translation_pages.h"

#include <array>
#include <nlohmann/json.hpp>

#include "extras/report/html_page.h"

namespace dragoman {

namespace {

/// Texts in the data may not be UTF-8.
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

namespace {

constexpr std::string_view kTitle = "A translation, explained";

constexpr auto kStyles =
    std::to_array<std::string_view>({"style.css", "controls.css", "explanation.css"});
constexpr auto kScripts = std::to_array<std::string_view>({"words.js",
                                                           "elements.js",
                                                           "svg.js",
                                                           "explanation_blocks.js",
                                                           "explanation_view.js",
                                                           "explanation_tokens.js",
                                                           "explanation_text.js",
                                                           "explanation_colors.js",
                                                           "explanation_attention.js",
                                                           "explanation_lines.js",
                                                           "explanation_matrix.js",
                                                           "explanation_heads.js",
                                                           "explanation_choice.js",
                                                           "explanation_steps.js",
                                                           "explanation_candidates.js",
                                                           "explanation_tree.js",
                                                           "explanation_parameters.js",
                                                           "explanation_boxes.js",
                                                           "explanation_architecture.js",
                                                           "explanation_positions.js",
                                                           "explanation_translation.js",
                                                           "explanation_saving.js",
                                                           "explanation.js"});

template <class Names>
std::string joined_files(const Names& names) {
  std::string text;
  for (const std::string_view name : names) text += page_file(name);
  return text;
}

}  // namespace

std::string explanation_page(std::string_view json, const std::string& nonce) {
  return to_html({.title = std::string(kTitle),
                  .style = joined_files(kStyles),
                  .body = filled_page_file("explanation.html", {{"title", std::string(kTitle)},
                                                                {"data", json_in_script(json)}}),
                  .script = joined_files(kScripts),
                  .nonce = nonce});
}

}  // namespace dragoman
