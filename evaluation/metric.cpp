#include "evaluation/metric.h"

namespace dragoman {

namespace {

using Lines = std::span<const std::string>;

std::string no_details(std::span<const double>) { return ""; }

Metric bleu_metric(const BleuConfig& config, std::size_t references, std::string_view version) {
  return {
      .name = "BLEU",
      .signature = bleu_signature(config, references, version),
      .count = [config](Lines lines,
                        const References& refs) { return bleu_statistics(lines, refs, config); },
      .score =
          [config](std::span<const double> sum) { return bleu_of_statistics(sum, config).score; },
      .details =
          [config](std::span<const double> sum) {
            return bleu_details(bleu_of_statistics(sum, config));
          },
      .resampled_score =
          [config](std::span<const float> sum) { return bleu_of_statistics(sum, config).score; }};
}

Metric chrf_metric(const ChrfConfig& config, std::size_t references, std::string_view version) {
  return {
      .name = chrf_name(config),
      .signature = chrf_signature(config, references, version),
      .count = [config](Lines lines,
                        const References& refs) { return chrf_statistics(lines, refs, config); },
      .score = [config](std::span<const double> sum) { return chrf_of_statistics(sum, config); },
      .details = no_details,
      .resampled_score = [config](std::span<const float> sum) -> double {
        return chrf_of_statistics(sum, config);
      },
      .scores_are_float = true};
}

Metric ter_metric(const TerConfig& config, std::size_t references, std::string_view version) {
  return {.name = "TER",
          .signature = ter_signature(config, references, version),
          .lower_is_better = true,
          .count = [config](Lines lines,
                            const References& refs) { return ter_statistics(lines, refs, config); },
          .score = [](std::span<const double> sum) { return ter_of_statistics(sum); },
          .details = no_details,
          .resampled_score = [](std::span<const float> sum) -> double {
            return ter_of_statistics(sum);
          },
          .scores_are_float = true};
}

}  // namespace

std::vector<Metric> metrics_of(const EvaluateConfig& config, std::size_t references,
                               std::string_view version) {
  std::vector<Metric> metrics;
  for (const std::string& name : config.metrics) {
    if (name == "bleu")
      metrics.push_back(bleu_metric(config.bleu(), references, version));
    else if (name == "ter")
      metrics.push_back(ter_metric(config.ter(), references, version));
    else
      metrics.push_back(chrf_metric(config.chrf(name), references, version));
  }
  return metrics;
}

}  // namespace dragoman
