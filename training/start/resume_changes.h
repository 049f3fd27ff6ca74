// The rules for a run that is resumed: it has the settings that its checkpoint remembers, and
// changes that would make another run are refused.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "base/fields.h"
#include "training/settings/progress_record.h"
#include "training/start/settled_run.h"

namespace dragoman {

/// Gives open fields their remembered values. A length that the program chose gives way to one that
/// is asked for now.
void recall(RunSettings& settings, const StartRecord& remembered);

/// The learning rate of a run that has begun ends at the update that was planned. Throws UsageError
/// if another --max-updates would bend it.
void require_same_schedule(const RunSettings& settings);

/// Compares the settings with those of the checkpoint: refuses changes that would make another run,
/// and adds a remark about each of the others when the machine is known. Sets the expected hashes.
/// Throws UsageError naming the flag.
void compare_with_begun(SettledRun& run, const StartFacts& known);

/// A remark about each field that differs from its remembered value. The model of --init-from may
/// have another path now: `initial_checksum` tells ("": not known). Throws UsageError naming a flag
/// that would make it another run.
std::vector<Remark> changed_fields(const std::vector<Field>& fields,
                                   const std::map<std::string, std::string>& remembered,
                                   const std::string& initial_checksum = "");

}  // namespace dragoman
