// The module dragoman._native: options, errors, facts about model files, and metrics.
#include <nanobind/nanobind.h>
#include <nanobind/stl/map.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <cctype>
#include <exception>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "base/error.h"
#include "evaluation/evaluate.h"
#include "extras/library/cpu_translator.h"
#include "extras/python/bindings.h"
#include "model/file/model_file.h"

namespace dragoman {

namespace {

namespace nb = nanobind;

bool begins_flag(const std::string& text, std::size_t i) {
  const bool at_start = i == 0 || !std::isalnum(static_cast<unsigned char>(text[i - 1]));
  return at_start && text.compare(i, 2, "--") == 0 && i + 2 < text.size() &&
         std::islower(static_cast<unsigned char>(text[i + 2])) != 0;
}

}  // namespace

std::string in_python_words(const std::string& message) {
  std::string text;
  for (std::size_t i = 0; i < message.size();) {
    if (!begins_flag(message, i)) {
      text += message[i++];
      continue;
    }
    for (i += 2; i < message.size(); ++i) {
      const char c = message[i];
      if (c == '-')
        text += '_';
      else if (std::isalnum(static_cast<unsigned char>(c)) != 0)
        text += c;
      else
        break;
    }
  }
  return text;
}

namespace {

/// Turns the program's errors into Python's; nanobind translates those of other kinds. `error_type`
/// is dragoman.Error.
void raise_in_python(const std::exception_ptr& error, void* error_type) {
  try {
    std::rethrow_exception(error);
  } catch (const UsageError& usage) {
    PyErr_SetString(PyExc_ValueError, in_python_words(usage.what()).c_str());
  } catch (const Error& fault) {
    PyErr_SetString(static_cast<PyObject*>(error_type), in_python_words(fault.what()).c_str());
  }
}

void bind_errors(nb::module_& module) {
  PyObject* type = PyErr_NewExceptionWithDoc(
      "dragoman.Error", "A file, the data or the machine is at fault; the text says which and how.",
      PyExc_RuntimeError, nullptr);
  if (type == nullptr) throw nb::python_error();
  module.attr("Error") = nb::borrow(type);
  nb::register_exception_translator(raise_in_python, type);  // type lives as long as Python
}

/// Path, bytes, architecture and provenance (both JSON), defaults of the search.
std::tuple<std::string, std::size_t, std::string, std::string, DecodeDefaults> model_facts(
    const std::string& path) {
  const nb::gil_scoped_release release;
  const ModelFileReader file(resolve_model_path(path), Verify::Header);
  return {file.path().string(), file.size(), to_json(file.config()), to_json(file.provenance()),
          file.decode_defaults()};
}

using NamedNumbers = std::tuple<std::string, std::vector<std::int64_t>, nb::bytes>;

/// Name, shape and elements (float32) of each parameter.
std::vector<NamedNumbers> parameters(const std::string& path) {
  const ModelFileReader file(resolve_model_path(path), Verify::Header);
  std::vector<NamedNumbers> all;
  for (const ParameterShape& parameter : parameter_shapes(file.config())) {
    std::vector<float> values;
    {
      const nb::gil_scoped_release release;
      values = file.floats(parameter.name);
    }
    all.emplace_back(
        parameter.name, parameter.shape,
        nb::bytes(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(float)));
  }
  return all;
}

void bind_model_facts(nb::module_& module) {
  module.def("parameters", &parameters, nb::arg("path"),
             "Name, shape and elements (float32) of each parameter.");
  module.def("model_facts", &model_facts, nb::arg("path"),
             "Path, bytes, architecture and provenance (JSON), defaults of the search.");
}

constexpr const char* kVersion = "dragoman-" DRAGOMAN_VERSION;

using Lines = std::vector<std::string>;
/// Score, mean over the resampled corpora, half the interval, p-value.
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

/// Name, signature, details and score of each metric, or with sentence-level of each line.
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

void bind_metrics(nb::module_& module) {
  module.def("evaluate", &evaluate, nb::arg("hypotheses"), nb::arg("references"),
             nb::arg("options"), "Scores one system.");
  module.def("compare", &compare_systems, nb::arg("systems"), nb::arg("references"),
             nb::arg("options"), "Scores several systems.");
}

}  // namespace

}  // namespace dragoman

NB_MODULE(_native, module) {
  module.doc() = "The engine of Dragoman. Its functions are for the package dragoman alone.";
  module.attr("version") = DRAGOMAN_VERSION;
  dragoman::bind_errors(module);
  dragoman::bind_translator(module);
  dragoman::bind_metrics(module);
  dragoman::bind_model_facts(module);
}
