// The demands on translations as a command or a request names them.
#pragma once

#include <string>
#include <vector>

#include "inference/demands.h"

namespace dragoman {

struct DemandChoices {
  Terms terms;
  std::vector<std::string> avoid;  ///< space around a text does not count
  bool protect = false;
  bool terms_force = false;
  std::string number_format = {};  ///< two languages, "en-de"; may be empty
};

/// Throws UsageError that names the flag where the choices do not go together.
Demands demands_of(DemandChoices choices);

}  // namespace dragoman
