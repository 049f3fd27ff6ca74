#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <optional>
#include <set>
#include <utility>

#include "base/error.h"
#include "base/fields.h"
#include "base/formatted_text.h"
#include "base/json.h"
#include "extras/report/html_page.h"
#include "extras/report/training_page.h"

namespace dragoman {

namespace {

/// Whether a text is a number above 0; a text that is not a number counts as 0.
bool is_above_zero(const std::string& number) { return std::strtod(number.c_str(), nullptr) > 0; }

}  // namespace

std::string training_objective(const RunHistory& run) {
  const std::string smoothing = run.setting("label-smoothing");
  if (smoothing.empty()) return "";
  std::string text = is_above_zero(smoothing) ? "label smoothing " + smoothing
                                              : "no label smoothing, so the same as nll";
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

namespace {

enum class LineType { Update, Validation };
constexpr std::array<std::string_view, 2> names_of(LineType) { return {"update", "validation"}; }

struct PlottedMetric {
  std::string title, note;  ///< the note stands in small letters after the title
  LineType type;
  std::string name;  ///< of a number of LogPoint
  YRange range = YRange::OfTheValues;
};

/// The grid rows of a curve that ends far below its beginning, and of other curves.
constexpr int kRowsOfALoss = 8, kRows = 5;

/// Those of every run, the scores first, and the scores of each of several validation texts.
std::vector<PlottedMetric> metrics_of(const std::vector<PlottedRun>& runs) {
  std::vector<PlottedMetric> metrics = {
      {"BLEU of the validation text", "0 to 100, higher is better", LineType::Validation, "bleu"},
      {"chrF of the validation text", "0 to 100, higher is better", LineType::Validation, "chrf"},
      {"Validation nll", "negative log-likelihood, without dropout; lower is better",
       LineType::Validation, "loss"},
      {"Training loss", "", LineType::Update, "loss"},
      {"Training nll", "negative log-likelihood, with dropout", LineType::Update,
       "negative_log_likelihood"}};
  const auto texts_with = [&runs](const std::string& metric) {
    std::set<std::string> texts;
    for (const PlottedRun& run : runs)
      for (const std::string& text : run.history.texts_with(metric)) texts.insert(text);
    return texts;
  };
  for (const std::string& text : texts_with("loss"))
    metrics.push_back({"Nll of training pairs", "of " + text + ", without dropout",
                       LineType::Validation, text_number("loss", text)});
  const std::set<std::string> texts = texts_with("bleu");
  if (!texts.empty())
    metrics.push_back({"Mean BLEU", "of the validation texts", LineType::Validation, "mean_bleu"});
  for (const std::string& text : texts)
    metrics.push_back({"BLEU of " + text, "", LineType::Validation, text_number("bleu", text)});
  for (const PlottedMetric& metric :
       {PlottedMetric{"Learning rate", "", LineType::Update, "learning_rate", YRange::FromZero},
        PlottedMetric{"Gradient norm", "", LineType::Update, "gradient_norm", YRange::FromZero},
        PlottedMetric{"Target pieces per second", "", LineType::Update, "target_tokens_per_second",
                      YRange::FromZero},
        PlottedMetric{"Fraction of the time spent waiting for data", "", LineType::Update,
                      "data_wait", YRange::Fraction}})
    metrics.push_back(metric);
  return metrics;
}

/// A note about the numbers. For the training loss it names the objective of the runs.
std::string note_of(const PlottedMetric& metric, const std::vector<PlottedRun>& runs) {
  const bool is_training_loss = metric.type == LineType::Update && metric.name == "loss";
  return is_training_loss ? training_objectives(runs) : metric.note;
}

struct Axis {
  std::string_view name;    ///< "by-updates"
  std::string_view member;  ///< of the log's lines
};
constexpr std::array kAxes = {Axis{"by-updates", "update"}, Axis{"by-pieces", "target_tokens"},
                              Axis{"by-time", "elapsed"}};

const std::vector<LogPoint>& points_of(const PlottedRun& run, LineType type) {
  return type == LineType::Update ? run.history.updates : run.history.validations;
}

std::string member_of(std::string_view axis) {
  for (const Axis& known : kAxes)
    if (known.name == axis) return std::string(known.member);
  return "";
}

/// The axis with the unit in which its largest number is short.
XAxis axis_of(const Axis& axis, double high) {
  struct Unit {
    double from, size;
    std::string_view title;
  };
  static constexpr std::array kTokens = {
      Unit{2e9, 1e9, "billions of target pieces"}, Unit{2e6, 1e6, "millions of target pieces"},
      Unit{2e3, 1e3, "thousands of target pieces"}, Unit{0, 1, "target pieces"}};
  static constexpr std::array kTimes = {Unit{2 * 86'400.0, 86'400, "days"},
                                        Unit{2 * 3'600.0, 3'600, "hours"}, Unit{120, 60, "minutes"},
                                        Unit{0, 1, "seconds"}};
  XAxis result{.name = axis.name, .title = "updates", .low = 0, .high = high, .unit = 1};
  if (axis.member == "update") return result;
  for (const Unit& unit : axis.member == "elapsed" ? kTimes : kTokens) {
    if (high < unit.from) continue;
    result.title = unit.title;
    result.unit = unit.size;
    break;
  }
  return result;
}

std::vector<Curve> curves_of(const std::vector<PlottedRun>& runs, const PlottedMetric& metric,
                             const std::string& x_member) {
  std::vector<Curve> curves;
  for (std::size_t run = 0; run < runs.size(); ++run) {
    Curve curve{.run = run, .points = {}};
    for (const LogPoint& point : points_of(runs[run], metric.type)) {
      const auto x = point.number(x_member), y = point.number(metric.name);
      const bool rising = curve.points.empty() || (x && *x >= curve.points.back().x);
      if (x && y && rising) curve.points.push_back({*x, *y});
    }
    curves.push_back(std::move(curve));
  }
  return curves;
}

std::string figure(const std::vector<PlottedRun>& runs, const PlottedMetric& metric,
                   const std::vector<XAxis>& axes) {
  const bool is_loss = metric.name == "loss" || metric.name == "negative_log_likelihood";
  std::string drawings;
  for (const XAxis& axis : axes) {
    LineChart chart{.label = metric.title,
                    .x = axis,
                    .y_range = metric.range,
                    .rows = is_loss ? kRowsOfALoss : kRows,
                    .curves = curves_of(runs, metric, member_of(axis.name))};
    const bool any = std::any_of(chart.curves.begin(), chart.curves.end(),
                                 [](const Curve& curve) { return !curve.points.empty(); });
    if (any) drawings += to_svg(chart) + "\n";
  }
  if (drawings.empty()) return "";
  const std::string note = note_of(metric, runs);
  return join_text("<figure data-type=\"", name_of(metric.type), "\" data-name=\"",
                   escaped(metric.name), "\"><figcaption>", escaped(metric.title),
                   note.empty() ? "" : " <small>" + escaped(note) + "</small>", "</figcaption>\n",
                   drawings, "</figure>\n");
}

std::string json_number(std::optional<double> number) {
  if (!number) return "null";
  char text[32];
  std::snprintf(text, sizeof text, "%.7g", *number);
  return text;
}

/// "name":[numbers of all points]
std::string json_column(const std::string& name, const std::vector<LogPoint>& points,
                        const std::string& member) {
  const std::string numbers = joined(
      points, ",", [&member](const LogPoint& point) { return json_number(point.number(member)); });
  return join_text(json_string(name), ":[", numbers, "]");
}

std::string json_of(const PlottedRun& run, LineType type,
                    const std::vector<PlottedMetric>& metrics) {
  const auto& points = points_of(run, type);
  std::string columns;
  const auto add = [&](std::string_view name, std::string_view member) {
    if (!columns.empty()) columns += ',';
    columns += json_column(std::string(name), points, std::string(member));
  };
  for (const Axis& axis : kAxes) add(axis.name, axis.member);
  for (const PlottedMetric& metric : metrics)
    if (metric.type == type) add(metric.name, metric.name);
  return join_text("{", columns, "}");
}

}  // namespace

std::vector<XAxis> training_axes(const std::vector<PlottedRun>& runs) {
  std::vector<XAxis> axes;
  for (const Axis& axis : kAxes) {
    double high = 0;
    for (const PlottedRun& run : runs)
      for (const auto* points : {&run.history.updates, &run.history.validations})
        for (const LogPoint& point : *points)
          high = std::max(high, point.number(std::string(axis.member)).value_or(0));
    if (high > 0 || axes.empty()) axes.push_back(axis_of(axis, std::max(high, 1.0)));
  }
  return axes;
}

std::string training_charts(const std::vector<PlottedRun>& runs, const std::vector<XAxis>& axes) {
  std::string html = "<section class=\"charts\">\n";
  for (const PlottedMetric& metric : metrics_of(runs)) html += figure(runs, metric, axes);
  return html + "</section>\n";
}

std::string legend_mark(std::size_t run) {
  return filled_page_file("legend.svg", {{"mark", mark(run, 14, 6)}});
}

std::string chart_data(const std::vector<PlottedRun>& runs) {
  const std::vector<PlottedMetric> metrics = metrics_of(runs);
  std::string json;
  for (const PlottedRun& run : runs)
    json += join_text(json.empty() ? "[" : ",\n",
                      "{\"update\":", json_of(run, LineType::Update, metrics),
                      ",\"validation\":", json_of(run, LineType::Validation, metrics), "}");
  return "<script type=\"application/json\" id=\"data\">" + json_in_script(json) + "]</script>\n";
}

}  // namespace dragoman
