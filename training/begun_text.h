// What a run that has begun must find as it was: its text, by content, wherever it lies now.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "base/fields.h"
#include "training/progress_record.h"

namespace dragoman {

/// The hash that each text file named now must have, by its path: that of the file in its place
/// when the run was started. Throws UsageError where the run had more or fewer files.
std::map<std::string, std::string> expected_hashes(const std::vector<Field>& fields,
                                                   const ProgressRecord& progress);

}  // namespace dragoman
