// The hashes that a run that goes on demands of its text files. prepare_data() compares them with
// the files' own. The files may lie elsewhere now.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "base/fields.h"
#include "training/progress_record.h"

namespace dragoman {

/// The hash that each text file must have, by the path that is given now: the hash of the file that
/// the run was started with under the same flag. Throws UsageError where the run had more or fewer
/// files.
std::map<std::string, std::string> expected_hashes(const std::vector<Field>& fields,
                                                   const StartRecord& start_before);

}  // namespace dragoman
