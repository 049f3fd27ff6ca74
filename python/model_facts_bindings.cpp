// The facts that a model file has about itself, for Python.
#include <nanobind/nanobind.h>
#include <nanobind/stl/map.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>

#include <string>
#include <tuple>

#include "model/file/model_file.h"
#include "python/bindings.h"

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

}  // namespace

void bind_model_facts(nb::module_& module) {
  module.def("model_facts", &model_facts, nb::arg("path"),
             "Path, bytes, architecture and provenance (JSON), defaults of the search.");
}

}  // namespace dragoman
