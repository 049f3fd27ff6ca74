#include "app/evaluation_page.h"

#include "base/amounts.h"
#include "base/error.h"
#include "evaluation/analysis.h"
#include "evaluation/decimals.h"
#include "evaluation/report.h"

namespace dragoman {

namespace {

std::vector<std::string> header(const std::string& first, const std::string& second,
                                const std::vector<std::string>& systems) {
  std::vector<std::string> row = {first, second};
  row.insert(row.end(), systems.begin(), systems.end());
  return row;
}

PageTable details_table(const EvaluatedTexts& texts) {
  PageTable table{.title = "Signatures and details",
                  .note = "",
                  .rows = {{"Metric", "System", "Details"}},
                  .wide = true};
  for (std::size_t m = 0; m < texts.counts.size(); ++m) {
    const auto& [metric, systems] = texts.counts[m];
    table.rows.push_back({metric.name, "signature", texts.comparison.signatures[m]});
    for (std::size_t s = 0; s < systems.size(); ++s)
      if (std::string details = metric.details(systems[s].sum()); !details.empty())
        table.rows.push_back({metric.name, texts.comparison.systems[s], std::move(details)});
  }
  return table;
}

PageTable length_table(const EvaluatedTexts& texts, std::size_t metric,
                       const std::vector<LineGroup>& groups, int width) {
  PageTable table{
      .title = texts.counts[metric].metric.name + " by length",
      .note = texts.source.empty() ? "Words of the first reference." : "Words of the source.",
      .rows = {header("Words", "Lines", texts.comparison.systems)}};
  for (const LineGroup& group : groups) {
    auto& row = table.rows.emplace_back();
    row = {group.name, with_separators(group.lines)};
    for (const double score : group.scores[metric]) row.push_back(decimals(score, width));
  }
  return table;
}

PageTable frequency_table(const EvaluatedTexts& texts, int width) {
  PageTable table{.title = "Words found, by frequency",
                  .note =
                      "F1 in percent of words that occur so often in the first reference; "
                      "case left aside.",
                  .rows = {header("Times", "Words", texts.comparison.systems)}};
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

EvaluationPage evaluation_page(const EvaluatedTexts& texts, int width) {
  const SystemCounts& by_sentence = sentence_counts(texts.counts);
  EvaluationPage page{
      .title = "Evaluation",
      .systems = texts.comparison.systems,
      .tables = {{.title = "Scores",
                  .note = texts.comparison.paired ? "p: how often chance alone would make such a "
                                                    "difference to the baseline; * below 0.05"
                                                  : "",
                  .rows = score_table(texts.comparison, width),
                  .wide = true}},
      .sentence_metric = by_sentence.metric.name,
      .lower_is_better = by_sentence.metric.lower_is_better,
      .sentences = sentences_of(texts, by_sentence)};
  const auto groups = scores_by_length(
      texts.counts, texts.source.empty() ? texts.references.front() : texts.source);
  for (std::size_t m = 0; m < texts.counts.size(); ++m)
    page.tables.push_back(length_table(texts, m, groups, width));
  page.tables.push_back(frequency_table(texts, width));
  page.tables.push_back(details_table(texts));
  return page;
}

}  // namespace dragoman
