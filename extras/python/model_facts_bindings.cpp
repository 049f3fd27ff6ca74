// The facts that a model file has about itself, and its parameters, for Python.
#include <nanobind/nanobind.h>
#include <nanobind/stl/map.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <string>
#include <tuple>
#include <vector>

#include "extras/python/bindings.h"
#include "model/file/model_file.h"

namespace dragoman {

namespace {

namespace nb = nanobind;

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

}  // namespace

void bind_model_facts(nb::module_& module) {
  module.def("parameters", &parameters, nb::arg("path"),
             "Name, shape and elements (float32) of each parameter.");
  module.def("model_facts", &model_facts, nb::arg("path"),
             "Path, bytes, architecture and provenance (JSON), defaults of the search.");
}

}  // namespace dragoman
