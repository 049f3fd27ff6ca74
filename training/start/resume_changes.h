// Whether a run may be resumed with these settings and texts: compares them with those that its
// checkpoint remembers.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "base/fields.h"
#include "training/progress_record.h"

namespace dragoman {

struct ResumeChanges {
  std::vector<std::string> allowed;    ///< "--max-updates 1000 -> 2000"
  std::vector<std::string> not_exact;  ///< the run continues, but not bit-identically
};

/// The fields that differ from what the checkpoint remembers. The model of --init-from may have
/// another path now: `initial_checksum` tells ("": not known). Throws UsageError naming a flag that
/// would make it another run.
ResumeChanges compare_configuration(const std::vector<Field>& fields,
                                    const std::map<std::string, std::string>& remembered,
                                    const std::string& initial_checksum = "");

/// The hash that each text file must have, by the path that is given now: the hash of the file that
/// the run was started with under the same flag. The files may lie elsewhere now; prepare_data()
/// compares the hashes. Throws UsageError if the run had more or fewer files.
std::map<std::string, std::string> expected_hashes(const std::vector<Field>& fields,
                                                   const StartRecord& start_before);

}  // namespace dragoman
