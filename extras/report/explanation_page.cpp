#include "extras/report/explanation_page.h"

#include <array>

#include "extras/report/html.h"
#include "extras/report/page_files.h"

namespace dragoman {

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
