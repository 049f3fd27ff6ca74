// Metrics for Python: scores of one system, and comparisons of several.
#include <nanobind/nanobind.h>
#include <nanobind/stl/map.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "base/error.h"
#include "evaluation/evaluate.h"
#include "extras/python/bindings.h"
#include "extras/python/named_options.h"

namespace dragoman {

namespace {

namespace nb = nanobind;

constexpr const char* kVersion = "dragoman-" DRAGOMAN_VERSION;

using Lines = std::vector<std::string>;
/// Score, mean of resampled corpora, half of the interval, p-value.
using ScoreTuple =
    std::tuple<double, std::optional<double>, std::optional<double>, std::optional<double>>;

ScoreTuple tuple_of(const SystemScore& score) {
  return {score.score, score.mean, score.interval, score.p_value};
}

EvaluateConfig config_of(const NamedOptions& options) {
  EvaluateConfig config;
  assign_options(fields_of(config), options);
  config.check();
  return config;
}

/// Name, signature, details and score of each metric; with sentence-level of each line.
std::vector<std::tuple<std::string, std::string, std::string, ScoreTuple>> evaluate(
    const Lines& hypotheses, const References& references, const NamedOptions& options) {
  const EvaluateConfig config = config_of(options);
  const auto scores = run_interruptibly([&](const std::stop_token& stop) {
    return evaluate_lines(hypotheses, references, config, kVersion, stop);
  });
  std::vector<std::tuple<std::string, std::string, std::string, ScoreTuple>> tuples;
  for (const NamedScore& score : scores)
    tuples.emplace_back(score.name, score.signature, score.details, tuple_of(score));
  return tuples;
}

/// Name and signature of each metric, and the scores of the systems.
std::vector<std::tuple<std::string, std::string, std::vector<ScoreTuple>>> compare_systems(
    const std::vector<Lines>& systems, const References& references, const NamedOptions& options) {
  const EvaluateConfig config = config_of(options);
  if (systems.empty()) throw UsageError("--systems: name one or more");
  const Comparison comparison = run_interruptibly([&](const std::stop_token& stop) {
    const auto counts = count_systems(systems, references, config, kVersion, stop);
    return compare(std::vector<std::string>(systems.size()), counts, config, stop);
  });
  std::vector<std::tuple<std::string, std::string, std::vector<ScoreTuple>>> tuples;
  for (std::size_t m = 0; m < comparison.metrics.size(); ++m) {
    std::vector<ScoreTuple> scores;
    for (const SystemScore& score : comparison.scores[m]) scores.push_back(tuple_of(score));
    tuples.emplace_back(comparison.metrics[m], comparison.signatures[m], std::move(scores));
  }
  return tuples;
}

}  // namespace

void bind_metrics(nb::module_& module) {
  module.def("evaluate", &evaluate, nb::arg("hypotheses"), nb::arg("references"),
             nb::arg("options"), "Scores one system.");
  module.def("compare", &compare_systems, nb::arg("systems"), nb::arg("references"),
             nb::arg("options"), "Scores several systems.");
}

}  // namespace dragoman
