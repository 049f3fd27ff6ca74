// The module dragoman._native: registers its parts, and turns the program's errors into Python's.
#include <nanobind/nanobind.h>

#include <exception>

#include "base/error.h"
#include "extras/python/bindings.h"
#include "extras/python/named_options.h"

namespace dragoman {

namespace {

/// `error_type` is dragoman.Error. Errors of other kinds are left to nanobind.
void raise_in_python(const std::exception_ptr& error, void* error_type) {
  try {
    std::rethrow_exception(error);
  } catch (const UsageError& usage) {
    PyErr_SetString(PyExc_ValueError, in_python_words(usage.what()).c_str());
  } catch (const Error& fault) {
    PyErr_SetString(static_cast<PyObject*>(error_type), in_python_words(fault.what()).c_str());
  }
}

void bind_errors(nanobind::module_& module) {
  PyObject* type = PyErr_NewExceptionWithDoc(
      "dragoman.Error", "A file, the data or the machine is at fault; the text says which and how.",
      PyExc_RuntimeError, nullptr);
  if (type == nullptr) throw nanobind::python_error();
  module.attr("Error") = nanobind::borrow(type);
  nanobind::register_exception_translator(raise_in_python, type);  // which lives as long as Python
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
