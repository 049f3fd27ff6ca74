// Checks that a run that goes on has the same text. Contents are compared; files may lie elsewhere.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "base/fields.h"
#include "training/progress_record.h"

namespace dragoman {

/// By the path of each text file that is named now, the hash that it must have: the hash of the
/// file that the run was started with for the same purpose. Throws UsageError where the run had
/// more or fewer files.
std::map<std::string, std::string> expected_hashes(const std::vector<Field>& fields,
                                                   const ProgressRecord& progress);

}  // namespace dragoman
