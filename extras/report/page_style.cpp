#include "extras/report/page_style.h"

#include <array>

#include "extras/report/page_files.h"

namespace dragoman {

namespace {

struct RunColor {
  std::string_view light, dark;
};

/// Blue, vermilion, green, purple, ochre, grey, after Okabe and Ito's palette. People with any kind
/// of colour vision can tell them apart. Each has a contrast of 3 to 1 or more to its background.
constexpr std::array kColors = {RunColor{"#0072b2", "#56b4e9"}, RunColor{"#d04a00", "#ff8a4c"},
                                RunColor{"#00875f", "#35c79a"}, RunColor{"#a8478c", "#e78fcb"},
                                RunColor{"#9a7400", "#e8c547"}, RunColor{"#4f5965", "#c3cad3"}};
/// The dashes of further curves when the colours are used up.
constexpr std::array<std::string_view, 3> kDashes = {"none", "7 3", "2 3"};

std::string run_rules(std::size_t run) {
  const auto& [light, dark] = kColors[run % kColors.size()];
  const std::string_view dash = kDashes[run / kColors.size() % kDashes.size()];
  return filled_page_file("run.css", {{"run", std::to_string(run)},
                                      {"light", std::string(light)},
                                      {"dark", std::string(dark)},
                                      {"dash", std::string(dash)}});
}

}  // namespace

std::string training_style(std::size_t runs, const std::vector<XAxis>& axes) {
  std::string css(page_file("style.css"));
  for (const XAxis& axis : axes)
    css += filled_page_file("axis.css", {{"axis", std::string(axis.name)}});
  for (std::size_t run = 0; run < runs; ++run) css += run_rules(run);
  return css;
}

}  // namespace dragoman
