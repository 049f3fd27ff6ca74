#include "evaluation/metric.h"

#include <utility>

#include "base/error.h"

namespace dragoman {

namespace {

using Lines = std::span<const std::string>;

std::string no_details(std::span<const double>) { return ""; }
std::vector<ScorePart> no_parts(std::span<const double>) { return {}; }

std::vector<ScorePart> parts_of(const BleuScore& score) {
  std::vector<ScorePart> parts;
  for (std::size_t n = 0; n < score.precisions.size(); ++n)
    parts.push_back(
        {join_text(n + 1, "-grams found, %"), score.precisions[n], ScorePart::Kind::Precision});
  parts.push_back({"words", static_cast<double>(score.sys_len), ScorePart::Kind::Count});
  parts.push_back(
      {"words of the reference", static_cast<double>(score.ref_len), ScorePart::Kind::Count});
  parts.push_back({"brevity penalty", score.brevity_penalty, ScorePart::Kind::Factor});
  return parts;
}

Metric bleu_metric(std::string name, const BleuConfig& config, std::string_view references,
                   std::string_view version) {
  return {
      .name = std::move(name),
      .signature = bleu_signature(config, references, version),
      .count = [config](Lines lines,
                        const References& refs) { return bleu_statistics(lines, refs, config); },
      .score =
          [config](std::span<const double> sum) { return bleu_of_statistics(sum, config).score; },
      .details =
          [config](std::span<const double> sum) {
            return bleu_details(bleu_of_statistics(sum, config));
          },
      .parts =
          [config](std::span<const double> sum) {
            return parts_of(bleu_of_statistics(sum, config));
          },
      .resampled_score =
          [config](std::span<const float> sum) { return bleu_of_statistics(sum, config).score; }};
}

Metric chrf_metric(const ChrfConfig& config, std::string_view references,
                   std::string_view version) {
  return {
      .name = chrf_name(config),
      .signature = chrf_signature(config, references, version),
      .count = [config](Lines lines,
                        const References& refs) { return chrf_statistics(lines, refs, config); },
      .score = [config](std::span<const double> sum) { return chrf_of_statistics(sum, config); },
      .details = no_details,
      .parts = no_parts,
      .resampled_score = [config](std::span<const float> sum) -> double {
        return chrf_of_statistics(sum, config);
      },
      .scores_are_float = true};
}

Metric ter_metric(const TerConfig& config, std::string_view references, std::string_view version) {
  return {.name = "TER",
          .signature = ter_signature(config, references, version),
          .lower_is_better = true,
          .count = [config](Lines lines,
                            const References& refs) { return ter_statistics(lines, refs, config); },
          .score = [](std::span<const double> sum) { return ter_of_statistics(sum); },
          .details = no_details,
          .parts = no_parts,
          .resampled_score = [](std::span<const float> sum) -> double {
            return ter_of_statistics(sum);
          },
          .scores_are_float = true};
}

}  // namespace

std::vector<Metric> metrics_of(const EvaluateConfig& config, const References& lines,
                               std::string_view version) {
  const std::string references = reference_count(lines);
  std::vector<Metric> metrics;
  for (const std::string& name : config.metrics) {
    if (name == "bleu")
      metrics.push_back(bleu_metric("BLEU", config.bleu(), references, version));
    else if (name == "bleu-tokenized")
      metrics.push_back(
          bleu_metric("tokenized BLEU", config.multi_bleu(false), references, version));
    else if (name == "bleu-compound-split")
      metrics.push_back(
          bleu_metric("compound-split BLEU", config.multi_bleu(true), references, version));
    else if (name == "ter")
      metrics.push_back(ter_metric(config.ter(), references, version));
    else
      metrics.push_back(chrf_metric(config.chrf(name), references, version));
  }
  return metrics;
}

}  // namespace dragoman
