#include "evaluation/evaluate.h"

#include <algorithm>
#include <utility>

#include "base/error.h"
#include "base/formatted_text.h"
#include "base/json.h"
#include "base/utf8.h"

namespace dragoman {

namespace {

/// The signature with facts about the resampling after its first part, as sacreBLEU has them:
/// "nrefs:1|bs:1000|seed:12345|...".
std::string resampled_signature(const std::string& signature, std::string_view kind,
                                std::int64_t samples) {
  const std::size_t after = signature.find('|') + 1;
  return join_text(signature.substr(0, after), kind, ":", samples, "|seed:", kSignificanceSeed, "|",
                   signature.substr(after));
}

void add_lines(std::vector<NamedScore>& scores, const Metric& metric,
               const LineStatistics& statistics) {
  for (std::size_t i = 0; i < statistics.lines(); ++i)
    scores.push_back({{.score = metric.score(statistics.line(i))},
                      metric.name,
                      metric.signature,
                      metric.details(statistics.line(i)),
                      static_cast<std::int64_t>(i) + 1});
}

}  // namespace

std::vector<SystemCounts> count_systems(const std::vector<std::vector<std::string>>& hypotheses,
                                        const References& references, const EvaluateConfig& config,
                                        std::string_view version, const std::stop_token& stop) {
  std::vector<SystemCounts> counts;
  std::vector<bool> same_output(hypotheses.size());
  for (std::size_t s = 1; s < hypotheses.size(); ++s)
    same_output[s] = hypotheses[s] == hypotheses.front();
  for (Metric& metric : metrics_of(config, references, version)) {
    std::vector<LineStatistics> systems;
    for (const auto& lines : hypotheses) {
      if (stop.stop_requested()) return counts;
      systems.push_back(metric.count(lines, references));
    }
    counts.push_back({std::move(metric), std::move(systems), same_output});
  }
  return counts;
}

Comparison compare(const std::vector<std::string>& names, const std::vector<SystemCounts>& counts,
                   const EvaluateConfig& config, const std::stop_token& stop) {
  Comparison comparison{.systems = names};
  if (stop.stop_requested()) return comparison;  // perhaps without any counts
  std::string_view kind;
  std::int64_t samples = 0;
  if (config.paired_bootstrap) {
    kind = "bs", samples = config.paired_bootstrap_n;
    comparison.scores = paired_bootstrap(counts, samples, stop);
  } else if (config.paired_approximate_randomization) {
    kind = "ar", samples = config.paired_approximate_randomization_n;
    comparison.scores = paired_randomization(counts, samples, stop);
  } else if (config.confidence) {
    kind = "bs", samples = config.confidence_n;
    comparison.scores = bootstrap_scores(counts, samples, stop);
  } else {
    comparison.scores = plain_scores(counts);
  }
  comparison.paired = config.paired_bootstrap || config.paired_approximate_randomization;
  // Chance never exceeds a difference of 0, so the tests would find a small p-value.
  if (comparison.paired) comparison.same_output = counts.front().same_output;
  for (auto& scores : comparison.scores)
    for (std::size_t s = 0; s < comparison.same_output.size(); ++s)
      if (comparison.same_output[s]) scores[s].p_value.reset();
  for (const auto& [metric, systems, same_output] : counts) {
    comparison.metrics.push_back(metric.name);
    comparison.signatures.push_back(
        samples > 0 ? resampled_signature(metric.signature, kind, samples) : metric.signature);
  }
  return comparison;
}

std::vector<NamedScore> evaluate_lines(const std::vector<std::string>& hypotheses,
                                       const References& references, const EvaluateConfig& config,
                                       std::string_view version, const std::stop_token& stop) {
  const auto counts = count_systems({hypotheses}, references, config, version, stop);
  if (stop.stop_requested()) return {};
  std::vector<NamedScore> scores;
  if (config.sentence_level) {
    for (const SystemCounts& metric : counts)
      add_lines(scores, metric.metric, metric.systems.front());
    std::ranges::stable_sort(scores, {}, &NamedScore::line);
    return scores;
  }
  const Comparison comparison = compare({""}, counts, config, stop);
  if (stop.stop_requested()) return {};
  for (std::size_t m = 0; m < counts.size(); ++m)
    scores.push_back({comparison.scores[m].front(), comparison.metrics[m], comparison.signatures[m],
                      counts[m].metric.details(counts[m].systems.front().sum())});
  return scores;
}

namespace {

/// Rows of cells; the first row is the header.
using Table = std::vector<std::vector<std::string>>;

/// sacreBLEU's "26.30 ± 0.61".
std::string interval_text(const SystemScore& score, int width) {
  return join_text(fixed_text(*score.mean, width), " ± ", fixed_text(*score.interval, width));
}

std::string score_text(const NamedScore& score, int width) {
  return fixed_text(score.score, width) +
         (score.mean ? " (μ = " + interval_text(score, width) + ")" : "");
}

/// The scores of each line after its number. The signatures are the same for all lines and stand
/// once, at the end.
std::string text_of_lines(std::span<const NamedScore> scores, int width) {
  std::string text, signatures;
  for (const NamedScore& score : scores) {
    text += join_text(score.line, " ", score.name, " = ", score_text(score, width));
    if (!score.details.empty()) text += " " + score.details;
    text += "\n";
    if (score.line == scores.front().line) signatures += score.name + "|" + score.signature + "\n";
  }
  return text + "\n" + signatures;
}

std::string text_report(std::span<const NamedScore> scores, int width) {
  if (!scores.empty() && scores.front().line > 0) return text_of_lines(scores, width);
  std::size_t longest = 0;
  for (const NamedScore& score : scores)
    longest = std::max(longest, score.name.size() + score.signature.size());
  std::string text;
  for (const NamedScore& score : scores) {
    text.append(longest - score.name.size() - score.signature.size(), ' ');
    text += score.name + "|" + score.signature + " = " + score_text(score, width);
    if (!score.details.empty()) text += " " + score.details;
    text += "\n";
  }
  return text;
}

nlohmann::ordered_json json_of(const NamedScore& score, int width) {
  nlohmann::ordered_json object;
  if (score.line > 0) object["line"] = score.line;
  object["name"] = score.name;
  object["score"] = std::stod(fixed_text(score.score, width));
  object["signature"] = score.signature;
  if (score.mean) {
    object["confidence_mean"] = std::stod(fixed_text(*score.mean, width));
    object["confidence_var"] = std::stod(fixed_text(*score.interval, width));
    object["confidence"] = "μ = " + interval_text(score, width);
  }
  if (!score.details.empty()) object["verbose_score"] = score.details;
  for (const std::string_view part : split_at(score.signature, '|'))
    if (const std::size_t colon = part.find(':'); colon != part.npos)
      object[std::string(part.substr(0, colon))] = part.substr(colon + 1);
  return object;
}

std::string json_report(std::span<const NamedScore> scores, int width) {
  nlohmann::ordered_json list = nlohmann::ordered_json::array();
  for (const NamedScore& score : scores) list.push_back(json_of(score, width));
  return json_text(list, 1) + "\n";
}

Table table_of(std::span<const NamedScore> scores, int width) {
  const bool by_line = !scores.empty() && scores.front().line > 0;
  Table table = {{"Metric", "Score", "Details", "Signature"}};
  if (by_line) table.front().insert(table.front().begin(), "Line");
  for (const NamedScore& score : scores) {
    table.push_back({score.name, score_text(score, width), score.details, score.signature});
    if (by_line) table.back().insert(table.back().begin(), std::to_string(score.line));
  }
  return table;
}

std::string escaped(const std::string& text, std::string_view special) {
  std::string result;
  for (const char c : text) {
    if (special.find(c) != std::string_view::npos) result += '\\';
    result += c;
  }
  return result;
}

/// Escapes bars, since a bar would end a cell.
std::string markdown_table(const Table& table) {
  std::string text;
  for (std::size_t r = 0; r < table.size(); ++r) {
    for (const std::string& cell : table[r]) text += "| " + escaped(cell, "|") + " ";
    text += "|\n";
    if (r > 0) continue;
    for (const std::string& cell : table[r])
      text += cell == "Line" || cell == "Score" ? "|---:" : "|---";
    text += "|\n";
  }
  return text;
}

std::string latex_table(const Table& table) {
  std::string text =
      "\\begin{tabular}{l" + std::string(table.front().size() - 1, 'c') + "}\n\\toprule\n";
  for (std::size_t r = 0; r < table.size(); ++r) {
    std::string row;
    for (const std::string& cell : table[r]) {
      if (!row.empty()) row += " & ";
      std::string plain = cell;
      replace_all(plain, "\\", "\1");  // its command has braces, which are escaped below
      std::string escaped_cell = escaped(plain, "&%$#_{}");
      for (const auto& [from, to] :
           {std::pair("\1", "\\textbackslash{}"), std::pair("^", "\\textasciicircum{}"),
            std::pair("~", "\\textasciitilde{}"), std::pair("μ", "$\\mu$"),
            std::pair("±", "$\\pm$")})
        replace_all(escaped_cell, from, to);
      row += escaped_cell;
    }
    text += row + " \\\\\n" + (r == 0 ? "\\midrule\n" : "");
  }
  return text + "\\bottomrule\n\\end{tabular}\n";
}

/// A table with aligned columns.
std::string text_table(const Table& table) {
  std::vector<std::size_t> widths(table.front().size());
  for (const auto& row : table)
    for (std::size_t c = 0; c < row.size(); ++c)
      widths[c] = std::max(widths[c], count_code_points(row[c]));
  std::string text;
  for (const auto& row : table) {
    std::string line;
    for (std::size_t c = 0; c < row.size(); ++c)
      line += row[c] + std::string(widths[c] + 2 - count_code_points(row[c]), ' ');
    text += std::string(strip_right(line)) + "\n";
  }
  return text;
}

bool has_same_output(const Comparison& comparison, std::size_t system) {
  return !comparison.same_output.empty() && comparison.same_output[system];
}

nlohmann::ordered_json json_of(const Comparison& comparison, int width) {
  const auto number = [width](double value) { return std::stod(fixed_text(value, width)); };
  nlohmann::ordered_json list = nlohmann::ordered_json::array();
  for (std::size_t s = 0; s < comparison.systems.size(); ++s) {
    nlohmann::ordered_json object{{"system", comparison.systems[s]}};
    if (has_same_output(comparison, s)) object["same_output"] = true;
    for (std::size_t m = 0; m < comparison.metrics.size(); ++m) {
      const SystemScore& score = comparison.scores[m][s];
      nlohmann::ordered_json& values = object[comparison.metrics[m]];
      values["score"] = number(score.score);
      values["signature"] = comparison.signatures[m];
      if (comparison.paired) values["p_value"] = nullptr;  // for the baseline and its copies
      if (score.p_value) values["p_value"] = *score.p_value;
      if (score.mean) values["mean"] = number(*score.mean);
      if (score.interval) values["ci"] = number(*score.interval);
    }
    list.push_back(std::move(object));
  }
  return list;
}

bool is_starred(const SystemScore& score) { return score.p_value && !(*score.p_value > 0.05); }

bool has_star(const Comparison& comparison) {
  return std::ranges::any_of(comparison.scores, [](const std::vector<SystemScore>& metric) {
    return std::ranges::any_of(metric, is_starred);
  });
}

std::string signature_lines(const Comparison& comparison, std::string_view before) {
  std::string text;
  for (std::size_t m = 0; m < comparison.metrics.size(); ++m)
    text += join_text(before, comparison.metrics[m], "|", comparison.signatures[m], "\n");
  return text;
}

/// A row for each system and a column for each metric, with intervals and p-values if they were
/// computed. The baseline, p-values up to 0.05 and systems with the same output are marked.
Table score_table(const Comparison& comparison, int width) {
  Table table = {{"System"}};
  for (std::size_t m = 0; m < comparison.metrics.size(); ++m)
    table.front().push_back(comparison.metrics[m] +
                            (comparison.scores[m].front().mean ? " (μ ± 95% CI)" : ""));
  for (std::size_t s = 0; s < comparison.systems.size(); ++s) {
    auto& row = table.emplace_back();
    row.push_back((comparison.paired && s == 0 ? "Baseline: " : "") + comparison.systems[s]);
    for (const auto& metric : comparison.scores) {
      const SystemScore& score = metric[s];
      std::string text = fixed_text(score.score, width);
      if (score.mean) text += " (" + interval_text(score, width) + ")";
      if (score.p_value)
        text +=
            join_text(" (p = ", fixed_text(*score.p_value, 4), ")", is_starred(score) ? "*" : "");
      if (has_same_output(comparison, s)) text += " (the same output)";
      row.push_back(std::move(text));
    }
  }
  return table;
}

}  // namespace

std::string report(std::span<const NamedScore> scores, ReportFormat format, int width) {
  if (format == ReportFormat::Json) return json_report(scores, width);
  if (format == ReportFormat::Markdown) return markdown_table(table_of(scores, width));
  if (format == ReportFormat::Latex) return latex_table(table_of(scores, width));
  return text_report(scores, width);
}

std::string report(const Comparison& comparison, ReportFormat format, int width) {
  const Table table = score_table(comparison, width);
  if (format == ReportFormat::Json) return json_text(json_of(comparison, width), 1) + "\n";
  if (format == ReportFormat::Markdown)
    return markdown_table(table) + "\n" + signature_lines(comparison, "- ");
  if (format == ReportFormat::Latex) return latex_table(table) + signature_lines(comparison, "% ");
  return text_table(table) + "\n" + signature_lines(comparison, "") +
         (has_star(comparison)
              ? "\n* If the systems were equally good, chance would give such a "
                "difference in fewer than 5 % of tests.\n  The difference may still "
                "be too small to matter.\n"
              : "");
}

}  // namespace dragoman
