#include "app/evaluation_page.h"

#include <algorithm>
#include <filesystem>
#include <set>
#include <utility>

#include "base/amounts.h"
#include "evaluation/analysis.h"
#include "evaluation/decimals.h"
#include "evaluation/report.h"

namespace dragoman {

namespace {

/// Without the folder and the extension that all have in common.
std::vector<std::string> short_names(const std::vector<std::string>& names) {
  std::string front = names.front().substr(0, names.front().rfind('/') + 1);
  std::string back = std::filesystem::path(names.front()).extension().string();
  for (const std::string& name : names) {
    while (!name.starts_with(front)) {
      front.pop_back();
      front.resize(front.rfind('/') + 1);
    }
    if (!name.ends_with(back)) back.clear();
  }
  std::vector<std::string> shortened;
  for (const std::string& name : names)
    shortened.push_back(name.size() > front.size() + back.size()
                            ? name.substr(front.size(), name.size() - front.size() - back.size())
                            : name);
  return shortened;
}

std::vector<std::string> header(std::vector<std::string> row,
                                const std::vector<std::string>& systems) {
  row.insert(row.end(), systems.begin(), systems.end());
  return row;
}

PageTable details_table(const Comparison& comparison, const std::vector<SystemCounts>& counts) {
  PageTable table{.title = "Signatures and details",
                  .note = "",
                  .rows = {{"Metric", "System", "Details"}},
                  .wide = true};
  for (std::size_t m = 0; m < counts.size(); ++m) {
    const auto& [metric, systems] = counts[m];
    table.rows.push_back({metric.name, "signature", comparison.signatures[m]});
    for (std::size_t s = 0; s < systems.size(); ++s)
      if (std::string details = metric.details(systems[s].sum()); !details.empty())
        table.rows.push_back({metric.name, comparison.systems[s], std::move(details)});
  }
  return table;
}

/// Of metrics that are made of parts (BLEU); no rows for others.
PageTable parts_table(const std::vector<std::string>& names, const SystemCounts& counts,
                      int width) {
  PageTable table{.title = "What " + counts.metric.name + " is made of", .note = "", .rows = {}};
  for (std::size_t s = 0; s < names.size(); ++s) {
    const auto parts = counts.metric.parts(counts.systems[s].sum());
    if (s == 0 && !parts.empty()) table.rows.push_back(header({"Part"}, names));
    for (std::size_t p = 0; p < parts.size(); ++p) {
      if (s == 0) table.rows.push_back({parts[p].name});
      table.rows[p + 1].push_back(decimals(parts[p].value, width));
    }
  }
  return table;
}

/// A metric's scores by the updates behind the systems, which are models of one run.
PageChart curve_of(const EvaluatedTexts& texts, const std::string& metric,
                   const std::vector<SystemScore>& scores) {
  Curve curve;
  for (std::size_t s = 0; s < scores.size(); ++s)
    curve.points.push_back({static_cast<double>(texts.updates[s]), scores[s].score});
  std::sort(curve.points.begin(), curve.points.end(),
            [](const ChartPoint& a, const ChartPoint& b) { return a.x < b.x; });
  return {.title = metric + " by updates",
          .chart = {.label = metric + " of the models by the updates behind them",
                    .x = {.name = "by-updates",
                          .title = "updates",
                          .low = curve.points.front().x,
                          .high = curve.points.back().x},
                    .curves = {curve}}};
}

bool is_a_curve(const EvaluatedTexts& texts) {
  return std::set(texts.updates.begin(), texts.updates.end()).size() > 1;
}

PageTable length_table(const std::vector<std::string>& names, const std::string& title,
                       std::size_t metric, const std::vector<LineGroup>& groups, int width) {
  PageTable table{.title = title, .note = "", .rows = {header({"Words", "Lines"}, names)}};
  for (const LineGroup& group : groups) {
    auto& row = table.rows.emplace_back();
    row = {group.name, with_separators(group.lines)};
    for (const double score : group.scores[metric]) row.push_back(decimals(score, width));
  }
  return table;
}

PageTable frequency_table(const std::vector<std::string>& names, const EvaluatedTexts& texts,
                          int width) {
  PageTable table{.title = "Words found, by frequency",
                  .note =
                      "F1 in percent of words that occur so often in the first reference; "
                      "case left aside.",
                  .rows = {header({"Times", "Words"}, names)}};
  for (const WordGroup& group : words_by_frequency(texts.hypotheses, texts.references.front())) {
    auto& row = table.rows.emplace_back();
    row = {group.name, with_separators(group.words)};
    for (const double f1 : group.f1) row.push_back(decimals(f1, width));
  }
  return table;
}

std::vector<EvaluatedSentence> sentences_of(const EvaluatedTexts& texts,
                                            const SystemCounts& counts) {
  std::vector<EvaluatedSentence> sentences;
  for (std::size_t line = 0; line < texts.hypotheses.front().size(); ++line) {
    EvaluatedSentence& sentence = sentences.emplace_back();
    sentence.line = static_cast<std::int64_t>(line) + 1;
    if (!texts.source.empty()) sentence.source = texts.source[line];
    for (const auto& reference : texts.references) sentence.references.push_back(reference[line]);
    for (std::size_t s = 0; s < texts.hypotheses.size(); ++s) {
      sentence.translations.push_back(texts.hypotheses[s][line]);
      sentence.scores.push_back(counts.metric.score(counts.systems[s].line(line)));
    }
  }
  return sentences;
}

/// chrF says most about a single sentence, where it is among the metrics.
const SystemCounts& sentence_counts(const std::vector<SystemCounts>& counts) {
  for (const SystemCounts& candidate : counts)
    if (candidate.metric.name.starts_with("chrF")) return candidate;
  return counts.front();
}

}  // namespace

EvaluationPage evaluation_page(const EvaluatedTexts& texts, const Comparison& comparison,
                               const std::vector<SystemCounts>& counts, int width) {
  const SystemCounts& by_sentence = sentence_counts(counts);
  EvaluationPage page{
      .title = "Evaluation",
      .systems = short_names(texts.systems),
      .charts = {},
      .tables = {{.title = "Scores",
                  .note = comparison.paired ? "p: how often chance alone would make such a "
                                              "difference to the baseline; * below 0.05"
                                            : "",
                  .rows = score_table(comparison, width),
                  .wide = true}},
      .sentence_metric = by_sentence.metric.name,
      .lower_is_better = by_sentence.metric.lower_is_better,
      .sentences = sentences_of(texts, by_sentence)};
  if (is_a_curve(texts))
    for (std::size_t m = 0; m < counts.size(); ++m)
      page.charts.push_back(curve_of(texts, counts[m].metric.name, comparison.scores[m]));
  const auto groups =
      scores_by_length(counts, texts.source.empty() ? texts.references.front() : texts.source);
  for (std::size_t m = 0; m < counts.size(); ++m) {
    const std::string title =
        counts[m].metric.name +
        (texts.source.empty() ? " by words of the reference" : " by words of the source");
    page.tables.push_back(length_table(page.systems, title, m, groups, width));
    if (PageTable parts = parts_table(page.systems, counts[m], width); !parts.rows.empty())
      page.tables.push_back(std::move(parts));
  }
  page.tables.push_back(frequency_table(page.systems, texts, width));
  page.tables.push_back(details_table(comparison, counts));
  return page;
}

}  // namespace dragoman
