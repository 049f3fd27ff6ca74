#include "extras/report/training_objective.h"

#include <algorithm>
#include <cstdlib>
#include <utility>

#include "base/error.h"

namespace dragoman {

namespace {

/// Whether a text is a number above 0; a text that is no number counts as 0.
bool is_above_zero(const std::string& number) { return std::strtod(number.c_str(), nullptr) > 0; }

}  // namespace

std::string training_objective(const RunHistory& run) {
  const std::string smoothing = run.setting("label-smoothing"), r_drop = run.setting("r-drop");
  if (smoothing.empty()) return "";
  std::string text = is_above_zero(smoothing) ? "label smoothing " + smoothing
                                              : "no label smoothing, so the same as nll";
  if (is_above_zero(r_drop)) text += ", R-Drop " + r_drop + " (without its divergence)";
  if (!run.setting("guided-alignment").empty()) text += ", without the alignment loss";
  return text;
}

std::string training_objectives(const std::vector<PlottedRun>& runs) {
  std::vector<std::pair<std::string, std::string>> names_by_objective;  // in the order of the runs
  for (const PlottedRun& run : runs) {
    const std::string objective = training_objective(run.history);
    const auto known = std::find_if(names_by_objective.begin(), names_by_objective.end(),
                                    [&](const auto& entry) { return entry.first == objective; });
    if (known == names_by_objective.end())
      names_by_objective.emplace_back(objective, run.name);
    else
      known->second += ", " + run.name;
  }
  if (names_by_objective.size() == 1) return names_by_objective.front().first;
  std::string text = "not to be compared";
  for (const auto& [objective, names] : names_by_objective)
    text += join_text("; ", names, ": ", objective.empty() ? "settings not known" : objective);
  return text;
}

}  // namespace dragoman
