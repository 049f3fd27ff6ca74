// train --plan and --max-tokens auto: the cost of updates on this machine, for people.
#pragma once

#include "base/files.h"
#include "data/prepare.h"
#include "training/start/trial.h"

namespace dragoman {

/// The token budget that suits the machine. Logs the budgets that were tried.
std::int64_t automatic_max_tokens(const TrialSettings& settings);

/// Prints the plan of a run on standard output.
void print_plan(const TrialSettings& settings);

/// A temporary folder for a run that is only planned. Its token cache has links to the files of the
/// run's own cache. A new file takes the place of a link, and is removed with the folder.
class PlanFolder {
 public:
  explicit PlanFolder(const std::filesystem::path& run);

  const std::filesystem::path& path() const { return scratch_.path(); }

 private:
  ScratchFolder scratch_;
};

}  // namespace dragoman
