#include "extras/report/commands/evaluation_page_data.h"

#include <algorithm>
#include <array>
#include <map>
#include <nlohmann/json.hpp>

#include "app/commands/evaluate_options.h"
#include "app/commands/evaluated_texts.h"
#include "app/frame/signals.h"
#include "base/amounts.h"
#include "evaluation/evaluate.h"
#include "evaluation/ngram_differences.h"
#include "evaluation/score_groups.h"
#include "extras/report/evaluation_page.h"
#include "extras/report/short_names.h"

namespace dragoman {

namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t kNgrams = 20;  ///< of each pair of systems, order and side

double rounded(double value, int places) { return std::stod(fixed_text(value, places)); }

Json rounded(const std::vector<double>& values, int places) {
  Json list = Json::array();
  for (const double value : values) list.push_back(rounded(value, places));
  return list;
}

/// Models stand behind the files; with --tune a system is a search.
Json systems_of(const std::vector<std::string>& paths, const EvaluateFiles& files) {
  Json systems = Json::array();
  const std::vector<std::string> names = short_names(paths);
  for (std::size_t s = 0; s < paths.size(); ++s)
    systems.push_back({{"name", names[s]},
                       {"path", paths[s]},
                       {"model", s >= files.hypotheses.size() && !files.tune}});
  return systems;
}

Json explanations_of(const std::vector<ExplainedLine>& explained) {
  Json list = Json::array();
  for (const auto& [system, line, page] : explained)
    list.push_back({{"system", system}, {"line", line}, {"page", page}});
  return list;
}

Json scores_of(const Comparison& comparison, std::size_t metric, int width) {
  Json list = Json::array();
  for (std::size_t s = 0; s < comparison.systems.size(); ++s) {
    const SystemScore& score = comparison.scores[metric][s];
    Json& entry = list.emplace_back(Json{{"score", rounded(score.score, width)}});
    if (score.mean) entry["mean"] = rounded(*score.mean, width);
    if (score.interval) entry["interval"] = rounded(*score.interval, width);
    if (score.p_value) entry["p"] = *score.p_value;
    if (!comparison.same_output.empty() && comparison.same_output[s]) entry["same"] = true;
  }
  return list;
}

Json parts_of(const SystemCounts& counts) {
  constexpr std::array kKinds = {"precision", "count", "factor"};
  Json list = Json::array();
  for (const LineStatistics& system : counts.systems) {
    const auto parts = counts.metric.parts(system.sum());
    for (std::size_t p = 0; p < parts.size(); ++p) {
      if (list.size() == p)
        list.push_back(
            {{"name", parts[p].name}, {"kind", kKinds[static_cast<std::size_t>(parts[p].kind)]}});
      list[p]["values"].push_back(rounded(parts[p].value, 4));
    }
  }
  return list;
}

Json pairs_of(const std::vector<PairDifference>& pairs, int width) {
  Json list = Json::array();
  for (const PairDifference& pair : pairs)
    list.push_back({{"first", pair.first},
                    {"second", pair.second},
                    {"low", rounded(pair.low, width)},
                    {"high", rounded(pair.high, width)},
                    {"p", pair.p_value}});
  return list;
}

/// Scores of single sentences need no more than one decimal.
Json sentence_scores(const SystemCounts& counts) {
  Json list = Json::array();
  for (const LineStatistics& system : counts.systems) {
    Json& scores = list.emplace_back(Json::array());
    for (std::size_t line = 0; line < system.lines(); ++line)
      scores.push_back(rounded(counts.metric.score(system.line(line)), 1));
  }
  return list;
}

Json metrics_of(const Comparison& comparison, const std::vector<SystemCounts>& counts,
                const std::vector<LineGroup>& groups, const EvaluateConfig& config) {
  const auto width = static_cast<int>(config.width);
  const bool several = comparison.systems.size() > 1;
  const auto pairs =
      several ? paired_bootstrap_of_all(counts, config.paired_bootstrap_n, listen_for_stop())
              : std::vector<std::vector<PairDifference>>(counts.size());
  Json list = Json::array();
  for (std::size_t m = 0; m < counts.size(); ++m) {
    Json lengths = Json::array();
    for (const LineGroup& group : groups) lengths.push_back(rounded(group.scores[m], width));
    list.push_back({{"name", counts[m].metric.name},
                    {"signature", comparison.signatures[m]},
                    {"lower", counts[m].metric.lower_is_better},
                    {"scores", scores_of(comparison, m, width)},
                    {"parts", parts_of(counts[m])},
                    {"lengths", std::move(lengths)},
                    {"pairs", pairs_of(pairs[m], width)},
                    {"sentences", sentence_scores(counts[m])}});
  }
  return list;
}

Json lengths_of(const std::vector<LineGroup>& groups, const char* text) {
  Json list = Json::array();
  for (const LineGroup& group : groups)
    list.push_back({{"name", group.name}, {"words", group.words}, {"lines", group.lines}});
  return {{"of", text}, {"groups", std::move(list)}};
}

Json frequencies_of(const EvaluatedTexts& texts, const Tokenization& tokenization, int width) {
  Json list = Json::array();
  for (const WordGroup& group :
       words_by_frequency(texts.hypotheses, texts.references.front(), tokenization))
    list.push_back(
        {{"name", group.name}, {"words", group.words}, {"f1", rounded(group.f1, width)}});
  return list;
}

Json ngrams_of(const EvaluatedTexts& texts, const BleuConfig& config) {
  Json list = Json::array();
  for (const NgramOccurrences& ngram :
       differing_ngrams(texts.hypotheses, texts.references, config, kNgrams))
    list.push_back({{"text", ngram.text},
                    {"order", ngram.order},
                    {"reference", ngram.in_reference},
                    {"found", ngram.found},
                    {"superfluous", ngram.superfluous}});
  return list;
}

/// The checkpoints of one run.
struct RunSystems {
  std::string name;  ///< "" if there is no other run
  std::vector<std::size_t> systems;
};

/// The runs that have models of different updates among the systems.
std::vector<RunSystems> runs_of(const EvaluatedTexts& texts) {
  std::map<std::string, std::vector<std::size_t>> systems;
  for (std::size_t s = 0; s < texts.training.size(); ++s)
    if (!texts.training[s].run.empty()) systems[texts.training[s].run].push_back(s);
  std::erase_if(systems, [&](const auto& run) {
    return std::ranges::all_of(run.second, [&](std::size_t s) {
      return texts.training[s].updates == texts.training[run.second.front()].updates;
    });
  });
  std::vector<std::string> folders;
  for (const auto& [run, _] : systems) folders.push_back(run.substr(0, run.find('\n')));
  const std::vector<std::string> names =
      folders.size() > 1 ? short_names(folders) : std::vector<std::string>{""};
  std::vector<RunSystems> runs;
  for (auto& [_, of_run] : systems) runs.push_back({names[runs.size()], std::move(of_run)});
  return runs;
}

/// A metric's scores by updates.
PageChart curve_of(const EvaluatedTexts& texts, const RunSystems& run, const std::string& metric,
                   const std::vector<SystemScore>& scores) {
  Curve curve;
  for (const std::size_t s : run.systems)
    curve.points.push_back({static_cast<double>(texts.training[s].updates), scores[s].score});
  std::ranges::stable_sort(curve.points, {}, &ChartPoint::x);
  const std::string of_run = run.name.empty() ? "" : ", " + run.name;
  return {.title = metric + " by updates" + of_run,
          .chart = {.label = metric + " of the models by the updates behind them" + of_run,
                    .x = {.name = "by-updates",
                          .title = "updates",
                          .low = curve.points.front().x,
                          .high = curve.points.back().x},
                    .curves = {curve}}};
}

std::vector<PageChart> curves_of(const EvaluatedTexts& texts, const Comparison& comparison) {
  std::vector<PageChart> curves;
  for (const RunSystems& run : runs_of(texts))
    for (std::size_t m = 0; m < comparison.metrics.size(); ++m)
      curves.push_back(curve_of(texts, run, comparison.metrics[m], comparison.scores[m]));
  return curves;
}

/// BLEU's tokenizer where BLEU is among the metrics. Otherwise that tokenizer may be missing on
/// this machine.
BleuConfig ngram_config(const EvaluateConfig& config) {
  const auto& metrics = config.metrics;
  return std::count(metrics.begin(), metrics.end(), "bleu") > 0 ? config.bleu() : BleuConfig{};
}

}  // namespace

std::string evaluation_page(const Evaluation& evaluation, const Explanations& explanations) {
  const auto& [texts, comparison, counts, options, origins] = evaluation;
  const EvaluateConfig& config = options.metrics;
  const bool has_source = !texts.source.empty();
  const auto groups =
      scores_by_length(counts, has_source ? texts.source : texts.references.front());
  const BleuConfig words = ngram_config(config);
  const auto width = static_cast<int>(config.width);
  return evaluation_page("Evaluation", curves_of(texts, comparison),
                         {{"width", width},
                          {"systems", systems_of(texts.systems, options.files)},
                          {"paired", comparison.paired},
                          {"samples", config.paired_bootstrap_n},
                          {"lowercase", words.lowercase},
                          {"metrics", metrics_of(comparison, counts, groups, config)},
                          {"lengths", lengths_of(groups, has_source ? "source" : "reference")},
                          {"frequencies", frequencies_of(texts, words.tokenization, width)},
                          {"ngrams", ngrams_of(texts, words)},
                          {"explanations", explanations_of(explanations.lines)},
                          {"search", explanations.search ? Json(*explanations.search) : Json()},
                          {"source", texts.source},
                          {"references", texts.references},
                          {"translations", texts.hypotheses}});
}

}  // namespace dragoman
