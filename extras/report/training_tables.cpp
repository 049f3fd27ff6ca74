#include <algorithm>
#include <cmath>
#include <functional>
#include <optional>
#include <set>

#include "base/error.h"
#include "base/formatted_text.h"
#include "extras/report/html_page.h"
#include "extras/report/training_page.h"

namespace dragoman {

namespace {

enum class Better { Neither, Lower, Higher };

struct Cell {
  std::string text;                  ///< empty: not known
  std::string remark = {};           ///< smaller, below
  std::optional<double> value = {};  ///< for the comparison of runs
};

struct Row {
  std::string title;
  Better better;
  std::function<Cell(const RunHistory&)> cell;
};

const LogPoint& last_point(const RunHistory& run) {
  if (run.updates.empty()) return run.validations.back();
  const bool validated =
      !run.validations.empty() && run.validations.back().update > run.updates.back().update;
  return validated ? run.validations.back() : run.updates.back();
}

Cell amount(std::optional<double> number) {
  return {.text = number ? with_separators(std::llround(*number)) : ""};
}

/// A number; its row is left out if it is 0 in all runs.
Cell count_of(std::int64_t number) { return {.text = number == 0 ? "" : with_separators(number)}; }

/// Whether `point` has a better value than `best`. If the values are equal, the lower loss is
/// better, as in training.
bool is_better(const LogPoint& point, const LogPoint& best, const std::string& name,
               Better better) {
  const double now = *point.number(name), before = *best.number(name);
  if (now != before) return better == Better::Lower ? now < before : now > before;
  return point.number("loss").value_or(INFINITY) < best.number("loss").value_or(INFINITY);
}

/// The validation of the model that the run has kept as its best, if the run chose it by `name`.
const LogPoint* chosen_by(const RunHistory& run, const std::string& name) {
  if (run.setting("best-metric") != name) return nullptr;
  const auto chosen = std::find_if(run.validations.rbegin(), run.validations.rend(),
                                   [](const LogPoint& point) { return point.best; });
  return chosen != run.validations.rend() && chosen->number(name) ? &*chosen : nullptr;
}

/// The best value of a number of the validations, and the update at which it was reached.
Cell best_of(const RunHistory& run, const std::string& name, Better better, int decimals) {
  const LogPoint* best = chosen_by(run, name);
  if (best == nullptr)
    for (const LogPoint& point : run.validations)
      if (point.number(name) && (best == nullptr || is_better(point, *best, name, better)))
        best = &point;
  if (best == nullptr) return {};
  const auto elapsed = best->number("elapsed");
  return {.text = fixed_text(*best->number(name), decimals),
          .remark = join_text("update ", with_separators(best->update),
                              elapsed ? ", after " + duration_text(*elapsed) : ""),
          .value = best->number(name)};
}

Cell median_speed(const RunHistory& run) {
  std::vector<double> speeds;
  for (const LogPoint& point : run.updates)
    if (const auto speed = point.number("target_tokens_per_second")) speeds.push_back(*speed);
  if (speeds.empty()) return {};
  const auto middle = speeds.begin() + static_cast<std::ptrdiff_t>(speeds.size() / 2);
  std::nth_element(speeds.begin(), middle, speeds.end());
  return {.text = with_separators(std::llround(*middle)), .value = *middle};
}

Cell average_of(const RunHistory& run) {
  const auto bleu = run.average.find("bleu"), count = run.average.find("checkpoints");
  if (bleu == run.average.end() || count == run.average.end()) return {};
  return {.text = fixed_text(bleu->second, 2),
          .remark = join_text("of ", count->second, " checkpoints"),
          .value = bleu->second};
}

std::vector<Row> summary_rows() {
  const auto best = [](const char* name, Better better, int decimals) {
    return [=](const RunHistory& run) { return best_of(run, name, better, decimals); };
  };
  const auto last = [](const char* name) {
    return [=](const RunHistory& run) { return amount(last_point(run).number(name)); };
  };
  return {
      {"Best BLEU", Better::Higher, best("bleu", Better::Higher, 2)},
      {"Best chrF", Better::Higher, best("chrf", Better::Higher, 2)},
      {"Lowest validation nll", Better::Lower, best("loss", Better::Lower, 4)},
      {"BLEU of the average", Better::Higher, average_of},
      {"Updates", Better::Neither, last("update")},
      {"Target pieces", Better::Neither, last("target_tokens")},
      {"Time", Better::Neither,
       [](const RunHistory& run) {
         const auto seconds = last_point(run).number("elapsed");
         return Cell{.text = seconds ? duration_text(*seconds) : ""};
       }},
      {"Target pieces per second", Better::Higher, median_speed},
      {"Updates left out", Better::Neither,
       [](const RunHistory& run) { return count_of(run.left_out); }},
      {"Rolled back", Better::Neither,
       [](const RunHistory& run) { return count_of(run.rollbacks); }},
      {"Parameters", Better::Neither, [](const RunHistory& run) { return amount(run.parameters); }},
      {"Precision", Better::Neither,
       [](const RunHistory& run) { return Cell{.text = run.precision}; }},
      {"Processor", Better::Neither, [](const RunHistory& run) {
         return Cell{.text = run.processor.substr(0, run.processor.find(" ("))};
       }}};
}

std::string heading(const std::vector<PlottedRun>& runs) {
  std::string html = "<thead><tr><td></td>";
  for (std::size_t run = 0; run < runs.size(); ++run)
    html += join_text("<th scope=\"col\" class=\"run-", run, " run-color-", run, "\">",
                      escaped(runs[run].name), "</th>");
  return html + "</tr></thead>\n";
}

/// The best value, if there are several to compare.
std::optional<double> best_value(const std::vector<Cell>& cells, Better better) {
  std::vector<double> values;
  for (const Cell& cell : cells)
    if (cell.value) values.push_back(*cell.value);
  if (better == Better::Neither || values.size() < 2) return std::nullopt;
  return better == Better::Lower ? *std::min_element(values.begin(), values.end())
                                 : *std::max_element(values.begin(), values.end());
}

std::string table_row(const std::string& title, const std::vector<Cell>& cells, Better better) {
  const auto best = best_value(cells, better);
  std::string html = "<tr><th scope=\"row\">" + escaped(title) + "</th>";
  for (std::size_t run = 0; run < cells.size(); ++run) {
    const Cell& cell = cells[run];
    const bool is_best = best && cell.value == best;
    html += join_text("<td class=\"run-", run, is_best ? " best" : "", "\">",
                      cell.text.empty() ? "–" : escaped(cell.text),
                      cell.remark.empty() ? "" : "<small>" + escaped(cell.remark) + "</small>",
                      "</td>");
  }
  return html + "</tr>\n";
}

std::string table(const char* label, const std::vector<PlottedRun>& runs, const std::string& rows) {
  return filled_page_file("facts.html",
                          {{"label", label}, {"heading", heading(runs)}, {"rows", rows}});
}

std::string setting_row(const std::vector<PlottedRun>& runs, const std::string& key) {
  std::vector<Cell> cells;
  for (const PlottedRun& run : runs) cells.push_back({.text = run.history.setting(key)});
  return table_row(key, cells, Better::Neither);
}

/// Whether the runs with known settings have different values of a key. A key that one run lacks
/// counts as different.
bool differs(const std::vector<PlottedRun>& runs, const std::string& key) {
  std::set<std::optional<std::string>> values;
  for (const PlottedRun& run : runs) {
    if (run.history.settings.empty()) continue;
    const auto found = run.history.settings.find(key);
    values.insert(found == run.history.settings.end() ? std::nullopt
                                                      : std::optional(found->second));
  }
  return values.size() > 1;
}

}  // namespace

std::string summary_table(const std::vector<PlottedRun>& runs) {
  std::string rows;
  for (const Row& row : summary_rows()) {
    std::vector<Cell> cells;
    for (const PlottedRun& run : runs) cells.push_back(row.cell(run.history));
    const bool known = std::any_of(cells.begin(), cells.end(),
                                   [](const Cell& cell) { return !cell.text.empty(); });
    if (known) rows += table_row(row.title, cells, row.better);
  }
  return "<section>\n<h2>Summary</h2>\n" + table("Summary", runs, rows) + "</section>\n";
}

std::string settings_tables(const std::vector<PlottedRun>& runs) {
  std::set<std::string> keys;
  std::size_t known = 0;
  for (const PlottedRun& run : runs) {
    for (const auto& [key, value] : run.history.settings) keys.insert(key);
    known += run.history.settings.empty() ? 0 : 1;
  }
  if (known == 0) return "";
  std::string all, unlike;
  for (const std::string& key : keys) {
    const std::string row = setting_row(runs, key);
    all += row;
    if (key != "output" && differs(runs, key)) unlike += row;
  }
  std::string html = "<section>\n<h2>Settings</h2>\n";
  if (known > 1)
    html += unlike.empty() ? "<p>The same in all runs.</p>\n"
                           : "<h3>Differences</h3>\n" + table("Differences", runs, unlike);
  return html + "<details><summary>All settings</summary>\n" + table("All settings", runs, all) +
         "</details>\n</section>\n";
}

}  // namespace dragoman
