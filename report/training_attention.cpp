#include "report/training_attention.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <span>
#include <string_view>

#include "base/amounts.h"
#include "base/error.h"
#include "base/shell_word.h"
#include "base/utf8.h"
#include "report/attention_figure.h"
#include "report/html.h"
#include "report/page_files.h"

namespace dragoman {

namespace {

constexpr std::size_t kMost = 60;  ///< validations of a run

/// The validations whose attention is about the pieces of the last one.
std::vector<const LogPoint*> recorded(const RunHistory& history) {
  std::vector<const LogPoint*> all;
  for (const LogPoint& point : history.validations)
    if (!point.attention.weights.empty()) all.push_back(&point);
  if (all.empty()) return all;
  const AttentionLine& last = all.back()->attention;
  std::erase_if(all, [&last](const LogPoint* point) {
    return point->attention.source != last.source || point->attention.target != last.target;
  });
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

/// The text of pieces of SentencePiece.
std::string text_of(const std::vector<std::string>& pieces) {
  constexpr std::string_view kSpace = "\xE2\x96\x81", kEnd = "</s>";
  std::string text;
  for (const std::string& piece : pieces) {
    if (piece == kEnd) continue;
    std::string_view rest = piece;
    for (std::size_t at = 0; (at = rest.find(kSpace)) != std::string_view::npos;) {
      text.append(rest.substr(0, at)).append(" ");
      rest.remove_prefix(at + kSpace.size());
    }
    text.append(rest);
  }
  return std::string(strip(text));
}

/// The command that explains the sentence by the run's model; empty where its folder is not known.
std::string command_html(const PlottedRun& run, const AttentionLine& attention) {
  if (run.path.empty()) return "";
  const std::string command = join_text("dragoman explain -m ", shell_word(run.path), ' ',
                                        shell_word(text_of(attention.source)), " --target ",
                                        shell_word(text_of(attention.target)), " -o page.html");
  return filled_page_file("alignment_command.html", {{"command", escaped(command)}});
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
       {"command", command_html(run, last.attention)},
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
