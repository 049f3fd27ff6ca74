// Decides whether a run may go on with new settings: compares the configuration in its checkpoint
// with the given one.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "base/fields.h"

namespace dragoman {

struct ResumeChanges {
  std::vector<std::string> allowed;    ///< "--max-updates 1000 -> 2000"
  std::vector<std::string> not_exact;  ///< the run goes on, but not bit-identically
};

/// The model of --init-from may have another path now: `initial_checksum` tells ("": not known).
/// Throws UsageError naming the flag that would make it another run.
ResumeChanges compare_configuration(const std::vector<Field>& fields,
                                    const std::map<std::string, std::string>& remembered,
                                    const std::string& initial_checksum = "");

}  // namespace dragoman
