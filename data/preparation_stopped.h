// The exception of a stop that was requested while data were prepared.
#pragma once

#include <exception>

namespace dragoman {

/// No half-made file stays behind.
class PreparationStopped : public std::exception {
 public:
  const char* what() const noexcept override { return "the preparation of the data was stopped"; }
};

}  // namespace dragoman
