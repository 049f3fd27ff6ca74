// evaluate --html: the evaluation as a page, and with --explain pages about its worst sentences
// beside it. Here the extra registers.
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <numeric>
#include <optional>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

#include "app/commands/commands.h"
#include "app/commands/evaluate.h"
#include "app/commands/input_output.h"
#include "app/frame/log.h"
#include "app/frame/signals.h"
#include "base/error.h"
#include "base/files.h"
#include "base/formatted_text.h"
#include "evaluation/error_analysis.h"
#include "evaluation/evaluate.h"
#include "extras/explanation/explanation_json.h"
#include "extras/report/commands/written_pages.h"
#include "extras/report/html_page.h"
#include "extras/report/translation_pages.h"

namespace dragoman {

Command plot_command();

namespace {

/// A page about what a system that is a model does with a line.
struct ExplainedLine {
  std::size_t system, line;  ///< from 0
  std::string page;          ///< its path, seen from the page of the evaluation
};

/// The explanations that the page links, and the search that makes more of them.
struct Explanations {
  std::vector<ExplainedLine> lines;
  std::optional<std::string> search;  ///< flags for `dragoman explain`; none: it has no such search
};

using Json = nlohmann::ordered_json;

constexpr std::size_t kNgrams = 20;  ///< for each pair of systems, order and side

double rounded(double value, int places) { return std::stod(fixed_text(value, places)); }

Json rounded(const std::vector<double>& values, int places) {
  Json list = Json::array();
  for (const double value : values) list.push_back(rounded(value, places));
  return list;
}

/// Models follow the files; with --tune a system is a search.
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

/// One decimal is enough for scores of single sentences.
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
          .chart = {.label = metric + " of the models by the number of their updates" + of_run,
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

/// BLEU's tokenizer if BLEU is among the metrics. Otherwise that tokenizer may be missing on this
/// machine.
BleuConfig ngram_config(const EvaluateConfig& config) {
  const auto& metrics = config.metrics;
  return std::count(metrics.begin(), metrics.end(), "bleu") > 0 ? config.bleu() : BleuConfig{};
}

/// The page as HTML. If a stop is requested, the page may lack the pairs of systems, and must not
/// be used.
std::string evaluation_html(const Evaluation& evaluation, const Explanations& explanations) {
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

struct PageFlags {
  std::string html;
  std::int64_t explain = 0;

  void for_each_field(const auto& visit) {
    const auto field = fields_under("Files", visit);
    field("html", html,
          "also write a page with the scores, the statistics behind them, and the sentences side "
          "by side, with those of --src if there are any",
          {.placeholder = "FILE"});
    field("explain", explain,
          "with --html: also explain this many of the sentences, those with the worst scores of "
          "the first model, which the page then shows first; 100 at most; the pages stand in a "
          "folder beside it");
  }
};

/// The pages take a megabyte or more each.
void check_explain(const PageFlags& flags, const EvaluateFiles& files) {
  constexpr std::int64_t kMost = 100;
  if (flags.explain == 0) return;
  if (flags.explain < 0) throw UsageError("--explain: ", flags.explain, " is below 0");
  if (flags.explain > kMost)
    throw UsageError("--explain: ", flags.explain, " sentences are too many: ", kMost,
                     " at most, as each has a page of about a megabyte");
  if (flags.html.empty() || files.models.empty() || files.tune)
    throw UsageError("--explain: needs --html and a model (-m), and no --tune");
  if (is_stream(flags.html)) throw UsageError("--explain: --html must name a file");
}

bool is_asked_for(const PageFlags& flags, const EvaluateOptions& options,
                  const std::vector<std::string>& inputs) {
  if (!flags.html.empty()) {
    if (options.metrics.sentence_level)
      throw UsageError("--html: shows the scores of whole texts; leave --sentence-level out");
    check_page_output("--html", flags.html, inputs);
  }
  check_explain(flags, options.files);
  return !flags.html.empty();
}

/// The lines with a source that have the worst scores, worst first. The page shows these first: it
/// orders them by the same metric and decimals (extras/report/page/evaluation.js).
std::vector<std::size_t> worst_lines(const std::vector<std::string>& source,
                                     const std::vector<SystemCounts>& all, std::size_t system,
                                     std::size_t most) {
  const auto chrf = std::ranges::find_if(
      all, [](const SystemCounts& counts) { return counts.metric.name.starts_with("chrF"); });
  const SystemCounts& counts = chrf == all.end() ? all.front() : *chrf;
  const Metric& metric = counts.metric;
  std::vector<double> goodness(source.size());
  for (std::size_t line = 0; line < source.size(); ++line) {
    const double score = rounded(metric.score(counts.systems[system].line(line)), 1);
    goodness[line] = metric.lower_is_better ? -score : score;
  }
  std::vector<std::size_t> lines(source.size());
  std::iota(lines.begin(), lines.end(), std::size_t{0});
  std::erase_if(lines, [&](std::size_t line) { return source[line].empty(); });
  std::ranges::stable_sort(lines, {}, [&](std::size_t line) { return goodness[line]; });
  lines.resize(std::min(lines.size(), most));
  return lines;
}

/// The numbers of a page about the line, or none with a warning.
std::optional<std::string> explained(const ExplainedModel& model, const std::string& text,
                                     std::size_t line) {
  try {
    return explain_text(model, text, ExplanationForm::Page, {}).json;
  } catch (const Error& error) {
    log_warning(join_text("line ", line + 1, " is not explained: ", error.what()));
    return std::nullopt;
  }
}

/// The given flags that also change the search of `dragoman explain`, as a shell reads them:
/// "--beam-size 8". None if samples were drawn.
std::optional<std::string> search_flags(DecodeConfig decode, const Origins& origins) {
  if (decode.sampling) return std::nullopt;
  std::string flags;
  for (const Field& field : fields_of(decode)) {
    if (!is_flag_of_explain(field.info.name) || !is_given(origins, field.info.name)) continue;
    flags += join_text(flags.empty() ? "" : " ", "--", field.info.name);
    for (const std::string& value : field.values()) flags += join_text(" ", shell_word(value));
  }
  return flags;
}

/// Writes --explain pages for each model, about the lines with the worst scores of the first model,
/// which the page of the evaluation shows first. A line that cannot be explained is left out, with
/// a warning. Pages of an earlier call that are not written again are removed. If a stop is
/// requested, returns the pages that are written by then.
std::vector<ExplainedLine> write_explanations(const Evaluation& evaluation,
                                              const PageFlags& flags) {
  const EvaluatedTexts& texts = evaluation.texts;
  const EvaluateOptions& options = evaluation.options;
  const std::stop_token stop = listen_for_stop();
  const std::size_t first = options.files.hypotheses.size();  // models follow them
  const std::vector<std::size_t> lines =
      worst_lines(texts.source, evaluation.counts, first, static_cast<std::size_t>(flags.explain));
  ExplanationPages pages(flags.html);
  std::vector<ExplainedLine> written;
  for (std::size_t system = first; system < texts.systems.size(); ++system) {
    const ExplainedModel model =
        explained_model(texts.systems[system], options.decode, evaluation.origins);
    for (const std::size_t line : lines) {
      if (stop.stop_requested()) return written;
      if (const auto json = explained(model, texts.source[line], line))
        written.push_back({system, line, pages.write(system, line, *json)});
    }
  }
  pages.remove_others();
  return written;
}

void write_page(const Evaluation& evaluation, const PageFlags& flags) {
  const auto explained =
      flags.explain == 0 ? std::vector<ExplainedLine>() : write_explanations(evaluation, flags);
  const std::string page = evaluation_html(
      evaluation, {explained, search_flags(evaluation.options.decode, evaluation.origins)});
  if (listen_for_stop().stop_requested()) return;  // the page may lack pairs of systems
  write_file(flags.html, page);
  if (is_stream(flags.html)) return;
  const EvaluatedTexts& texts = evaluation.texts;
  log_page(flags.html,
           join_text(counted(std::ssize(texts.systems), "system"), ", ",
                     counted(std::ssize(texts.references.front()), "sentence")),
           std::ssize(explained));
}

EvaluationPage html_page() {
  const auto flags = std::make_shared<PageFlags>();
  return {.fields = fields_of(*flags),
          .is_asked_for =
              [flags](const EvaluateOptions& options, const std::vector<std::string>& inputs) {
                return is_asked_for(*flags, options, inputs);
              },
          .write = [flags](const Evaluation& evaluation) { write_page(evaluation, *flags); },
          .examples = {"evaluate -m run/checkpoints/update-*.safetensors --src a.en --ref a.de "
                       "--html page.html"}};
}

}  // namespace

Extra report_extra(const MakeDeviceEngine&) {
  return {.commands = {plot_command()}, .pages = {html_page()}};
}

}  // namespace dragoman
