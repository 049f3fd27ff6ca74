#include "extras/report/training_attention.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <span>

#include "base/amounts.h"
#include "base/error.h"
#include "extras/report/attention_figure.h"
#include "extras/report/html.h"
#include "extras/report/page_files.h"

namespace dragoman {

namespace {

constexpr std::size_t kMost = 60;  ///< validations of a run

/// The validations whose attention is about the pieces of the last one.
std::vector<const LogPoint*> recorded(const RunHistory& history) {
  std::vector<const LogPoint*> all;
  const AttentionLine* last = history.last_attention();
  if (last == nullptr) return all;
  for (const LogPoint& point : history.validations) {
    const auto& [source, target, weights] = point.attention;
    if (!weights.empty() && source == last->source && target == last->target) all.push_back(&point);
  }
  if (all.size() <= kMost) return all;
  std::vector<const LogPoint*> some;
  for (std::size_t i = 0; i < kMost; ++i) some.push_back(all[i * (all.size() - 1) / (kMost - 1)]);
  return some;
}

/// The log has thousandths: what a row lacks to 1, or has too much, goes to its largest weight.
std::vector<float> with_whole_rows(std::vector<float> weights, std::size_t keys) {
  for (std::size_t begin = 0; begin + keys <= weights.size() && keys > 0; begin += keys) {
    const auto row = std::span(weights).subspan(begin, keys);
    *std::ranges::max_element(row) += 1 - std::accumulate(row.begin(), row.end(), 0.0F);
  }
  return weights;
}

/// Weights in thousandths.
std::string weights_json(const std::vector<float>& weights) {
  std::string json;
  for (const float weight : weights)
    json += join_text(json.empty() ? "" : ",", std::lround(weight * 1000));
  return "[" + json + "]";
}

/// The link to the page about the sentence; empty where there is none.
std::string link_html(const PlottedRun& run) {
  if (run.explanation.empty()) return "";
  return filled_page_file("alignment_link.html", {{"page", escaped(run.explanation)}});
}

std::string run_html(std::size_t number, const PlottedRun& run,
                     const std::vector<const LogPoint*>& points) {
  const LogPoint& last = *points.back();
  std::string updates, weights;
  for (const LogPoint* point : points) {
    const char* comma = updates.empty() ? "" : ",";
    updates += join_text(comma, point->update);
    weights += join_text(comma, weights_json(with_whole_rows(point->attention.weights,
                                                             last.attention.source.size())));
  }
  return filled_page_file(
      "alignment.html",
      {{"run", std::to_string(number)},
       {"name", escaped(run.name)},
       {"last", std::to_string(points.size() - 1)},
       {"update", with_separators(last.update)},
       {"drawing",
        to_svg({.title = "Attention to the source, mean of the heads",
                .rows_title = "piece that is written",
                .keys_title = "piece that is attended to",
                .rows = last.attention.target,
                .keys = last.attention.source,
                .weights = with_whole_rows(last.attention.weights, last.attention.source.size())})},
       {"link", link_html(run)},
       {"data", join_text("{\"updates\":[", updates, "],\"weights\":[", weights, "]}")}});
}

}  // namespace

std::string training_attention(const std::vector<PlottedRun>& runs) {
  std::string html;
  for (std::size_t run = 0; run < runs.size(); ++run)
    if (const auto points = recorded(runs[run].history); !points.empty())
      html += run_html(run, runs[run], points);
  if (html.empty()) return "";
  return filled_page_file("alignments.html", {{"alignments", html}});
}

}  // namespace dragoman
