// Arrays of NumPy's format for tests.
#pragma once

#include <string>

#include "tests/extras/formats/zip_bytes.h"

namespace dragoman {

inline std::string npy_of_header(const std::string& header, const std::string& data,
                                 int version = 1) {
  const auto size = static_cast<std::uint32_t>(header.size());
  return "\x93NUMPY" + std::string{static_cast<char>(version), '\0'} +
         (version == 1 ? bytes_of(static_cast<std::uint16_t>(size)) : bytes_of(size)) + header +
         data;
}

inline std::string npy_of(const std::string& descr, const std::string& shape,
                          const std::string& data, const std::string& fortran = "False") {
  return npy_of_header(
      "{'descr': '" + descr + "', 'fortran_order': " + fortran + ", 'shape': " + shape + ", }   \n",
      data);
}

}  // namespace dragoman
